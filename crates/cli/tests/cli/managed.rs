//! `castellan install --managed`, as root with a private `/etc`, and as another user.

use serde_json::{Value as Json, json};

use crate::home::{Done, Home};

const CLAUDE: &str = "etc/claude-code/managed-settings.d/50-castellan.json";
const CODEX: &str = "etc/codex/requirements.toml";

fn root(home: &Home, arguments: &[&str]) -> Option<Done> {
    let done = home.run_as_root(arguments)?;
    assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
    Some(done)
}

#[test]
fn the_whole_machine_is_registered_once_and_undone() {
    let home = Home::new();
    let requirements = "# ours\nallow_managed_hooks_only = true\n";
    home.write(CODEX, requirements);
    let Some(first) = root(&home, &["install", "--managed"]) else { return };
    for part in ["Claude Code guarded", "Codex guarded", "No repository can switch these hooks off"] {
        assert!(first.stdout.contains(part), "{part}: {}", first.stdout);
    }
    let files = [home.read(CLAUDE), home.read(CODEX)];
    assert!(files.iter().all(|text| text.contains("castellan-hook")), "{files:?}");
    assert!(files[1].starts_with(requirements), "{}", files[1]);
    assert!(!home.user().join(".claude").exists() && !home.user().join(".codex").exists());

    let second = root(&home, &["install", "--managed"]).unwrap();
    assert!(second.stdout.starts_with("nothing to do"), "{}", second.stdout);
    assert_eq!([home.read(CLAUDE), home.read(CODEX)], files);

    let status = home.run_as_root(&["status", "--json"]).unwrap();
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    for agent in status["agents"].as_array().unwrap() {
        let has_machine_file = ["claude", "codex"].contains(&agent["agent"].as_str().unwrap());
        assert_eq!(agent["registered_for_machine"], has_machine_file, "{agent}");
        assert_eq!(agent["repository_can_switch_off"], false, "{agent}");
    }

    let alone = home.run_as_root_program(&["install", "--managed", "gemini"]).unwrap();
    assert!(alone.stderr.contains("Gemini CLI is registered for one user at a time"), "{alone:?}");
    assert!(!home.path("etc/gemini-cli").exists());

    let purge = home.run_as_root(&["uninstall", "--purge"]).unwrap();
    assert_eq!(purge.code, Some(7), "{purge:?}");
    assert!(purge.stderr.contains("run `sudo castellan uninstall --managed` first"), "{}", purge.stderr);

    root(&home, &["uninstall", "--managed"]).unwrap();
    assert!(!home.path(CLAUDE).exists());
    assert_eq!(home.read(CODEX), requirements);
}

#[test]
fn the_whole_machine_is_not_led_elsewhere_without_a_person() {
    let home = Home::new();
    if root(&home, &["install", "--managed"]).is_none() {
        return;
    }
    let files = || [home.read(CLAUDE), home.read(CODEX)];
    let before = files();
    let other = home.path("other").display().to_string();
    for agents in [&["claude"][..], &["codex"], &[]] {
        let install = ["--home", &other, "install", "--managed", "--mode", "passthrough"];
        let refused = home.run_as_root_program(&[&install, agents].concat()).unwrap();
        assert_eq!(refused.code, Some(4), "{agents:?}: {refused:?}");
        assert!(refused.stderr.ends_with("this needs a person at a terminal\n"), "{refused:?}");
        assert_eq!(files(), before, "{agents:?}");
    }
    assert!(!home.path("other").exists());
    let refused = home.run_as_root_program(&["uninstall", "--managed"]).unwrap();
    assert_eq!((refused.code, files()), (Some(4), before), "{refused:?}");

    root(&home, &["--home", &other, "install", "--managed"]).unwrap();
    assert!(files().iter().all(|text| text.contains(&other)), "{:?}", files());
}

#[test]
fn what_is_not_understood_may_lead_elsewhere() {
    let home = Home::new();
    let twice = "{\"hooks\":{},\"hooks\":{}}";
    home.write(CLAUDE, twice);
    let Some(refused) = home.run_as_root_program(&["install", "--managed", "claude"]) else { return };
    assert_eq!((refused.code, home.read(CLAUDE).as_str()), (Some(4), twice), "{refused:?}");
}

