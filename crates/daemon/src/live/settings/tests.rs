use castellan_agents::HookCommand;

use super::*;

/// A repository below a home, and the settings of an agent that was started in it.
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
        let mut place = Place { dir, settings: HookSettings::of(agent, AgentStart::default(), &[]) };
        place.settings = place.started(agent, &[]);
        place
    }

    /// Returns the settings of an agent that is started now with these arguments.
    fn started(&self, agent: AgentId, arguments: &[&str]) -> HookSettings {
        let start = AgentStart {
            dir: Some(self.dir.path().join("own")),
            cwd: self.dir.path().join("repo/a/b"),
            arguments: Some(arguments.iter().map(|word| word.as_bytes().to_vec()).collect()),
            off_variable: None,
        };
        HookSettings::of(agent, start, &[])
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }

    /// Returns the commands of foreign hooks.
    fn foreign(&self) -> Vec<String> {
        self.settings.foreign().into_iter().map(|(_, hook)| hook.command).collect()
    }

    /// Writes a file and checks the reported changes.
    fn check(&mut self, file: &str, text: &str, expected: &[&str]) {
        self.write(file, text);
        self.looks(expected);
    }

    fn looks(&mut self, expected: &[&str]) {
        let reported = |change: SettingsChange| match change {
            SettingsChange::HooksOff { file, how } => (file, how),
            SettingsChange::ForeignHook { file, hook } => (file, format!("{} {}", hook.event, hook.command)),
        };
        let short = |(file, what): (PathBuf, String)| {
            format!("{}: {what}", file.strip_prefix(self.dir.path()).unwrap().display())
        };
        let found: Vec<String> = self.settings.look().into_iter().map(reported).map(short).collect();
        assert_eq!(found, expected);
        assert_eq!(self.settings.look(), []);
    }
}

fn ours() -> String {
    ours_of(AgentId::CLAUDE)
}

fn ours_of(agent: AgentId) -> String {
    let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
    agents::register(agent, "", &hook).unwrap()
}

const OFF: &str = r#"{"disableAllHooks":true}"#;
const OTHER: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x"}]}]}}"#;

#[test]
fn switches_are_told_once_wherever_the_agent_reads_them() {
    let mut claude = Place::new(AgentId::CLAUDE);
    for file in ["own/settings.json", "repo/.claude/settings.json", "repo/a/b/.claude/settings.local.json"] {
        claude.check(file, OFF, &[&format!("{file}: `disableAllHooks: true` is in it now")]);
        claude.check(file, "{}", &[]);
        claude.check(file, OFF, &[&format!("{file}: `disableAllHooks: true` is in it now")]);
    }
    // Above the repository, and with another name.
    claude.check(".claude/settings.json", OFF, &[]);
    claude.check("repo/.claude/other.json", OFF, &[]);
    assert_eq!(claude.settings.switched_off().len(), 3);
    let mut codex = Place::new(AgentId::CODEX);
    let reported = "repo/.codex/config.toml: `features.hooks = false` is in it now";
    codex.check("repo/.codex/config.toml", "[features]\nhooks = false\n", &[reported]);
}

#[test]
fn a_hook_that_is_gone_is_told_and_one_that_is_elsewhere_still_is_not() {
    let mut place = Place::new(AgentId::CLAUDE);
    assert_eq!(place.settings.unguarded().as_deref(), Some("no settings of it register castellan's hook"));
    place.check("own/settings.json", &ours(), &[]);
    assert_eq!(place.settings.unguarded(), None);
    place.check("own/settings.json", "{}", &["own/settings.json: castellan's hook is not in it any more"]);
    place.check("own/settings.json", &ours(), &[]);
    std::fs::remove_file(place.dir.path().join("own/settings.json")).unwrap();
    place.looks(&["own/settings.json: castellan's hook is not in it any more"]);
    place.check("own/settings.json", &ours(), &[]);
    // Its matcher never matches.
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
    let mut place = Place::new(AgentId::CLAUDE);
    place.check("repo/.claude/settings.json", OTHER, &["repo/.claude/settings.json: PreToolUse /x"]);
    assert_eq!(place.settings.foreign().len(), 1);
    place.check(
        "repo/.claude/settings.json",
        &OTHER.replace("/x", "/y"),
        &["repo/.claude/settings.json: PreToolUse /y"],
    );
    place.check("repo/.claude/settings.json", "{}", &[]);
    // A hook that only has castellan's name, while the path of castellan's own hook is known.
    let reported = ["PermissionRequest", "PreToolUse"]
        .map(|event| format!("own/settings.json: {event} /b/castellan-hook --home /h"));
    let reported: Vec<&str> = reported.iter().map(String::as_str).collect();
    place.settings.own.hook = Some(PathBuf::from("/another/castellan-hook"));
    place.check("own/settings.json", &ours(), &reported);
    place.check("own/settings.json", "{}", &[]);
    // The result is the same for a form that castellan would not write.
    place.check("own/settings.json", &ours().replace("600", "1"), &reported);
    assert_eq!(place.settings.unguarded().as_deref(), Some("no settings of it register castellan's hook"));
    place.check("own/settings.json", "{}", &[]);
    // castellan's own hook, but for another daemon.
    place.settings.own = Own { hook: None, paths: vec!["/another".to_owned()] };
    place.check("own/settings.json", &ours(), &reported);
    place.settings.own = Own { hook: None, paths: vec!["/h".to_owned()] };
    assert_eq!(place.settings.foreign(), []);
    assert_eq!(place.settings.unguarded(), None);
}

