//! Records of calls, and the log of a home, written with the daemon's own log crate.

use std::time::{Duration, SystemTime};

use castellan_audit::{CallRecord, Config, Log, Record};
use serde_json::json;

use crate::home::Home;

/// 2026-01-31T12:00:00Z in seconds.
pub(crate) const NOON: u64 = 1_769_860_800;

/// Returns the record of a command that Claude Code asked for.
pub(crate) fn call(command: &str, verdict: &str) -> CallRecord {
    CallRecord {
        event: "PreToolUse".into(),
        agent: "claude_code".into(),
        session_id: "s".into(),
        permission_mode: "default".into(),
        cwd: "/no/such/project".into(),
        workspace: "/no/such/project".into(),
        tool: "Bash".into(),
        tool_raw: "Bash".into(),
        input: json!({ "command": command }).into(),
        verdict: verdict.into(),
        answer: verdict.into(),
        ..CallRecord::default()
    }
}

/// Appends records to the log of castellan's home `dir`, the first at `first_s`, then one a minute.
pub(crate) fn write_log(home: &Home, dir: &str, first_s: u64, records: &[Record]) {
    let log = home.path(&format!("{dir}/state/log"));
    let log = Log::open(&log, Config::default(), SystemTime::UNIX_EPOCH).unwrap();
    for (minute, record) in (0..).zip(records) {
        log.append(record, SystemTime::UNIX_EPOCH + Duration::from_secs(first_s + 60 * minute)).unwrap();
    }
}
