//! Attacks on the hook: if anything ends it, delays it or hides its answer, the agent receives a deny.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, FakeDaemon, RULES, bash, judge, understood};
use castellan_tests::process::{Finished, Running, send_signals};
use castellan_tests::wait::{self, until};
use castellan_wire::{Kind, Reply, write_frame};
use rustix::process::Pid;
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

/// The hook answers a signal at once, before its own deadline.
const SIGNAL_LIMIT: Duration = Duration::from_secs(8);

/// Signals that end no process by default, and PIPE, which `std` ignores. They have no effect.
const HARMLESS: [u32; 5] = [13, 17, 18, 23, 28]; // PIPE CHLD CONT URG WINCH

/// KILL and STOP, which no process can catch.
const UNCATCHABLE: [u32; 2] = [9, 19];

/// Every Linux signal that a process can catch, including the two that the C library reserves.
fn catchable() -> impl Iterator<Item = u32> {
    (1..=64).filter(|number| !UNCATCHABLE.contains(number))
}

/// The hook's activity when signals arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Reading,
    Connecting,
    Waiting,
}

/// The words before the hook's own command line.
const PLAINLY: &[&str] = &[];
const WITH_SIGNALS_BLOCKED: &[&str] = &["--block-signal"];
const WITH_SIGNALS_IGNORED: &[&str] = &["--ignore-signal"];

/// Hooks of Codex that receive signals, and their daemon.
struct Signalled {
    home: Home,
    daemon: FakeDaemon,
}

impl Signalled {
    fn new(name: &str) -> anyhow::Result<Signalled> {
        let home = home(name);
        let daemon = FakeDaemon::listen_with_short_queue(&home)?;
        Ok(Signalled { home, daemon })
    }

    /// Starts a hook, lets it reach one activity, and sends all `signals` at once. Returns the hook's result.
    fn check(&self, start: &[&str], event: &str, doing: Doing, signals: &[u32]) -> anyhow::Result<Finished> {
        let mut command = self.home.command(Path::new("env"));
        command.args(start).arg(self.home.bin().join("castellan-hook"));
        command.args(["--agent", "codex", "--event", event, "--home"]).arg(self.home.castellan());
        let (input, mut writer) = std::io::pipe()?;
        let queued =
            if doing == Doing::Connecting { self.daemon.fill_queue(&self.home)? } else { Vec::new() };
        let running = Running::start_at(&mut command, OwnedFd::from(input).into())?;
        // The input ends, except for a hook that is to wait for it.
        let open = if doing == Doing::Reading {
            Some(writer)
        } else {
            writer.write_all(codex_bash("ls").to_string().as_bytes())?;
            drop(writer);
            None
        };
        let pid = running.pid();
        let signal = || -> anyhow::Result<()> {
            until(SIGNAL_LIMIT, || Ok(sleeps_armed(pid).then_some(())))?.context("the hook does not wait")?;
            send_signals(pid, signals)
        };
        match doing {
            Doing::Reading | Doing::Connecting => signal()?,
            Doing::Waiting => self.daemon.serve(|stream| {
                signal().unwrap();
                // If the hook has ended, nobody reads the answer.
                let answer = Reply { exit: 0, stdout: b"answered".to_vec(), stderr: Vec::new() };
                let _ = write_frame(stream, Kind::Reply, &answer.encode());
            })?,
        }
        let done = running.finish(SIGNAL_LIMIT);
        drop((open, queued));
        self.daemon.empty_queue()?;
        done
    }
}

/// Returns true if a hook has set its deadline and is waiting.
fn sleeps_armed(pid: Pid) -> bool {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let caught = field("SigCgt:").and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or_default();
    let is_hook = field("Name:") == Some("castellan-hook");
    is_hook && caught & (1 << 13) != 0 && field("State:").is_some_and(|state| state.starts_with('S'))
}

