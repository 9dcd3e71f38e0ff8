//! Calls of megabytes: their total memory, and the memory left after them.

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::Running;
use castellan_tests::wait::until;
use rustix::process::Pid;
use serde_json::{Value as Json, json};

use super::{LIMIT, status};

/// Bytes of a payload just below the limit.
const LARGE: usize = 8_000_000;

/// Limit of the daemon's peak above its memory at rest: the shared limit of payloads in flight, plus the payload being
/// read and the stored part of each call.
const SHARED_KIB_MAX: u64 = 128 << 10;

/// Limit of the daemon's additional memory after the calls.
const LEFT_KIB_MAX: u64 = 10 << 10;

/// Returns a field of `/proc/PID/status`, in KiB.
fn memory_kib(process: Pid, field: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).context("no such field")?;
    Ok(line.trim_start_matches(':').trim().trim_end_matches(" kB").parse()?)
}

/// Returns calls of megabytes, one for each path through the daemon.
fn large_calls() -> Vec<Json> {
    let text = "a line of text\n".repeat(LARGE / 16);
    let numbers: Vec<u32> = (0..LARGE as u32 / 8).map(|number| number % 10).collect();
    vec![
        hook::call("Write", &json!({ "file_path": "/nowhere/file", "content": text })),
        hook::call("Write", &json!({ "file_path": "/nowhere/file.py", "content": text })),
        bash(&format!("cat > x <<'E'\n{text}\nE")),
        bash(&"ls; ".repeat(LARGE / 4)),
        hook::call("Edit", &json!({ "file_path": "/nowhere/x", "old_string": "a", "new_string": text })),
        hook::call("Unknown", &json!({ "numbers": numbers })),
        hook::call("mcp__a__b", &json!({ "text": text })),
        hook::call("Grep", &json!({ "pattern": text })),
    ]
}

#[test]
fn large_payloads_share_memory_and_give_it_back() -> anyhow::Result<()> {
    let home = Home::with_castellan("payloads", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    // Data loaded with the first call stays.
    for call in [bash("ls"), hook::call("Write", &json!({ "file_path": "/x.py", "content": "x = 1" }))] {
        judge(&home, &call)?;
    }
    let before = memory_kib(daemon, "VmRSS")?;
    for at_a_time in [12, 32] {
        let calls = large_calls();
        let start = |number: usize| {
            let payload = calls[number % calls.len()].to_string();
            Running::start_with_input(&mut hook::command(&home, "claude", "PreToolUse"), payload.as_bytes())
        };
        let running: Vec<Running> = (0..at_a_time).map(start).collect::<anyhow::Result<_>>()?;
        // A small call does not wait for them.
        assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
        for hook in running {
            let answer = understood(&hook.finish(hook::HOOK_LIMIT)?);
            assert!(["deny", "ask", "defer"].contains(&answer.as_str()), "{answer}");
        }
        // The daemon may still be judging calls whose hook has timed out.
        let is_small = || Ok((memory_kib(daemon, "VmRSS")? <= before + LEFT_KIB_MAX).then_some(()));
        let given_back = until(LIMIT, is_small)?;
        let (now, peak) = (memory_kib(daemon, "VmRSS")?, memory_kib(daemon, "VmHWM")?);
        assert!(given_back.is_some(), "{at_a_time} at a time: {now} KiB after, {before} before");
        assert!(
            peak <= before + SHARED_KIB_MAX,
            "{at_a_time} at a time: {peak} KiB at the peak, {before} before"
        );
    }
    assert_eq!(status(&home)["pid"], daemon.as_raw_nonzero().get());
    Ok(())
}
