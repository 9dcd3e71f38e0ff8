use super::*;

/// A repository below a home, and what is looked at of an agent that was started within it.
struct Place {
    dir: tempfile::TempDir,
    settings: HookSettings,
}

impl Place {
    fn new(agent: AgentId) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("repo/a/b");
        std::fs::create_dir_all(&cwd).unwrap();
        std::fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
        std::fs::create_dir_all(dir.path().join("own")).unwrap();
        let settings = HookSettings::of(agent, Some(&dir.path().join("own")), &cwd, Vec::new());
        Place { dir, settings }
    }

    /// Writes a file and checks what is told of it.
    fn check(&mut self, file: &str, text: &str, expected: &[&str]) {
        let path = self.dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.looks(expected);
    }

    fn looks(&mut self, expected: &[&str]) {
        let told = |change: SettingsChange| match change {
            SettingsChange::HooksOff { file, how } => (file, how),
            SettingsChange::ForeignHook { file, hook } => (file, format!("{} {}", hook.event, hook.command)),
        };
        let short = |(file, what): (PathBuf, String)| {
            format!("{}: {what}", file.strip_prefix(self.dir.path()).unwrap().display())
        };
        let found: Vec<String> = self.settings.look().into_iter().map(told).map(short).collect();
        assert_eq!(found, expected);
        assert_eq!(self.settings.look(), []);
    }
}

fn ours() -> String {
    let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
    agents::register(AgentId::Claude, "", &hook).unwrap()
}

const OFF: &str = r#"{"disableAllHooks":true}"#;
const OTHER: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x"}]}]}}"#;

#[test]
fn switches_are_told_once_wherever_the_agent_reads_them() {
    let mut claude = Place::new(AgentId::Claude);
    for file in ["own/settings.json", "repo/.claude/settings.json", "repo/a/b/.claude/settings.local.json"] {
        claude.check(file, OFF, &[&format!("{file}: `disableAllHooks: true` is in it now")]);
        claude.check(file, "{}", &[]);
        claude.check(file, OFF, &[&format!("{file}: `disableAllHooks: true` is in it now")]);
    }
    // Above the repository, and of another name.
    claude.check(".claude/settings.json", OFF, &[]);
    claude.check("repo/.claude/other.json", OFF, &[]);
    assert_eq!(claude.settings.switched_off().len(), 2);
    let mut codex = Place::new(AgentId::Codex);
    let told = "repo/.codex/config.toml: `features.hooks = false` is in it now";
    codex.check("repo/.codex/config.toml", "[features]\nhooks = false\n", &[told]);
}

#[test]
fn a_hook_that_is_gone_is_told_and_one_that_is_elsewhere_still_is_not() {
    let mut place = Place::new(AgentId::Claude);
    assert_eq!(place.settings.unguarded().as_deref(), Some("no settings of it register castellan's hook"));
    place.check("own/settings.json", &ours(), &[]);
    assert_eq!(place.settings.unguarded(), None);
    place.check("own/settings.json", "{}", &["own/settings.json: castellan's hook is not in it any more"]);
    place.check("own/settings.json", &ours(), &[]);
    std::fs::remove_file(place.dir.path().join("own/settings.json")).unwrap();
    place.looks(&["own/settings.json: castellan's hook is not in it any more"]);
    place.check("own/settings.json", &ours(), &[]);
    // It never matches.
    let changed = ours().replacen("\"hooks\": [", "\"matcher\": \"Nothing\", \"hooks\": [", 2);
    assert_ne!(changed, ours());
    place.check(
        "own/settings.json",
        &changed,
        &["own/settings.json: castellan's hook is not in it any more"],
    );
    place.check("repo/.claude/settings.json", &ours(), &[]);
    place.check("own/settings.json", &ours(), &[]);
    place.check("own/settings.json", "", &[]);
}

#[test]
fn hooks_of_others_are_told() {
    let mut place = Place::new(AgentId::Claude);
    place.check("repo/.claude/settings.json", OTHER, &["repo/.claude/settings.json: PreToolUse /x"]);
    assert_eq!(place.settings.foreign().len(), 1);
    place.check(
        "repo/.claude/settings.json",
        &OTHER.replace("/x", "/y"),
        &["repo/.claude/settings.json: PreToolUse /y"],
    );
    place.check("repo/.claude/settings.json", "{}", &[]);
    // One that only has castellan's name, where it is known which one is castellan's.
    place.settings.hook = Some(PathBuf::from("/another/castellan-hook"));
    let told = "own/settings.json: PreToolUse /b/castellan-hook --home /h";
    place.check("own/settings.json", &ours(), &[told]);
}