#[test]
fn a_hook_that_becomes_anothers_is_one_that_is_gone() {
    let mut place = Place::new(AgentId::CLAUDE);
    place.settings.own = Own { hook: None, paths: vec!["/h".to_owned()] };
    place.check("own/settings.json", &ours(), &[]);
    let reported = [
        "own/settings.json: castellan's hook is not in it any more",
        "own/settings.json: PermissionRequest /b/castellan-hook --home /evil",
        "own/settings.json: PreToolUse /b/castellan-hook --home /evil",
    ];
    place.check("own/settings.json", &ours().replace("\"/h\"", "\"/evil\""), &reported);
}

#[test]
fn a_file_that_cannot_be_read_may_say_anything() {
    let mut place = Place::new(AgentId::CLAUDE);
    let file = place.dir.path().join("repo/.claude/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let reported = |why: &str| format!("repo/.claude/settings.json: it cannot be told what is in it: {why}");
    std::fs::File::create(&file).unwrap().set_len(100 << 20).unwrap();
    place.looks(&[&reported("it has more than 2097152 bytes: shorten it")]);
    std::fs::remove_file(&file).unwrap();
    place.looks(&[]);
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    place.looks(&[&reported("it is a pipe, not a regular file: move it away")]);
    std::fs::remove_file(&file).unwrap();
    place.looks(&[]);
    std::fs::write(&file, b"\xff").unwrap();
    place.looks(&[&reported(
        "it is not UTF-8: save it as UTF-8 (invalid utf-8 sequence of 1 bytes from index 0)",
    )]);
    std::fs::remove_file(&file).unwrap();
    // Through a symlink, as the agent reads it.
    let target = place.dir.path().join("target.json");
    std::fs::write(&target, OFF).unwrap();
    std::os::unix::fs::symlink(&target, &file).unwrap();
    place.looks(&["repo/.claude/settings.json: `disableAllHooks: true` is in it now"]);
    // Resetting the time of modification does not hide a change.
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
    let mut place = Place::new(AgentId::CLAUDE);
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
    // The marketplace's folder is read too: the agent reads either.
    let source = "market/guard/hooks/hooks.json";
    place.check(source, &OTHER.replace("/x", "/y"), &[&format!("{source}: PreToolUse /y")]);
    place.check(source, "{}", &[]);
    // A plugin cannot switch hooks off.
    place.check(source, OFF, &[]);
    assert_eq!(place.settings.foreign().len(), 1);
    place.check("own/settings.json", r#"{"enabledPlugins":{"guard@local":false,"other@local":true}}"#, &[]);
    assert_eq!(place.settings.foreign(), []);
    place.check(file, &OTHER.replace("/x", "/z"), &[]);
    // A plugin is reported when it is enabled.
    let on = r#"{"enabledPlugins":{"guard@local":true}}"#;
    place.check("repo/.claude/settings.json", on, &[&format!("{file}: PreToolUse /z")]);
    assert_eq!(place.settings.foreign().len(), 1);
    // In files named by its manifest, and in the manifest.
    place.check("own/plugins/cache/guard/more.json", &OTHER.replace("/x", "/m"), &[]);
    let named = "own/plugins/cache/guard/more.json: PreToolUse /m";
    place.check("own/plugins/cache/guard/.claude-plugin/plugin.json", r#"{"hooks":"./more.json"}"#, &[named]);
    let manifest = "own/plugins/cache/guard/.claude-plugin/plugin.json";
    place.check(manifest, OTHER, &[&format!("{manifest}: PreToolUse /x")]);
    // No longer installed.
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
        "repo/.claude/commands/deep/er/d.md",
        "own/plugins/cache/guard/skills/e/SKILL.md",
    ] {
        let mut place = with_plugin();
        let reported = format!("{file}: PreToolUse ./x");
        place.check(file, front, &[&reported]);
        place.check(file, "---\nname: x\n---\n", &[]);
        assert_eq!(place.settings.foreign(), []);
    }
}

#[test]
fn a_command_line_brings_hooks_and_switches() {
    let place = Place::new(AgentId::CLAUDE);
    let plugin = place.dir.path().join("repo/a/b/mine/hooks");
    std::fs::create_dir_all(&plugin).unwrap();
    std::fs::write(plugin.join("hooks.json"), OTHER).unwrap();
    std::fs::write(place.dir.path().join("repo/a/b/s.json"), OTHER).unwrap();
    let of = |line: &str| place.started(AgentId::CLAUDE, &line.split(' ').collect::<Vec<_>>());
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
    check("claude -- --plugin-url https://h/p.zip", &[]);
    check("claude --settings gone.json", &[]);
    assert_eq!(
        of("claude --settings gone.json").unseen(),
        Some(format!(
            "`{}`: it is not there any more",
            place.dir.path().join("repo/a/b/gone.json").display()
        ))
    );
    let own = place.dir.path().join("own/settings.json");
    std::fs::write(own, ours()).unwrap();
    assert_eq!(of("claude go").unguarded(), None);
    let off = of(&format!("claude --settings {OFF} go")).unguarded();
    assert_eq!(off.as_deref(), Some("its command line has `disableAllHooks: true`"));
    assert_eq!(of("claude --bare go").unguarded().as_deref(), Some("its command line has `--bare`"));
    let sources = of("claude --setting-sources project go").unguarded();
    assert_eq!(sources.as_deref(), Some("its command line has `--setting-sources project`"));
    assert_eq!(of("claude -- --bare").unguarded(), None);
}

#[test]
fn a_command_line_of_codex_brings_hooks_and_switches() {
    let place = Place::new(AgentId::CODEX);
    place.write("repo/.codex/hooks.json", &ours_of(AgentId::CODEX));
    place.write("own/config.toml", "[profiles.off.features]\nhooks = false\n");
    let config = place.dir.path().join("own/config.toml");
    let check = |line: &str, unguarded: Option<&str>, expected: &[&str]| {
        let settings = place.started(AgentId::CODEX, &line.split(' ').collect::<Vec<_>>());
        let found: Vec<String> = settings.foreign().into_iter().map(|(_, hook)| hook.command).collect();
        assert_eq!(
            (settings.unguarded().as_deref(), found),
            (unguarded, expected.iter().map(|s| (*s).to_owned()).collect()),
            "{line}"
        );
    };
    check("codex exec go", None, &[]);
    check("codex -c features.hooks=false exec", Some("its command line has `features.hooks = false`"), &[]);
    check("codex --disable hooks", Some("its command line has `--disable hooks`"), &[]);
    let profile = format!("`{}` has `a profile with `features.hooks = false``", config.display());
    check("codex -p off", Some(&profile), &[]);
    check("codex -p other", None, &[]);
    check("codex -c hooks.PreToolUse=[{hooks=[{type=\"command\",command=\"/x\"}]}]", None, &["/x"]);
    check("codex -c hooks=@y", None, &["-c hooks=@y"]);
    check("codex -- --disable hooks", None, &[]);
}

#[test]
fn a_command_line_that_cannot_be_read_may_say_anything() {
    let place = Place::new(AgentId::CLAUDE);
    place.write("own/settings.json", &ours());
    let start = AgentStart { arguments: None, ..place.started(AgentId::CLAUDE, &[]).start };
    let settings = HookSettings::of(AgentId::CLAUDE, start, &[]);
    assert_eq!(settings.unguarded().as_deref(), Some("its command line cannot be read"));
    assert_eq!(settings.unseen().as_deref(), Some("the agent's command line cannot be read"));
}

#[test]
fn a_list_of_plugins_that_cannot_be_read_may_name_any() {
    for (file, text) in [
        ("own/plugins/installed_plugins.json", "{"),
        ("own/plugins/installed_plugins.json", r#"{"plugins":{"a@b":[1]}}"#),
        ("own/plugins/known_marketplaces.json", "[]"),
        ("market/.claude-plugin/marketplace.json", r#"{"plugins":{}}"#),
        ("own/plugins/cache/guard/.claude-plugin/plugin.json", "// no JSON"),
    ] {
        let mut place = with_plugin();
        place.write(file, text);
        let reported: Vec<_> = place.settings.look();
        let [SettingsChange::ForeignHook { file: reported, hook }] = reported.as_slice() else {
            panic!("{file}: {reported:?}");
        };
        assert_eq!(reported, &place.dir.path().join(file));
        assert!(hook.command.starts_with("it cannot be told what it names: "), "{hook:?}");
        assert_eq!(place.foreign().len(), 1, "strict denies");
        std::fs::remove_file(place.dir.path().join(file)).unwrap();
        place.looks(&[]);
        assert_eq!(place.foreign(), Vec::<String>::new());
    }
    let mut place = with_plugin();
    let file = "own/plugins/installed_plugins.json";
    std::fs::remove_file(place.dir.path().join(file)).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.dir.path().join(file),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    place.looks(&[&format!(
        "{file}: PreToolUse it cannot be told what it names: it is a pipe, not a regular file: move it away"
    )]);
}

#[test]
fn a_file_of_two_plugins_counts_while_one_of_them_is_on() {
    let mut place = with_plugin();
    let file = "own/plugins/cache/guard/hooks/hooks.json";
    place.check(file, OTHER, &[&format!("{file}: PreToolUse /x")]);
    let root = place.dir.path().display().to_string();
    let both = ["guard@local", "twin@local"]
        .map(|name| format!(r#""{name}":[{{"installPath":"{root}/own/plugins/cache/guard"}}]"#))
        .join(",");
    place.check("own/plugins/installed_plugins.json", &format!(r#"{{"plugins":{{{both}}}}}"#), &[]);
    place.check("own/settings.json", r#"{"enabledPlugins":{"guard@local":false}}"#, &[]);
    assert_eq!(place.foreign(), ["/x"]);
    place.check("own/settings.json", r#"{"enabledPlugins":{"guard@local":false,"twin@local":false}}"#, &[]);
    assert_eq!(place.foreign(), Vec::<String>::new());
}

#[test]
fn plugins_lie_wherever_their_lists_say() {
    let check = |file: &str, list: &str, text: &str| {
        let mut place = with_plugin();
        place.write(list, text);
        place.settings.look();
        place.check(file, OTHER, &[&format!("{file}: PreToolUse /x")]);
    };
    // Relative to the agent's working directory at its start.
    check(
        "repo/a/b/rel/hooks/hooks.json",
        "own/plugins/installed_plugins.json",
        r#"{"plugins":{"x@y":[{"installPath":"rel"}]}}"#,
    );
    // Below the marketplace's folder of plugins.
    check(
        "market/base/guard/hooks/hooks.json",
        "market/.claude-plugin/marketplace.json",
        r#"{"metadata":{"pluginRoot":"base"},"plugins":[{"name":"guard","source":"guard"}]}"#,
    );
    // Hooks that only the marketplace names.
    check(
        "market/guard/h.json",
        "market/.claude-plugin/marketplace.json",
        r#"{"plugins":[{"name":"guard","source":"guard","hooks":"h.json"}]}"#,
    );
    let mut place = with_plugin();
    let market = "market/.claude-plugin/marketplace.json";
    let hooks = OTHER.trim_start_matches(r#"{"hooks":"#).trim_end_matches('}');
    let text = format!(r#"{{"plugins":[{{"name":"guard","hooks":{hooks}}}}}]}}"#);
    place.check(market, &text, &[&format!("{market}: PreToolUse /x")]);
    // A folder of skills named by a manifest, through a symlink, in a loop.
    let mut place = with_plugin();
    let manifest = "own/plugins/cache/guard/.claude-plugin/plugin.json";
    place.check(manifest, r#"{"commands":"./more"}"#, &[]);
    let front = "---\nhooks: {PreToolUse: [{hooks: [{type: command, command: y}]}]}\n---\n";
    place.write("elsewhere/c.md", front);
    let elsewhere = place.dir.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, elsewhere.join("loop")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, place.dir.path().join("own/plugins/cache/guard/more")).unwrap();
    place.looks(&["own/plugins/cache/guard/more/c.md: PreToolUse y"]);
    // A plugin of Codex.
    let mut codex = Place::new(AgentId::CODEX);
    let file = "own/plugins/cache/market/name/1.0/hooks/hooks.json";
    codex.check(file, OTHER, &[&format!("{file}: PreToolUse /x")]);
}

#[test]
fn more_than_is_looked_at_is_unread_and_costs_no_more() {
    let mut place = with_plugin();
    let root = place.dir.path().display().to_string();
    let one = |number: usize| format!(r#""p{number}@local":[{{"installPath":"{root}/p{number}"}}]"#);
    let all: Vec<String> = (0..20_000).map(one).collect();
    place.write("own/plugins/installed_plugins.json", &format!(r#"{{"plugins":{{{}}}}}"#, all.join(",")));
    place.settings.look();
    let found = place.foreign();
    assert!(matches!(found.as_slice(), [one] if one.starts_with("more than ")), "{found:?}");
    assert!(place.settings.files.len() < 2 * crate::limits::HOOK_SOURCES_MAX);
    place.looks(&[]);
}

#[test]
fn a_folder_with_more_than_is_looked_at_may_hold_any_hook() {
    let mut place = Place::new(AgentId::CLAUDE);
    for number in 0..crate::limits::PLUGINS_PER_FOLDER_MAX {
        place.write(&format!("own/commands/{number}.txt"), "");
    }
    place.looks(&[]);
    place.write("own/commands/one more.txt", "");
    place.settings.look();
    let found = place.foreign();
    assert!(matches!(found.as_slice(), [one] if one.ends_with(" entries")), "{found:?}");
}

#[test]
fn what_an_agent_keeps_counts_as_it_was_when_it_started() {
    // Codex does not reread its settings.
    let mut codex = Place::new(AgentId::CODEX);
    codex.write("repo/.codex/config.toml", "[features]\nhooks = false\n");
    codex.write("repo/.codex/hooks.json", OTHER);
    codex.settings = codex.started(AgentId::CODEX, &[]);
    codex.check("repo/.codex/config.toml", "", &[]);
    codex.check("repo/.codex/hooks.json", "", &[]);
    assert_eq!(codex.foreign(), ["/x"]);
    assert!(codex.settings.unguarded().is_some_and(|why| why.contains("features.hooks = false")));
    // Claude Code rereads its settings, but not the files of its command line.
    let mut claude = Place::new(AgentId::CLAUDE);
    claude.write("repo/.claude/settings.json", OTHER);
    claude.write("given.json", &OTHER.replace("/x", "/given"));
    let given = claude.dir.path().join("given.json").display().to_string();
    claude.settings = claude.started(AgentId::CLAUDE, &["claude", "--settings", &given]);
    claude.check("repo/.claude/settings.json", "{}", &[]);
    claude.check("given.json", "{}", &[]);
    assert_eq!(claude.foreign(), ["/given"]);
}

#[test]
fn a_session_that_goes_on_elsewhere_has_the_settings_of_that_start() {
    let place = Place::new(AgentId::CLAUDE);
    let mut second = place.started(AgentId::CLAUDE, &["claude", "--settings", OTHER]);
    second.follow(&place.settings);
    let reported = second.look();
    assert!(
        matches!(reported.as_slice(), [SettingsChange::ForeignHook { hook, .. }] if hook.command == "/x"),
        "{reported:?}"
    );
    assert_eq!(second.look(), []);
}

#[test]
fn two_agents_that_read_one_file_are_each_told() {
    let mut first = Place::new(AgentId::CLAUDE);
    let mut second = first.started(AgentId::CLAUDE, &[]);
    let reported = "repo/.claude/settings.json: `disableAllHooks: true` is in it now";
    first.check("repo/.claude/settings.json", OFF, &[reported]);
    assert_eq!(second.look().len(), 1);
    assert_eq!(second.look(), []);
}

#[test]
fn a_hook_that_codex_does_not_trust_is_not_run() {
    let mut codex = Place::new(AgentId::CODEX);
    codex.write("own/hooks.json", &ours_of(AgentId::CODEX));
    codex.settings = codex.started(AgentId::CODEX, &["codex"]);
    let config = codex.dir.path().join("own/config.toml").display().to_string();
    let untrusted = format!("`{config}`: castellan's hook is not trusted in `/hooks`");
    assert_eq!(codex.settings.unguarded(), Some(untrusted));
    let bypassing = ["codex", "--dangerously-bypass-hook-trust"];
    codex.settings = codex.started(AgentId::CODEX, &bypassing);
    assert_eq!(codex.settings.unguarded(), None);
    let path = codex.dir.path().join("own").canonicalize().unwrap().join("hooks.json");
    let off = format!("[hooks.state.\"{}:pre_tool_use:0:0\"]\nenabled = false\n", path.display());
    codex.check("own/config.toml", &off, &["own/config.toml: castellan's hook is switched off in `/hooks`"]);
    assert!(codex.settings.unguarded().is_some_and(|why| why.contains("switched off")));
    // If another file registers the hook too, that hook may run.
    codex.check("repo/.codex/hooks.json", &ours_of(AgentId::CODEX), &[]);
    assert_eq!(codex.settings.unguarded(), None);
}

#[test]
fn an_environment_switches_hooks_off() {
    let place = Place::new(AgentId::CLAUDE);
    place.write("own/settings.json", &ours());
    let start = place.started(AgentId::CLAUDE, &["claude"]).start;
    let start = AgentStart { off_variable: Some("CLAUDE_CODE_SIMPLE"), ..start };
    let settings = HookSettings::of(AgentId::CLAUDE, start, &[]);
    assert_eq!(settings.unguarded().as_deref(), Some("its environment has `CLAUDE_CODE_SIMPLE`"));
}

#[test]
fn what_changes_and_looks_the_same_is_read_again() {
    use std::os::unix::fs::MetadataExt;

    let mut place = Place::new(AgentId::CLAUDE);
    let file = "repo/.claude/settings.json";
    place.check(file, r#"{"disableAllHooks":null}"#, &[]);
    let path = place.dir.path().join(file);
    let before = std::fs::metadata(&path).unwrap();
    // With the same length, time and inode: only the ctime differs, once the clock of the file system has advanced.
    loop {
        std::fs::write(&path, r#"{"disableAllHooks":true}"#).unwrap();
        let modified = before.modified().unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let now = std::fs::metadata(&path).unwrap();
        if (now.ctime(), now.ctime_nsec()) != (before.ctime(), before.ctime_nsec()) {
            let reported = |of: &std::fs::Metadata| (of.ino(), of.size(), of.mtime(), of.mtime_nsec());
            assert_eq!(reported(&now), reported(&before));
            break;
        }
    }
    place.looks(&["repo/.claude/settings.json: `disableAllHooks: true` is in it now"]);
}

#[test]
fn what_cannot_even_be_looked_at_may_say_anything() {
    let mut place = Place::new(AgentId::CLAUDE);
    let path = place.dir.path().join("repo/.claude/settings.json");
    place.write("repo/.claude/x", "");
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let changes = place.settings.look();
    let [SettingsChange::HooksOff { file, how }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(file, &path);
    assert!(how.starts_with("it cannot be told what is in it: "), "{how}");
    assert!(place.settings.unseen().is_some_and(|why| why.contains("settings.json")));
    assert_eq!(place.settings.look(), []);
}

#[test]
fn a_file_of_a_plugin_that_cannot_be_read_may_register_any_hook() {
    let mut place = with_plugin();
    let file = place.dir.path().join("own/plugins/cache/guard/hooks/hooks.json");
    place.write("own/plugins/cache/guard/hooks/x", "");
    std::os::unix::fs::symlink(&file, &file).unwrap();
    place.settings.look();
    let foreign = place.foreign();
    assert!(foreign.len() == 1 && foreign[0].starts_with("it cannot be told what is in it: "), "{foreign:?}");
}

#[test]
fn where_nobody_sees_the_settings_nobody_says_what_is_in_them() {
    let unseen = |dir: bool, arguments: bool| {
        let start = AgentStart {
            dir: dir.then(|| PathBuf::from("/nowhere")),
            cwd: PathBuf::from("/nowhere"),
            arguments: arguments.then(Vec::new),
            off_variable: None,
        };
        HookSettings::of(AgentId::CLAUDE, start, &[]).unseen()
    };
    assert!(unseen(false, true).is_some_and(|why| why.contains("where the agent has its settings")));
    assert!(unseen(true, false).is_some_and(|why| why.contains("command line cannot be read")));
    assert_eq!(unseen(true, true), None);
}