#[test]
fn a_broken_machine_file_is_left_as_it_is() {
    let home = Home::new();
    home.write(CODEX, "[features\n");
    let Some(done) = home.run_as_root(&["install", "--managed", "codex"]) else { return };
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.stderr.contains("/etc/codex/requirements.toml`: line 1, column"), "{}", done.stderr);
    assert_eq!(home.read(CODEX), "[features\n");
}

#[test]
fn without_root_it_says_what_to_run_and_changes_nothing() {
    let home = Home::new();
    home.write("user/.claude/settings.json", "{}");
    home.write("user/.codex/hooks.json", "{}");
    let files = home.agent_files();
    let check = |arguments: &[&str], to: &str, command: &str| {
        let Some(done) = home.run_without_root(arguments) else { return };
        let own = home.bin().join("castellan");
        let expected = format!("error: to {to} needs root: run `sudo {} {command}`\n", own.display());
        assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (Some(7), "", &*expected));
        assert_eq!(home.agent_files(), files, "{arguments:?}");
        assert!(!home.castellan_home().exists(), "{arguments:?}");
    };
    check(&["install", "--managed"], "register for the whole machine", "install --managed");
    check(&["install", "--managed", "codex"], "register for the whole machine", "install --managed");
    check(&["uninstall", "--managed"], "undo this for the whole machine", "uninstall --managed");
}

/// Returns the exit code of `castellan status` and what it says of Claude Code.
fn claude(home: &Home) -> (Option<i32>, Json) {
    let done = home.run_as_root(&["status", "--json"]).unwrap();
    let status: Json = serde_json::from_str(&done.stdout).unwrap();
    let agents = status["agents"].as_array().unwrap();
    let of_claude = agents.iter().find(|agent| agent["agent"] == "claude").unwrap().clone();
    (done.code, of_claude)
}

#[test]
fn hooks_of_the_machine_hold_whatever_the_users_ask() {
    let home = Home::new();
    if root(&home, &["install", "--managed"]).is_none() {
        return;
    }
    let (code, sound) = claude(&home);
    assert_eq!((code, &sound["guarded"], &sound["faults"]), (Some(0), &json!(true), &json!([])), "{sound}");
    let other = home.path("other").display().to_string();
    let printed = home.run_ok(&["--home", &other, "install", "claude", "--print"]);
    home.write("user/.claude/settings.json", printed);
    let (code, found) = claude(&home);
    let faults = found["faults"].to_string();
    assert_eq!((code, &found["guarded"]), (Some(0), &json!(true)), "{found}");
    assert!(faults.contains("its calls go to another home"), "{found}");
}

#[test]
fn hooks_of_the_machine_that_are_not_castellans_or_ask_another_home_guard_nobody() {
    let home = Home::new();
    if root(&home, &["install", "--managed"]).is_none() {
        return;
    }
    let sound = home.read(CLAUDE);
    let own = home.bin().join("castellan-hook").display().to_string();
    let fake = home.path("castellan-hook").display().to_string();
    home.write("castellan-hook", "#!/bin/sh\n");
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let other = home.path("other").display().to_string();
    for (text, part) in [
        (sound.replace(&own, &fake), "is not the hook of this castellan"),
        (sound.replace("\"own\"", &json!(other).to_string()), "its calls go to another home"),
    ] {
        assert_ne!(text, sound);
        home.write(CLAUDE, &text);
        let (code, found) = claude(&home);
        assert_eq!((code, &found["guarded"]), (Some(1), &json!(false)), "{found}");
        assert!(found["not_run"].to_string().contains(part), "{part}: {found}");
        // The user's settings are sound: another registration there would not mend it.
        let doctor = home.run_as_root(&["doctor"]).unwrap().stdout;
        assert!(doctor.contains("sudo castellan install --managed claude"), "{part}: {doctor}");
        let mut remedies = doctor.lines().filter(|line| line.trim_start().starts_with('→'));
        assert!(!remedies.any(|line| line.contains("--home")), "{part}: {doctor}");
        // No test call goes to another program or home.
        assert!(!doctor.contains("Claude Code  a test call"), "{part}: {doctor}");
        assert!(!home.path("other").exists(), "{part}: doctor has made another home");
    }
}
