//! Measures the cost of one append: `cargo run --release -p castellan-audit --example append_cost`.

use std::path::Path;
use std::time::{Instant, SystemTime};

use castellan_audit::{CallRecord, Config, FileRecord, FindingRecord, Log, Record, WorldRecord};

const APPENDS: usize = 50_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, verdict, command) in [
        ("allowed, short command", "allow", "cargo test --workspace".to_owned()),
        ("denied, 1 KiB command", "deny", "echo some words of a command; ".repeat(34)),
        ("allowed, with a secret", "allow", "PGPASSWORD=hunter2 psql -h db -c 'select 1'".to_owned()),
        ("allowed, 4 KiB cut from 64 KiB", "allow", "echo some words of a command; ".repeat(2200)),
        ("allowed, nothing but secrets", "allow", "password=a token=b ".repeat(4000)),
    ] {
        let dir = tempfile::tempdir()?;
        let log = Log::open(dir.path(), Config::default(), SystemTime::now())?;
        let record = record(verdict, command);
        let mut nanos = Vec::with_capacity(APPENDS);
        for _ in 0..APPENDS {
            let start = Instant::now();
            log.append(&record, SystemTime::now())?;
            nanos.push(start.elapsed().as_nanos());
        }
        nanos.sort_unstable();
        let microseconds = |share: usize| {
            let index = APPENDS.saturating_mul(share) / 1000;
            nanos.get(index).copied().unwrap_or_default() / 100
        };
        let show = |tenths: u128| format!("{}.{} µs", tenths / 10, tenths % 10);
        let bytes = log_bytes(dir.path())? / u64::try_from(APPENDS)?;
        let (p50, p99, p999) = (show(microseconds(500)), show(microseconds(990)), show(microseconds(999)));
        println!("{name}: p50 {p50}, p99 {p99}, p99.9 {p999} ({bytes} bytes on average that are kept)");
    }
    Ok(())
}

fn log_bytes(dir: &Path) -> std::io::Result<u64> {
    std::fs::read_dir(dir)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

fn record(verdict: &str, command: String) -> Record {
    let text = |text: &str| text.to_owned();
    Record::Call(CallRecord {
        correlation_id: 81_985_529_216_486_895,
        event: "PreToolUse".into(),
        agent: "claude_code".into(),
        agent_pid: 4711,
        run: 7,
        session_id: "0b6f1c1e-6ef3-4d1c-9d35-3d1f4d1d6d11".into(),
        permission_mode: "default".into(),
        cwd: "/home/user/project".into(),
        real_cwd: "/home/user/project".into(),
        workspace: "/home/user/project".into(),
        tool: "Bash".into(),
        tool_raw: "Bash".into(),
        use_id: "toolu_01ABCDEFGHIJKLMNOPQRSTUV".into(),
        input: serde_json::json!({"command": command, "description": "Runs the tests of the workspace"})
            .into(),
        files: vec![FileRecord {
            path: text("src/lib.rs"),
            real_path: text("/home/user/project/src/lib.rs"),
            op: text(""),
        }],
        world: vec![WorldRecord {
            query: text("real_path src/lib.rs"),
            answer: text("/home/user/project/src/lib.rs"),
        }],
        findings: vec![FindingRecord {
            verdict: text(verdict),
            code: text("deny_rule"),
            rule: text("Delete recursively at the root"),
            layer: text("user"),
            rows: text("0"),
            lifted: text(""),
            message: text("would remove every file of the system"),
        }],
        verdict: verdict.into(),
        answer: verdict.into(),
        enforced: true,
        mode: "enforce".into(),
        reason: "Delete recursively at the root: would remove every file of the system".into(),
        policy: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
        duration_us: 812,
        ..CallRecord::default()
    })
}
