//! Shared parts of the log's tests: a temporary directory and records.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castellan_audit::{
    CallRecord, Config, Entry, FileRecord, Filter, FindingRecord, Log, MarkRecord, ObligationRecord, Record,
    SessionRecord, Stream, Verification, WorldRecord, read, verify,
};

/// A log directory that does not exist yet, in a temporary one.
#[derive(Debug)]
pub(crate) struct TestDir {
    path: PathBuf,
    _parent: tempfile::TempDir,
}

impl TestDir {
    pub(crate) fn new() -> TestDir {
        let parent = tempfile::tempdir().unwrap();
        TestDir { path: parent.path().join("log"), _parent: parent }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open(&self, config: Config) -> Log {
        Log::open(&self.path, config, at(1)).unwrap()
    }

    pub(crate) fn live(&self, stream: Stream) -> PathBuf {
        self.path.join(format!("{stream}.jsonl"))
    }

    /// Closed segments, oldest first.
    pub(crate) fn closed(&self, stream: Stream) -> Vec<PathBuf> {
        let names =
            fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let number = |name: &str| -> Option<u64> {
            name.strip_prefix(stream.as_str())?.strip_prefix('.')?.strip_suffix(".jsonl")?.parse().ok()
        };
        let mut numbers: Vec<_> = names.filter_map(|name| number(&name)).collect();
        numbers.sort_unstable();
        numbers.iter().map(|number| self.path.join(format!("{stream}.{number}.jsonl"))).collect()
    }

    pub(crate) fn bytes(&self, stream: Stream) -> u64 {
        let files = self.closed(stream).into_iter().chain([self.live(stream)]);
        files.map(|file| fs::metadata(file).unwrap().len()).sum()
    }

    pub(crate) fn entries(&self, filter: &Filter) -> Vec<Entry> {
        let reading = read(&self.path, filter).unwrap();
        assert_eq!(reading.unreadable, []);
        reading.entries
    }

    /// Verifies, expecting success.
    pub(crate) fn verified(&self) -> Verification {
        let verification = verify(&self.path).unwrap();
        assert!(verification.ok(), "{verification:#?}");
        verification
    }

    /// Changes the lines of a file in place.
    pub(crate) fn edit(&self, file: &Path, change: impl FnOnce(&mut Vec<String>)) {
        let text = fs::read_to_string(file).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
}

/// Segments of a few records.
pub(crate) fn small() -> Config {
    Config {
        routine_segment_bytes: 2500,
        routine_segments: 2,
        notable_segment_bytes: 2500,
        ..Config::default()
    }
}

/// A day in the tests' calendar.
pub(crate) fn at(day: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs((20_500 + day) * 24 * 60 * 60)
}

pub(crate) fn call(verdict: &str) -> Record {
    numbered(verdict, 0)
}

pub(crate) fn numbered(verdict: &str, correlation_id: u64) -> Record {
    Record::Call(CallRecord { verdict: verdict.into(), correlation_id, ..CallRecord::default() })
}

pub(crate) fn with_text(verdict: &str, text: String) -> Record {
    let (verdict, input) = (verdict.to_owned(), serde_json::json!({ "command": text }));
    Record::Call(CallRecord { verdict: verdict.into(), input: input.into(), ..CallRecord::default() })
}

pub(crate) fn session(message: &str) -> Record {
    let (agent, message) = ("codex".to_owned(), message.to_owned());
    Record::Session(SessionRecord {
        agent: agent.into(),
        message: message.into(),
        ..SessionRecord::default()
    })
}

/// A call with every field set.
pub(crate) fn full_call() -> CallRecord {
    CallRecord {
        correlation_id: u64::MAX,
        request: "K7".into(),
        event: "PreToolUse".into(),
        agent: "claude_code".into(),
        agent_pid: 4711,
        run: 7,
        session_id: "s-1".into(),
        subagent_id: "a-2".into(),
        permission_mode: "default".into(),
        cwd: "/home/u/link".into(),
        real_cwd: "/home/u/project".into(),
        workspace: "/home/u/project".into(),
        tool: "Bash".into(),
        tool_raw: "bash_raw".into(),
        use_id: "toolu_1".into(),
        input:
            serde_json::json!({"command": "cat ~/.ssh/id_ed25519", "n": [1, 2.5, null, true], "ü\u{0}": "\n"})
                .into(),
        rewrite: "'/bin/castellan' contained k".into(),
        engine: "falco".into(),
        files: vec![FileRecord { path: "a".into(), real_path: "/home/u/a".into(), op: "update".into() }],
        world: vec![WorldRecord { query: "real_path a".into(), answer: "/home/u/a".into() }],
        findings: vec![FindingRecord {
            verdict: "deny".into(),
            code: "deny_rule".into(),
            rule: "Read an SSH key".into(),
            layer: "user".into(),
            rows: "0 2".into(),
            lifted: "grant".into(),
            message: "reads a private key".into(),
        }],
        obligations: vec![ObligationRecord {
            kind: "contain".into(),
            detail: "no-network".into(),
            or_else: "ask".into(),
        }],
        marks: vec![MarkRecord { label: "secret".into() }],
        verdict: "deny".into(),
        answer: "deny".into(),
        enforced: true,
        mode: "enforce".into(),
        required_level: "full-access".into(),
        active_level: "workspace-write".into(),
        reason: "Read an SSH key: reads a private key".into(),
        policy: "ab12".into(),
        duration_us: 812,
    }
}

pub(crate) fn deny_only() -> Filter {
    Filter { verdict: Some("deny".to_owned()), ..Filter::default() }
}

pub(crate) fn seqs(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq).collect()
}

pub(crate) fn correlation_id(entry: &Entry) -> Option<u64> {
    if let Record::Call(call) = &entry.record { Some(call.correlation_id) } else { None }
}
