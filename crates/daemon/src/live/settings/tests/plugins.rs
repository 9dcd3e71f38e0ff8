//! Hooks of plugins, skills, commands and subagents.

use super::*;

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
fn a_file_of_a_plugin_that_cannot_be_read_may_register_any_hook() {
    let mut place = with_plugin();
    let file = place.dir.path().join("own/plugins/cache/guard/hooks/hooks.json");
    place.write("own/plugins/cache/guard/hooks/x", "");
    std::os::unix::fs::symlink(&file, &file).unwrap();
    place.settings.look();
    let foreign = place.foreign();
    assert!(foreign.len() == 1 && foreign[0].starts_with("it cannot be told what is in it: "), "{foreign:?}");
}

/// The hooks of castellan's own plugin, in a home with a daemon whose hook is a file of the test.
fn with_own_plugin(program: &str) -> Place {
    let mut place = with_plugin();
    let hook = place.dir.path().join("castellan/castellan-hook");
    place.write("castellan/castellan-hook", "the hook");
    place.settings.own = Own { hook: Some(real(&hook).unwrap()), ..Own::default() };
    for root in ["own/plugins/cache/guard", "market/guard"] {
        place.write(&format!("{root}/bin/castellan-hook"), program);
        let hooks = agents::own_plugin_hooks(AgentId::CLAUDE, "own").unwrap();
        place.write(&format!("{root}/hooks/hooks.json"), &hooks);
    }
    place.settings.look();
    place
}

#[test]
fn castellans_own_plugin_registers_its_hook_while_it_is_on() {
    let mut place = with_own_plugin("the hook");
    assert_eq!(place.foreign(), Vec::<String>::new(), "a copy of the program is castellan's own");
    let files = |place: &Place| place.settings.said.registering.len();
    assert_eq!(files(&place), 0, "no settings enable it");
    place.check("own/settings.json", r#"{"enabledPlugins":{"guard@local":true}}"#, &[]);
    assert_eq!(files(&place), 2, "the installed copy and its source");
    let found = place.settings.in_plugins();
    let programs: Vec<&str> = found.iter().map(|(_, hook, _)| hook.program.as_str()).collect();
    let program = |root: &str| place.dir.path().join(root).join("bin/castellan-hook").display().to_string();
    assert_eq!(programs, [program("market/guard"), program("own/plugins/cache/guard")]);
    assert!(found.iter().all(|(_, _, is_on)| *is_on));
    // A repository's settings win.
    place.write("repo/.claude/settings.json", r#"{"enabledPlugins":{"guard@local":false}}"#);
    let changes = place.settings.look();
    let off = |change: &SettingsChange| matches!(change, SettingsChange::HooksOff { .. });
    assert!(changes.iter().filter(|change| off(change)).count() == 2, "{changes:?}");
    assert!(place.settings.in_plugins().iter().all(|(_, _, is_on)| !is_on));
}

#[test]
fn another_program_with_the_name_of_castellans_hook_is_foreign() {
    for program in ["another", "the hool", "the hook, and more"] {
        let place = with_own_plugin(program);
        assert_eq!(place.settings.said.registering.len(), 0);
        assert!(place.foreign().len() >= 2, "{program}: {:?}", place.foreign());
        // Repaired, it is castellan's again, also without another change.
        for root in ["own/plugins/cache/guard", "market/guard"] {
            place.write(&format!("{root}/bin/castellan-hook"), "the hook");
        }
        assert_eq!(place.foreign(), Vec::<String>::new(), "{program}");
    }
}

#[test]
fn the_settings_of_codex_do_not_show_that_a_plugin_is_on() {
    let mut place = Place::new(AgentId::CODEX);
    place.write("castellan-hook", "the hook");
    place.settings.own =
        Own { hook: Some(real(&place.dir.path().join("castellan-hook")).unwrap()), ..Own::default() };
    let root = "own/plugins/cache/castellan/castellan/0.1.0";
    place.write(&format!("{root}/bin/castellan-hook"), "the hook");
    place.write(
        &format!("{root}/hooks/hooks.json"),
        &agents::own_plugin_hooks(AgentId::CODEX, "own").unwrap(),
    );
    place.settings.look();
    assert_eq!(place.foreign(), Vec::<String>::new());
    assert_eq!(place.settings.said.registering.len(), 0);
    assert!(place.settings.in_plugins().iter().all(|(_, _, is_on)| !is_on));
    assert_eq!(place.settings.in_plugins().len(), 1);
}
