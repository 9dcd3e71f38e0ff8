//! Lifecycle of the daemon by commands: start, status, mode, stop.

use serde_json::{Value as Json, json};

use crate::home::Home;

fn status(home: &Home) -> Json {
    serde_json::from_str(&home.run(&["status", "--json"]).stdout).unwrap()
}

#[test]
fn not_running() {
    let home = Home::new();
    let done = home.run(&["status"]);
    assert_eq!(done.code, Some(3));
    insta::assert_snapshot!("status_not_running", home.masked(&done.stdout));
    assert_eq!(home.run(&["status", "--json"]).code, Some(3));
    assert_eq!(status(&home)["running"], json!(false));

    let mode = home.run(&["mode"]);
    assert_eq!(mode.code, Some(3));
    assert_eq!(mode.stderr, "error: the daemon is not running: start it with `castellan start`\n");
}

#[test]
fn one_daemon_serves_a_home() {
    let home = Home::new();
    assert!(home.run_ok(&["start"]).starts_with("started: process "));
    let first = status(&home);
    assert_eq!(first["running"], json!(true));
    for key in ["pid", "mode", "version", "policy"] {
        assert!(!first[key].is_null(), "{key}");
    }
    assert!(home.run_ok(&["start"]).starts_with("already running: process "));
    let second = home.run(&["daemon"]);
    assert_eq!(second.code, Some(5), "{second:?}");
    assert_eq!(status(&home)["pid"], first["pid"]);
}

#[test]
fn tightening_needs_nobody_and_loosening_a_person() {
    let home = Home::new();
    home.run_ok(&["start"]);
    assert_eq!(home.run_ok(&["mode"]), "enforce\n");
    for arguments in
        [&["mode", "monitor"][..], &["mode", "passthrough"], &["stop"], &["restart"], &["uninstall"]]
    {
        let refused = home.run(arguments);
        assert_eq!(refused.code, Some(4), "{arguments:?}: {refused:?}");
        assert_eq!(refused.stderr, "error: this needs a person at a terminal\n", "{arguments:?}");
    }
    assert_eq!(status(&home)["mode"], json!("enforce"));

    let Some(monitor) = home.run_as_person(&["mode", "monitor"]) else { return };
    assert_eq!(
        (monitor.code, monitor.stdout.as_str()),
        (Some(0), "the mode is monitor now; it was enforce\n")
    );
    assert_eq!(home.run_ok(&["mode", "monitor"]), "the mode is monitor already\n");
    assert_eq!(home.run_ok(&["mode", "enforce"]), "the mode is enforce now; it was monitor\n");
}

#[test]
fn a_stop_is_remembered_until_the_start() {
    let home = Home::new();
    home.run_ok(&["start"]);
    let marker = home.castellan_home().join("run/stopped");
    let Some(stopped) = home.run_as_person(&["stop"]) else { return };
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(marker.exists());
    let status = home.run(&["status"]);
    assert_eq!(status.code, Some(3));
    assert!(
        status.stdout.contains("castellan is stopped, so every call is blocked. Run: castellan start"),
        "{}",
        status.stdout
    );
    home.run_ok(&["start"]);
    assert!(!marker.exists());
    let restarted = home.run_as_person(&["restart"]).unwrap();
    assert!(restarted.stdout.starts_with("started: process "), "{restarted:?}");
}

#[test]
fn a_daemon_that_cannot_start_says_why() {
    let home = Home::new();
    home.write("user/.local/share/castellan/layout", "nonsense\n");
    let done = home.run(&["start"]);
    assert_eq!(done.code, Some(7), "{done:?}");
    assert!(done.stderr.contains("layout`:1: not a layout that this castellan reads"), "{}", done.stderr);
}
