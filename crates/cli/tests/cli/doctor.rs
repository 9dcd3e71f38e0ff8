//! `castellan doctor`, with the real hook.

use serde_json::{Value as Json, json};

use crate::home::{Home, real_hook, skipped};

/// Returns doctor's findings that are not good: outcome, subject, text.
fn findings(home: &Home) -> (Option<i32>, Vec<(String, String, String)>) {
    let done = home.run(&["doctor", "--json"]);
    let report: Json = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    let text = |check: &Json, key: &str| home.masked(check[key].as_str().unwrap());
    let checks =
        report["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] != json!("good"));
    let found = checks.map(|check| (text(check, "outcome"), text(check, "subject"), text(check, "what")));
    (done.code, found.collect())
}

fn assert_found(home: &Home, outcome: &str, part: &str) {
    let expected = if outcome == "bad" { 1 } else { 0 };
    assert_found_with(home, outcome, part, expected);
    assert_eq!(home.run(&["status"]).code, Some(expected), "{part}");
}

fn assert_found_with(home: &Home, outcome: &str, part: &str, expected: i32) {
    let (code, found) = findings(home);
    assert!(
        found.iter().any(|(is, _, what)| is == outcome && what.contains(part)),
        "{outcome} {part}: {found:?}"
    );
    assert_eq!(code, Some(expected), "{found:?}");
}

fn installed(arguments: &[&str]) -> Option<Home> {
    if real_hook().is_none() {
        skipped("`castellan-hook` is not built; build the workspace first");
        return None;
    }
    let home = Home::new();
    home.run_ok(&[&["install", "claude"], arguments].concat());
    Some(home)
}

#[test]
fn without_a_home() {
    let home = Home::new();
    assert_found_with(&home, "bad", "ROOT/user/.local/share/castellan does not exist", 3);
    assert_eq!(home.run(&["status"]).code, Some(3));
}

#[test]
fn a_canary_is_denied_and_recorded() {
    let Some(home) = installed(&[]) else { return };
    let (code, found) = findings(&home);
    let expected = ("doubtful", "Claude Code", "registered for you alone: a repository can switch it off");
    let expected = (expected.0.to_owned(), expected.1.to_owned(), expected.2.to_owned());
    assert_eq!((code, found), (Some(0), vec![expected]));
    let denied = home.run_ok(&["log", "--json", "--tool", "castellan_canary", "--verdict", "deny"]);
    assert_eq!(denied.lines().count(), 1, "{denied}");
}

#[test]
fn in_monitor_the_canary_is_only_recorded() {
    let Some(home) = installed(&["--mode", "monitor"]) else { return };
    assert_found(&home, "bad", "the mode is monitor");
    assert!(
        home.run(&["doctor"]).stdout.contains("a test call was recorded and left to the agent (monitor)")
    );
}

#[test]
fn what_is_broken_is_named() {
    let Some(home) = installed(&[]) else { return };
    let settings = "user/.claude/settings.json";
    let sound = home.read(settings);

    home.write(settings, sound.replace("\"timeout\": 600", "\"timeout\": 5"));
    assert_found(&home, "bad", "the hook for PreToolUse, PermissionRequest was changed");
    home.write(settings, sound.replace("\"PreToolUse\"", "\"Elsewhere\""));
    assert_found(&home, "bad", "no hook for PreToolUse");
    home.write(settings, sound.replacen('{', "{\"disableAllHooks\": true,", 1));
    assert_found(&home, "bad", "switches castellan's hooks off");
    home.write(settings, sound.replace("/castellan-hook\"", "/moved/castellan-hook\""));
    assert_found(&home, "bad", "missing or not executable");
    home.write(settings, "{");
    assert_found(&home, "bad", "line 1, column");
    home.write(settings, &sound);

    home.write("repo/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    assert_found(&home, "bad", "ROOT/repo/.claude/settings.json");
    home.write("repo/.claude/settings.json", "{}");

    let rules = home.user().join(".config/castellan/rules/user");
    set_mode(&rules, 0o770);
    assert_found(&home, "bad", "is open to others (770)");
    set_mode(&rules, 0o755);

    home.write("user/.config/castellan/rules/user/mine.yaml", "- rule: broken\n");
    // The rules in force protect; only `doctor` loads the files on disk.
    assert_found_with(&home, "bad", "mine.yaml:1", 1);
    assert_eq!(home.run(&["status"]).code, Some(0));
}

fn set_mode(file: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_hook_that_is_trusted_is_no_doubt() {
    if real_hook().is_none() {
        return skipped("`castellan-hook` is not built; build the workspace first");
    }
    let home = Home::new();
    home.write("user/.config/castellan/config.toml", "version = 1\n[hooks]\ntrusted = [\"/opt/other\"]\n");
    let other = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/other"}]}]}}"#;
    home.write("user/.claude/settings.json", other);
    home.run_ok(&["install", "claude"]);
    let report = home.run_ok(&["doctor"]);
    assert!(report.contains("for PreToolUse: /opt/other: you trust it"), "{report}");
}

#[test]
fn codex_must_trust_the_hooks() {
    let Some(home) = installed(&["codex"]) else { return };
    let why = "castellan's hook is not trusted in `/hooks`, so not run: PreToolUse, PermissionRequest, PostToolUse, \
               UserPromptSubmit";
    assert_found(&home, "bad", why);
    let status = home.run(&["status"]).stdout;
    assert!(status.contains(&format!("Codex        not guarded: {why}")), "{status}");
    let status: Json = serde_json::from_str(&home.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(status["agents"][1]["not_run"], why, "{status}");
    assert_eq!(status["agents"][0]["not_run"], Json::Null, "{status}");
}

#[test]
fn where_no_agent_is_guarded_not_all_is_well() {
    if real_hook().is_none() {
        return skipped("`castellan-hook` is not built; build the workspace first");
    }
    let home = Home::new();
    home.run_ok(&["install", "--no-agents"]);
    assert_found(&home, "bad", "none was found on this machine, and none is guarded");
}

#[test]
fn other_hooks_beside_ours_are_named() {
    let Some(home) = installed(&[]) else { return };
    let settings = "user/.claude/settings.json";
    let other = r#""PreToolUse": [{"hooks": [{"type": "command", "command": "/opt/other"}]},"#;
    let sound = home.read(settings);
    let changed = sound.replacen("\"PreToolUse\": [", other, 1);
    assert_ne!(changed, sound);
    home.write(settings, changed);
    assert_found(
        &home,
        "doubtful",
        "`ROOT/user/.claude/settings.json` has a hook of somebody else's for PreToolUse: /opt/other:",
    );
}

#[test]
fn only_installed_agents_are_listed() {
    let Some(home) = installed(&["claude"]) else { return };
    let lists =
        |arguments: &[&str]| ["Claude Code", "Codex"].map(|title| home.run(arguments).stdout.contains(title));
    assert_eq!(lists(&["status"]), [true, false]);
    assert_eq!(lists(&["doctor"]), [true, false]);
    assert_eq!(lists(&["doctor", "-v"]), [true, true]);
    assert_eq!(lists(&["agents"]), [true, true]);
    // An installed agent that is not guarded is listed.
    home.write("user/.codex/config.toml", "");
    assert_eq!(lists(&["status"]), [true, true]);
    assert_eq!(lists(&["doctor"]), [true, true]);
}

type Break = fn(&Home, &str);

/// Ways to break the protection: the change, the reported text, and true if the agent then does not ask castellan.
const BROKEN: &[(&str, Break, &str, bool)] = &[
    ("a comment", |home, sound| home.write(SETTINGS, format!("// mine\n{sound}")), "is not read: ", true),
    (
        "a trailing comma",
        |home, sound| home.write(SETTINGS, sound.replacen('{', "{\"env\": {\"A\": \"1\",},", 1)),
        "is not read: ",
        true,
    ),
    ("no JSON", |home, _| home.write(SETTINGS, "{"), "line 1, column", true),
    ("not UTF-8", |home, _| home.write(SETTINGS, b"\xff"), "not valid UTF-8", true),
    ("an empty file", |home, _| home.write(SETTINGS, ""), "is on this machine and not guarded", true),
    (
        "a folder",
        |home, _| {
            std::fs::remove_file(home.path(SETTINGS)).unwrap();
            std::fs::create_dir(home.path(SETTINGS)).unwrap();
        },
        "it is a folder, not a regular file",
        true,
    ),
    (
        "a switch of the user's",
        |home, sound| home.write(SETTINGS, sound.replacen('{', "{\"disableAllHooks\": true,", 1)),
        "has `disableAllHooks: true`",
        true,
    ),
    (
        "a switch of the repository's",
        |home, _| home.write("repo/.claude/settings.json", r#"{"disableAllHooks": true}"#),
        "ROOT/repo/.claude/settings.json` has `disableAllHooks: true`",
        true,
    ),
    (
        "a switch of the repository's, for this user",
        |home, _| home.write("repo/.claude/settings.local.json", r#"{"disableAllHooks": true}"#),
        "ROOT/repo/.claude/settings.local.json` has",
        true,
    ),
    (
        "a hook that is gone",
        |home, sound| home.write(SETTINGS, sound.replace("/castellan-hook\"", "/moved/castellan-hook\"")),
        "is missing or not executable",
        true,
    ),
    (
        "a hook that is not executable",
        |home, sound| {
            home.write("castellan-hook", "");
            let hook = home.path("castellan-hook").display().to_string();
            let own = home.bin().join("castellan-hook").display().to_string();
            home.write(SETTINGS, sound.replace(&own, &hook));
        },
        "is missing or not executable",
        true,
    ),
    (
        "a program that only has the hook's name",
        |home, sound| {
            let hook = home.path("castellan-hook").display().to_string();
            home.write("castellan-hook", format!("#!/bin/sh\ntouch {hook}.started\n"));
            set_mode(&home.path("castellan-hook"), 0o755);
            let own = home.bin().join("castellan-hook").display().to_string();
            home.write(SETTINGS, sound.replace(&own, &hook));
        },
        "`ROOT/castellan-hook` is not the hook of this castellan",
        true,
    ),
    (
        "a program of the hook's size",
        |home, sound| {
            let mut bytes = std::fs::read(home.bin().join("castellan-hook")).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            home.write("castellan-hook", bytes);
            set_mode(&home.path("castellan-hook"), 0o755);
            let hook = home.path("castellan-hook").display().to_string();
            let own = home.bin().join("castellan-hook").display().to_string();
            home.write(SETTINGS, sound.replace(&own, &hook));
        },
        "is not the hook of this castellan",
        true,
    ),
    (
        "the hook of another home",
        |home, sound| {
            let own = home.castellan_home().display().to_string();
            home.write(SETTINGS, sound.replace(&own, &home.path("other").display().to_string()));
        },
        "its calls go to another home, ROOT/other",
        true,
    ),
    (
        "one hook of another home",
        |home, sound| {
            let own = home.castellan_home().display().to_string();
            home.write(SETTINGS, sound.replacen(&own, &home.path("other").display().to_string(), 1));
        },
        "its calls go to another home, ROOT/other",
        true,
    ),
    (
        "no hook for questions",
        |home, sound| home.write(SETTINGS, sound.replace("\"PreToolUse\"", "\"Elsewhere\"")),
        "no hook for PreToolUse",
        true,
    ),
    (
        "a hook for some tools only",
        |home, sound| {
            home.write(
                SETTINGS,
                sound.replacen(
                    "\"PreToolUse\": [\n      {",
                    "\"PreToolUse\": [\n      {\"matcher\": \"Read\",",
                    1,
                ),
            )
        },
        "the hook for PreToolUse was changed",
        true,
    ),
    (
        "no hook for what was done",
        |home, sound| home.write(SETTINGS, sound.replace("\"PostToolUse\"", "\"Elsewhere\"")),
        "no hook for PostToolUse",
        false,
    ),
];

const SETTINGS: &str = "user/.claude/settings.json";

#[test]
fn status_and_doctor_tell_the_same_of_a_broken_guard() {
    let mut wrong = Vec::new();
    for (name, breaks, part, is_gap) in BROKEN {
        let Some(home) = installed(&[]) else { return };
        breaks(&home, &home.read(SETTINGS));
        let (code, found) = findings(&home);
        let reported = |what: &str| home.masked(what).contains(part);
        if code != Some(1) || !found.iter().any(|(outcome, _, what)| outcome == "bad" && reported(what)) {
            wrong.push(format!("{name}: doctor: {code:?} {found:?}"));
        }
        let status = home.run(&["status", "--json"]);
        if status.code != Some(1) || home.path("castellan-hook.started").exists() {
            wrong.push(format!("{name}: status has {:?}, or the false hook was started", status.code));
        }
        let status: Json = serde_json::from_str(&status.stdout).unwrap();
        let of_claude = &status["agents"][0];
        let shown = home.run(&["status"]).stdout;
        let word = if *is_gap { "not guarded: " } else { "guarded, but " };
        if of_claude["guarded"] != json!(!is_gap) || !shown.contains(&format!("Claude Code  {word}")) {
            wrong.push(format!("{name}: status: {of_claude} {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
