//! `castellan install --managed`, as root with a private `/etc`.

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
        assert_eq!(agent["registered_for_machine"], true, "{agent}");
        assert_eq!(agent["repository_can_switch_off"], false, "{agent}");
    }

    let purge = home.run_as_root(&["uninstall", "--purge"]).unwrap();
    assert_eq!(purge.code, Some(7), "{purge:?}");
    assert!(purge.stderr.contains("run `sudo castellan uninstall --managed` first"), "{}", purge.stderr);

    root(&home, &["uninstall", "--managed"]).unwrap();
    assert!(!home.path(CLAUDE).exists());
    assert_eq!(home.read(CODEX), requirements);
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