#[test]
fn signals_that_would_end_the_hook_deny() -> anyhow::Result<()> {
    let hooks = Signalled::new("signals")?;
    let mut wrong = Vec::new();
    for number in catchable().filter(|number| !HARMLESS.contains(number)) {
        for doing in [Doing::Reading, Doing::Connecting, Doing::Waiting] {
            let done = hooks.check(PLAINLY, "PreToolUse", doing, &[number])?;
            if understood(&done) != "deny" {
                wrong.push(format!("{number} {doing:?}: {done:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn several_signals_at_once_deny_once() -> anyhow::Result<()> {
    let hooks = Signalled::new("more-signals")?;
    let all: Vec<u32> = catchable().filter(|number| !HARMLESS.contains(number)).collect();
    for signals in [&[11, 11][..], &[11, 7, 11], &[15, 11], &[14, 64, 32, 33, 31], &all] {
        for event in ["PreToolUse", "PermissionRequest"] {
            let done = hooks.check(PLAINLY, event, Doing::Waiting, signals)?;
            assert_eq!(understood(&done), "deny", "{event} {signals:?}: {done:?}");
        }
    }
    Ok(())
}

#[test]
fn signals_that_were_blocked_or_ignored_before_the_hook_started_deny() -> anyhow::Result<()> {
    let hooks = Signalled::new("masked-signals")?;
    for start in [WITH_SIGNALS_BLOCKED, WITH_SIGNALS_IGNORED] {
        for number in [1, 2, 3, 4, 7, 8, 11, 14, 15, 20, 27, 31, 34, 64] {
            let done = hooks.check(start, "PreToolUse", Doing::Waiting, &[number])?;
            assert_eq!(understood(&done), "deny", "{start:?} {number}: {done:?}");
        }
    }
    Ok(())
}

#[test]
fn harmless_signals_change_nothing() -> anyhow::Result<()> {
    let hooks = Signalled::new("harmless-signals")?;
    for start in [PLAINLY, WITH_SIGNALS_BLOCKED, WITH_SIGNALS_IGNORED] {
        for number in HARMLESS {
            let done = hooks.check(start, "PreToolUse", Doing::Waiting, &[number, number])?;
            assert_eq!(
                (done.code, done.stdout.as_str()),
                (Some(0), "answered"),
                "{start:?} {number}: {done:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_daemon_started_by_a_hook_with_signals_ignored_can_wait_for_its_programs() -> anyhow::Result<()> {
    let home = home("ignored-child");
    let mut command = home.command(Path::new("env"));
    command.arg("--ignore-signal").arg(home.bin().join("castellan-hook"));
    command.args(["--agent", "codex", "--event", "PreToolUse", "--home"]).arg(home.castellan());
    let payload = codex_bash("ls").to_string();
    let done = Running::start_with_input(&mut command, payload.as_bytes())?.finish(LIMIT)?;
    assert_eq!(understood(&done), "defer", "{done:?}");
    let status = home.run_castellan(&["status", "--json"])?.stdout;
    let pid = serde_json::from_str::<Json>(&status)?["pid"].clone();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).context("no SigIgn")?;
    let ignored = u64::from_str_radix(ignored.trim(), 16)?;
    assert_eq!(ignored & (1 << 16), 0, "the daemon ignores SIGCHLD: {ignored:x}");
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
    // The daemon removes it and continues.
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
    // With a file size limit of 0, writing the note ends the hook by a signal. The hook's answer goes through a pipe.
    let mut command = home.command(Path::new("prlimit"));
    command.args(["--fsize=0", "--core=0"]).arg(home.bin().join("castellan-hook"));
    command.args(["--agent", "codex", "--event", "PreToolUse", "--home"]).arg(home.castellan());
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("castellan blocked this: it is stopped"),
        "{output:?}"
    );
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
        assert_eq!(
            (done.code, done.stderr.contains("castellan blocked this")),
            (Some(2), true),
            "{redirect}: {done:?}"
        );
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
