//! `castellan status`: its answer, the same as that of `castellan doctor`, and its short forms.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::home::{Done, Home, real_hook, skipped};

/// Far more than a daemon that hangs may cost.
const LIMIT: Duration = Duration::from_secs(20);

fn json_of(home: &Home) -> Json {
    serde_json::from_str(&home.run(&["status", "--json"]).stdout).unwrap()
}

#[test]
fn a_guarded_agent_is_protected() {
    if real_hook().is_none() {
        return skipped("`castellan-hook` is not built; build the workspace first");
    }
    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    let shown = home.run_ok(&["status"]);
    assert!(shown.starts_with("protected: hooks, mode enforce, profile standard, since "), "{shown}");
    assert!(shown.contains("\nnothing needs you\n"), "{shown}");
    assert_eq!(home.run_ok(&["status", "--prompt"]), "castellan on\n");
    let json = json_of(&home);
    assert_eq!(
        (&json["protected"], &json["answer"], &json["guard_level"], &json["needs"]),
        (&json!(true), &json!("protected"), &json!("hooks"), &json!([])),
        "{json}"
    );
    // The call of `doctor` is castellan's own.
    home.run_ok(&["doctor"]);
    assert_eq!(json_of(&home)["today"]["calls"], json!({"deny": 0, "ask": 0, "allow": 0, "defer": 0}));
    ask(&home, "rm -rf /");
    assert_eq!(json_of(&home)["today"]["calls"]["deny"], json!(1));
}

#[test]
fn a_copy_of_the_hook_protects() {
    if real_hook().is_none() {
        return skipped("`castellan-hook` is not built; build the workspace first");
    }
    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    const SETTINGS: &str = "user/.claude/settings.json";
    let (own, sound) = (home.bin().join("castellan-hook"), home.read(SETTINGS));
    std::fs::create_dir_all(home.path("copies")).unwrap();
    let at = home.path("copies/castellan-hook");
    let ways: [(&str, &dyn Fn()); 3] = [
        ("copy", &|| assert!(std::fs::copy(&own, &at).unwrap() > 0)),
        ("hard link", &|| std::fs::hard_link(&own, &at).unwrap()),
        ("link", &|| std::os::unix::fs::symlink(&own, &at).unwrap()),
    ];
    home.write(SETTINGS, sound.replace(&own.display().to_string(), &at.display().to_string()));
    for (name, make) in ways {
        make();
        let done = home.run(&["status"]);
        assert_eq!(done.code, Some(0), "{name}: {done:?}");
        std::fs::remove_file(&at).unwrap();
    }
    // Without a hook of its own, castellan knows no program for its hook.
    std::fs::copy(&own, &at).unwrap();
    std::fs::remove_file(&own).unwrap();
    let done = home.run(&["status"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("is not the hook of this castellan"), "{done:?}");
}

/// Sends a call through the hook, as Claude Code does.
fn ask(home: &Home, command: &str) {
    let payload = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": home.repo(), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
        "tool_use_id": "toolu_1",
    });
    let mut hook = Command::new(home.bin().join("castellan-hook"));
    hook.args(["--agent", "claude", "--event", "PreToolUse", "--home"]).arg(home.castellan_home());
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let answer = hook.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&answer.stdout).contains("deny"), "{answer:?}");
}

#[test]
fn what_is_not_protected_has_another_exit_and_says_why() {
    let check = |home: &Home, code: i32, begin: &str, words: &str| {
        let done = home.run(&["status"]);
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(done.stdout.starts_with(begin), "{begin}: {done:?}");
        let prompt = home.run(&["status", "--prompt"]);
        assert_eq!((prompt.code, prompt.stdout.as_str(), prompt.stderr.as_str()), (Some(0), words, ""));
    };
    let home = Home::new();
    // Nothing was installed, so a prompt has nothing to say.
    check(&home, 3, "not protected: the daemon is not running", "");
    home.write("user/.local/share/castellan/run/x", "");
    check(&home, 3, "not protected: the daemon is not running", "castellan not running\n");
    home.write("user/.local/share/castellan/run/stopped", "");
    check(&home, 3, "not protected: castellan is stopped", "castellan stopped\n");

    let home = Home::new();
    home.run_ok(&["install", "claude", "--mode", "monitor"]);
    check(&home, 1, "not protected: daemon: the mode is monitor", "castellan monitors only\n");

    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    home.write("user/.claude/settings.json", "{}");
    check(
        &home,
        1,
        "not protected: Claude Code: is on this machine and not guarded",
        "castellan: not protected\n",
    );
    home.write("user/.local/share/castellan/layout", "nonsense\n");
    let broken = home.run(&["status", "--prompt"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(0), "castellan: not protected\n"));
}

