//! The hook under attack: whatever ends it, holds it up or hides its answer, the agent is told "deny".

#![cfg(test)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, FakeDaemon, RULES, bash, judge, understood};
use castellan_tests::process::{Running, processes_of};
use castellan_tests::wait::{self, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

const LIMIT: Duration = Duration::from_secs(20);

/// A call of Codex's shell tool.
fn codex_bash(command: &str) -> Json {
    let mut call = bash(command);
    call["model"] = json!("m");
    call["turn_id"] = json!("t");
    call
}

fn home(name: &str) -> Home {
    Home::with_castellan(name, ENFORCE, RULES).unwrap()
}

/// The hook's own process below the one that starts it.
fn hook_process(home: &Home) -> Option<Pid> {
    let is_hook = |pid: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        String::from_utf8_lossy(&words)
            .split('\0')
            .next()
            .is_some_and(|word| word.ends_with("castellan-hook"))
    };
    processes_of(&home.castellan()).into_iter().find(is_hook)
}

#[test]
fn signals_that_would_end_the_hook_deny() -> anyhow::Result<()> {
    for signal in
        [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ABORT]
    {
        let home = home("signal");
        let daemon = FakeDaemon::listen(&home)?;
        let payload = codex_bash("ls").to_string();
        let running =
            Running::start_with_input(&mut hook::command(&home, "codex", "PreToolUse"), payload.as_bytes())?;
        daemon.serve(|_stream| {
            let hook = until(LIMIT, || Ok(hook_process(&home))).unwrap().unwrap();
            kill_process(hook, signal).unwrap();
        })?;
        let done = running.finish(LIMIT)?;
        assert_eq!(understood(&done), "deny", "{signal:?}: {done:?}");
    }
    Ok(())
}

#[test]
fn a_pipe_in_the_place_of_the_gaps_holds_nothing_up() -> anyhow::Result<()> {
    let home = home("fifo");
    home.write(&home.castellan().join("run/stopped"), "")?;
    let pipe = home.castellan().join("run/gaps");
    let made = Running::start(home.command(Path::new("mkfifo")).arg(&pipe))?.finish(LIMIT)?;
    assert_eq!(made.code, Some(0));
    let done = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&done), "deny");
    assert!(done.took < Duration::from_secs(5), "{done:?}");
    // The daemon takes it away and goes on.
    std::fs::remove_file(home.castellan().join("run/stopped"))?;
    home.start_daemon()?;
    assert!(wait::file(&pipe, false, LIMIT)?);
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    Ok(())
}

#[test]
fn a_gap_is_not_written_through_a_symlink() -> anyhow::Result<()> {
    let home = home("gap-link");
    home.write(&home.castellan().join("run/stopped"), "")?;
    let target = home.workspace().join("target");
    std::fs::write(&target, "mine\n")?;
    symlink(&target, home.castellan().join("run/gaps"))?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny");
    assert_eq!(std::fs::read_to_string(&target)?, "mine\n");
    Ok(())
}

#[test]
fn the_answer_comes_before_the_note() -> anyhow::Result<()> {
    let home = home("no-files");
    home.write(&home.castellan().join("run/stopped"), "")?;
    // No file may grow: writing the note ends the hook by a signal. Its answer goes through a pipe.
    let mut command = home.command(Path::new("prlimit"));
    command.args(["--fsize=0", "--core=0"]).arg(home.bin().join("castellan-hook"));
    command.args(["--agent", "codex", "--event", "PreToolUse", "--home"]).arg(home.castellan());
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("denied"), "{output:?}");
    Ok(())
}

#[test]
fn an_answer_that_nobody_can_read_becomes_exit_2() -> anyhow::Result<()> {
    let home = Home::with_castellan("unread", ENFORCE, RULES)?;
    home.start_daemon()?;
    for redirect in ["exec >/dev/null", "exec >&-", "exec >/dev/full"] {
        let script = format!("{redirect}; exec \"$@\"");
        let mut command = home.command(Path::new("sh"));
        command.args(["-c", &script, "sh"]).arg(home.bin().join("castellan-hook"));
        command.args(["--agent", "codex", "--event", "PreToolUse", "--home"]).arg(home.castellan());
        let payload = codex_bash("forbidden").to_string();
        let done = Running::start_with_input(&mut command, payload.as_bytes())?.finish(LIMIT)?;
        assert_eq!((done.code, done.stderr.contains("denied")), (Some(2), true), "{redirect}: {done:?}");
    }
    Ok(())
}

#[test]
fn a_patch_inside_codex_shell_text_is_judged_as_a_patch() -> anyhow::Result<()> {
    let home = home("shell-patch");
    let patch = |path: &str| {
        let text =
            format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\nEOF\n");
        hook::run(&home, "codex", "PreToolUse", codex_bash(&text).to_string().as_bytes())
    };
    assert_eq!(understood(&patch("notes.md")?), "defer");
    assert_eq!(understood(&patch("/etc/cron.d/x")?), "deny");
    let records = home.records()?;
    let last = &records.last().unwrap()["call"];
    assert_eq!((&last["tool"], &last["files"][0]["op"]), (&json!("Bash"), &json!("Add")));
    Ok(())
}

#[test]
fn a_path_that_cannot_be_resolved_to_its_end_denies() -> anyhow::Result<()> {
    let home = home("detour");
    std::fs::create_dir(home.workspace().join("a"))?;
    for path in ["/proc/self/cwd/x".to_owned(), format!("{}x", "a/../".repeat(900))] {
        let mut call = hook::call("Read", &json!({ "file_path": path }));
        call["cwd"] = json!(home.workspace());
        assert_eq!(understood(&judge(&home, &call)?), "deny", "{}", path.get(..40).unwrap_or(&path));
    }
    Ok(())
}

#[test]
fn what_an_agent_sends_does_not_grow_the_daemon() -> anyhow::Result<()> {
    let home = home("growing");
    let daemon = home.start_daemon()?;
    let mut call = bash("ls");
    call["session_id"] = json!("s".repeat(4 << 20));
    for _ in 0..40 {
        assert_eq!(understood(&judge(&home, &call)?), "deny");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.as_raw_nonzero()))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: u64 = resident.trim().trim_end_matches(" kB").parse()?;
    assert!(kib < 120 * 1024, "{kib} KiB after forty calls of four megabytes");
    Ok(())
}
