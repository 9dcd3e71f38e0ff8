//! Settings of an agent's start: its command line and environment.

use super::*;

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
fn an_environment_switches_hooks_off() {
    let place = Place::new(AgentId::CLAUDE);
    place.write("own/settings.json", &ours());
    let start = place.started(AgentId::CLAUDE, &["claude"]).start;
    let start = AgentStart { off_variable: Some("CLAUDE_CODE_SIMPLE"), ..start };
    let settings = HookSettings::of(AgentId::CLAUDE, start, &[]);
    assert_eq!(settings.unguarded().as_deref(), Some("its environment has `CLAUDE_CODE_SIMPLE`"));
}
