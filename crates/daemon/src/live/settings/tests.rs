mod plugins;
mod start;

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
    place.settings.own = Own { paths: vec!["/another".to_owned()], ..Own::default() };
    place.check("own/settings.json", &ours(), &reported);
    place.settings.own = Own { paths: vec!["/h".to_owned()], ..Own::default() };
    assert_eq!(place.settings.foreign(), []);
    assert_eq!(place.settings.unguarded(), None);
}

#[test]
fn a_hook_that_becomes_anothers_is_one_that_is_gone() {
    let mut place = Place::new(AgentId::CLAUDE);
    place.settings.own = Own { paths: vec!["/h".to_owned()], ..Own::default() };
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