#[test]
fn a_file_that_cannot_be_read_may_say_anything() {
    let mut place = Place::new(AgentId::Claude);
    let file = place.dir.path().join("repo/.claude/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let told = |why: &str| format!("repo/.claude/settings.json: it cannot be told what is in it: {why}");
    std::fs::File::create(&file).unwrap().set_len(100 << 20).unwrap();
    place.looks(&[&told("more than 2097152 bytes")]);
    std::fs::remove_file(&file).unwrap();
    place.looks(&[]);
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    place.looks(&[&told("not a regular file")]);
    std::fs::remove_file(&file).unwrap();
    place.looks(&[]);
    std::fs::write(&file, b"\xff").unwrap();
    place.looks(&[&told("not UTF-8: invalid utf-8 sequence of 1 bytes from index 0")]);
    std::fs::remove_file(&file).unwrap();
    // Through a symlink, as the agent reads it.
    let target = place.dir.path().join("target.json");
    std::fs::write(&target, OFF).unwrap();
    std::os::unix::fs::symlink(&target, &file).unwrap();
    place.looks(&["repo/.claude/settings.json: `disableAllHooks: true` is in it now"]);
    // A time that was set back does not hide a change.
    let before = std::fs::metadata(&target).unwrap();
    std::fs::write(&target, "{}").unwrap();
    place.looks(&[]);
    std::fs::write(&target, OFF).unwrap();
    std::fs::File::options()
        .write(true)
        .open(&target)
        .unwrap()
        .set_modified(before.modified().unwrap())
        .unwrap();
    place.looks(&["repo/.claude/settings.json: `disableAllHooks: true` is in it now"]);
}

/// A home with a plugin as Claude Code 2.1.330 installs it, from a marketplace that is a folder.
fn with_plugin() -> Place {
    let mut place = Place::new(AgentId::Claude);
    let root = place.dir.path().display().to_string();
    let installed = format!(
        r#"{{"version":2,"plugins":{{"guard@local":[{{"scope":"user","installPath":"{root}/own/plugins/cache/guard"}}]}}}}"#
    );
    let known =
        format!(r#"{{"local":{{"source":{{"source":"directory"}},"installLocation":"{root}/market"}}}}"#);
    place.check("own/plugins/known_marketplaces.json", &known, &[]);
    let offered = r#"{"plugins":[{"name":"guard","source":"./guard"}]}"#;
    place.check("market/.claude-plugin/marketplace.json", offered, &[]);
    place.check("own/plugins/installed_plugins.json", &installed, &[]);
    place
}

#[test]
fn plugins_bring_hooks_unless_settings_switch_them_off() {
    let mut place = with_plugin();
    let file = "own/plugins/cache/guard/hooks/hooks.json";
    place.check(file, OTHER, &[&format!("{file}: PreToolUse /x")]);
    // The folder that it came from is read too: the agent reads either.
    let source = "market/guard/hooks/hooks.json";
    place.check(source, &OTHER.replace("/x", "/y"), &[&format!("{source}: PreToolUse /y")]);
    place.check(source, "{}", &[]);
    // A plugin switches nothing off.
    place.check(source, OFF, &[]);
    assert_eq!(place.settings.foreign().len(), 1);
    place.check("own/settings.json", r#"{"enabledPlugins":{"guard@local":false,"other@local":true}}"#, &[]);
    assert_eq!(place.settings.foreign(), []);
    place.check(file, &OTHER.replace("/x", "/z"), &[]);
    place.check("repo/.claude/settings.json", r#"{"enabledPlugins":{"guard@local":true}}"#, &[]);
    assert_eq!(place.settings.foreign().len(), 1);
    // In files that its manifest names, and in the manifest.
    place.check("own/plugins/cache/guard/more.json", &OTHER.replace("/x", "/m"), &[]);
    let named = "own/plugins/cache/guard/more.json: PreToolUse /m";
    place.check("own/plugins/cache/guard/.claude-plugin/plugin.json", r#"{"hooks":"./more.json"}"#, &[named]);
    let manifest = "own/plugins/cache/guard/.claude-plugin/plugin.json";
    place.check(manifest, OTHER, &[&format!("{manifest}: PreToolUse /x")]);
    // Installed no more.
    place.check("own/plugins/installed_plugins.json", "{}", &[]);
    assert_eq!(place.settings.foreign(), []);
}

#[test]
fn skills_commands_and_subagents_bring_hooks() {
    let front = "---\nhooks:\n  PreToolUse:\n  - hooks: [{type: command, command: ./x}]\n---\n";
    for file in [
        "own/skills/a/SKILL.md",
        "repo/.claude/skills/b/SKILL.md",
        "repo/a/b/.claude/agents/c.md",
        "own/commands/d.md",
        "own/plugins/cache/guard/skills/e/SKILL.md",
    ] {
        let mut place = with_plugin();
        let told =
            format!("{file}: PreToolUse hooks: PreToolUse: - hooks: [{{type: command, command: ./x}}]");
        place.check(file, front, &[&told]);
        place.check(file, "---\nname: x\n---\n", &[]);
        assert_eq!(place.settings.foreign(), []);
    }
}

#[test]
fn a_command_line_brings_hooks_and_switches() {
    let place = Place::new(AgentId::Claude);
    let plugin = place.dir.path().join("repo/a/b/mine/hooks");
    std::fs::create_dir_all(&plugin).unwrap();
    std::fs::write(plugin.join("hooks.json"), OTHER).unwrap();
    std::fs::write(place.dir.path().join("repo/a/b/s.json"), OTHER).unwrap();
    let of = |line: &str| {
        let words = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        let (own, cwd) = (place.dir.path().join("own"), place.dir.path().join("repo/a/b"));
        HookSettings::of(AgentId::Claude, Some(&own), &cwd, words)
    };
    let check = |line: &str, expected: &[&str]| {
        let settings = of(line);
        let found: Vec<String> = settings.foreign().into_iter().map(|(_, hook)| hook.command).collect();
        assert_eq!(found, expected, "{line}");
    };
    check("claude -p go", &[]);
    check(&format!("claude --settings {OTHER} go"), &["/x"]);
    check("claude --settings s.json go", &["/x"]);
    check("claude --plugin-dir mine", &["/x"]);
    check("claude --plugin-dir=.", &["/x"]);
    check("claude --plugin-url https://h/p.zip", &["--plugin-url https://h/p.zip"]);
    let own = place.dir.path().join("own/settings.json");
    std::fs::write(own, ours()).unwrap();
    assert_eq!(of("claude go").unguarded(), None);
    let off = of(&format!("claude --settings {OFF} go")).unguarded();
    assert_eq!(off.as_deref(), Some("its command line has `disableAllHooks: true`"));
}