#[test]
fn a_daemon_that_hangs_is_not_waited_for() {
    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    let place = home.path("h");
    home.write("h/run/x", "");
    // It accepts nothing, as a process that is stopped.
    let socket = UnixListener::bind(place.join("run/control.sock")).unwrap();
    let fill = || {
        let stream = rustix::net::socket_with(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::NONBLOCK | rustix::net::SocketFlags::CLOEXEC,
            None,
        );
        let stream = stream.unwrap();
        let address = rustix::net::SocketAddrUnix::new(place.join("run/control.sock")).unwrap();
        rustix::net::connect(&stream, &address).map(|()| stream)
    };
    let own = place.display().to_string();
    let run = |arguments: &[&str]| -> Done {
        let begun = Instant::now();
        let done = home.run(&[&["--home", own.as_str()], arguments].concat());
        assert!(begun.elapsed() < LIMIT, "{arguments:?}");
        done
    };
    let check = || {
        for arguments in [["status", "--prompt"], ["status", "--line"]] {
            assert_eq!(run(&arguments).stdout, "castellan does not answer\n", "{arguments:?}");
        }
        let whole = run(&["status"]);
        assert_eq!(whole.code, Some(1), "{whole:?}");
        assert!(whole.stdout.contains("it does not answer within 5 s"), "{whole:?}");
    };
    check();
    // Its queue of connections is full, so a connection waits, too.
    let mut waiting = Vec::new();
    while let Ok(stream) = fill() {
        waiting.push(stream);
    }
    check();
    drop((socket, waiting));
}

#[test]
fn the_status_line_looks_at_claude_in_the_directory_of_its_session() {
    if real_hook().is_none() {
        return skipped("`castellan-hook` is not built; build the workspace first");
    }
    let home = Home::new();
    home.run_ok(&["install", "claude"]);
    // Another agent's gap is none of Claude Code's.
    home.write("user/.codex/config.toml", "");
    home.write("off/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    let check = |input: &str, expected: &str| {
        let mut line = Command::new(home.bin().join("castellan"));
        line.args(["status", "--line"]).env_clear().current_dir(home.repo());
        line.env("HOME", home.user()).env("PATH", "/usr/bin:/bin");
        let mut line = line.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It may have ended before it is told.
        let _ = line.stdin.take().unwrap().write_all(input.as_bytes());
        let done = line.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{input}");
        assert_eq!(done.status.code(), Some(0), "{input}");
    };
    let session = |dir: &str| json!({"session_id": "s", "cwd": home.path(dir), "cost": {}}).to_string();
    check("", "castellan on\n");
    check(&session("repo"), "castellan on\n");
    check("\u{1b}]0;x\u{7}", "castellan on\n");
    check(&session("gone"), "castellan on\n");
    check(&session("off"), "castellan: not protected\n");
    assert_eq!(home.run(&["status", "--prompt"]).stdout, "castellan: not protected\n");
}

#[test]
fn a_status_line_is_installed_on_request_and_never_over_another_one() {
    const SETTINGS: &str = "user/.claude/settings.json";
    let home = Home::new();
    let mine = "{\n  \"model\": \"x\"\n}\n";
    home.write(SETTINGS, mine);
    home.run_ok(&["install", "claude"]);
    assert!(!home.read(SETTINGS).contains("statusLine"));
    home.run_ok(&["install", "claude", "--status-line", "--dry-run"]);
    assert!(!home.read(SETTINGS).contains("statusLine"));
    let done = home.run_ok(&["install", "claude", "--status-line"]);
    assert!(done.contains("status line added"), "{done}");
    let settings: Json = serde_json::from_str(&home.read(SETTINGS)).unwrap();
    let command = settings["statusLine"]["command"].as_str().unwrap();
    assert_eq!(home.masked(command), "ROOT/bin/castellan status --line");
    assert!(home.run_ok(&["install", "claude", "--status-line"]).starts_with("nothing to do"));
    if let Some(done) = home.run_as_person(&["uninstall", "claude"]) {
        assert!(done.stdout.contains("status line removed"), "{done:?}");
        assert_eq!(home.read(SETTINGS), mine);
    }

    let home = Home::new();
    let theirs = r#"{"statusLine": {"type": "command", "command": "~/line.sh"}}"#;
    home.write(SETTINGS, theirs);
    let done = home.run(&["install", "claude", "--status-line"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.stderr.contains("has a status line of yours, which stays"), "{done:?}");
    assert!(home.read(SETTINGS).contains("~/line.sh") && home.read(SETTINGS).contains("castellan-hook"));
}
