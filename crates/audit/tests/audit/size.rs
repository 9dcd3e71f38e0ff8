//! Largest records: no call is so large that it is rejected, delays others or fills the log.

use std::fs;

use castellan_audit::{
    CallRecord, Config, ControlRecord, FailureRecord, FileRecord, Filter, FindingRecord, GapRecord,
    MarkRecord, ObligationRecord, Record, ScriptRecord, SessionRecord, Stream, UngovernedRecord, WorldRecord,
};
use serde_json::Value;

use crate::support::*;

/// Bytes of the longest possible line.
const LINE_MAX: usize = 272 * 1024;

/// Bytes of the longest possible string, as JSON writes it: cut, with its marker.
const STRING_MAX: usize = 4096 + 64 + "…[cut 1000000 bytes]".len();

/// Appends to a new log and returns the line.
fn line(record: &Record) -> String {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(record, at(1)).unwrap();
    dir.verified();
    let entry = dir.entries(&Filter::default()).pop().unwrap();
    assert_eq!(entry.record.kind(), record.kind());
    assert!(entry.line.len() <= LINE_MAX, "{} bytes: {:.200}", entry.line.len(), entry.line);
    entry.line
}

/// Calls `look` with every string, keys included.
fn for_each_string(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| for_each_string(item, look)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            look(key);
            for_each_string(value, look);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn finding_of(text: &str) -> FindingRecord {
    let t = || text.to_owned();
    FindingRecord { verdict: t(), code: t(), rule: t(), layer: t(), rows: t(), lifted: t(), message: t() }
}

fn obligation_of(text: &str) -> ObligationRecord {
    ObligationRecord { kind: text.to_owned(), detail: text.to_owned(), or_else: text.to_owned() }
}

fn script_of(text: &str) -> ScriptRecord {
    let t = || text.to_owned();
    ScriptRecord { path: t(), sha256: t(), found: t(), message: t() }
}

/// A record of each kind from outside, with `text` in every string. Lists every field, so that no new field is
/// forgotten.
fn full_of(text: &str, entries: usize) -> Vec<Record> {
    vec![
        call_of(text, entries),
        Record::Session(SessionRecord {
            event: text.into(),
            agent: text.into(),
            agent_pid: u32::MAX,
            session_id: text.into(),
            subagent_id: text.into(),
            cwd: text.into(),
            tool: text.into(),
            use_id: text.into(),
            message: text.into(),
            scripts: vec![script_of(text); entries],
        }),
        Record::Control(ControlRecord {
            action: text.into(),
            argument: text.into(),
            accepted: true,
            message: text.into(),
            peer_pid: u32::MAX,
            peer_uid: u32::MAX,
            call: u64::MAX,
            input_sha256: text.into(),
            files: text.into(),
        }),
        Record::Failure(FailureRecord {
            code: text.into(),
            message: text.into(),
            agent: text.into(),
            event: text.into(),
            peer_pid: u32::MAX,
            answer: text.into(),
        }),
        ungoverned_of(text, entries),
        Record::Gap(GapRecord {
            agent: text.into(),
            event: text.into(),
            count: u64::MAX,
            since: text.into(),
            message: text.into(),
        }),
    ]
}

fn call_of(text: &str, entries: usize) -> Record {
    let t = || text.to_owned();
    let file = FileRecord { path: t(), real_path: t(), op: t() };
    let asked = WorldRecord { query: t(), answer: t() };
    let finding = finding_of(text);
    Record::Call(CallRecord {
        correlation_id: u64::MAX,
        request: text.into(),
        event: text.into(),
        agent: text.into(),
        agent_pid: u32::MAX,
        run: u32::MAX,
        session_id: text.into(),
        subagent_id: text.into(),
        permission_mode: text.into(),
        cwd: text.into(),
        real_cwd: text.into(),
        workspace: text.into(),
        tool: text.into(),
        tool_raw: text.into(),
        use_id: text.into(),
        input: serde_json::json!({ text: vec![serde_json::json!({ text: text }); 2 * entries] }).into(),
        rewrite: text.into(),
        engine: text.into(),
        files: vec![file; entries],
        world: vec![asked; 2 * entries],
        findings: vec![finding; entries],
        obligations: vec![obligation_of(text); entries],
        marks: vec![MarkRecord { label: t() }; entries],
        verdict: text.into(),
        answer: text.into(),
        enforced: true,
        mode: text.into(),
        required_level: text.into(),
        active_level: text.into(),
        reason: text.into(),
        policy: text.into(),
        duration_us: u64::MAX,
    })
}

fn ungoverned_of(text: &str, entries: usize) -> Record {
    Record::Ungoverned(UngovernedRecord {
        why: text.into(),
        seen: text.into(),
        agent: text.into(),
        agent_pid: u32::MAX,
        session_id: text.into(),
        subagent_id: text.into(),
        cwd: text.into(),
        tool: text.into(),
        use_id: text.into(),
        input: serde_json::json!({ text: vec![serde_json::json!({ text: text }); 2 * entries] }).into(),
        file: text.into(),
        message: text.into(),
        action: text.into(),
        ceiling: text.into(),
    })
}

#[test]
fn every_string_of_every_record_is_cut() {
    for unit in ["x", "\u{1}", "\n", "ü", "token=a "] {
        for record in full_of(&unit.repeat(40_000 / unit.len()), 1) {
            let value: Value = serde_json::from_str(&line(&record)).unwrap();
            let mut cut = 0;
            for_each_string(&value, &mut |text| {
                let written = serde_json::to_string(text).unwrap().len() - 2;
                assert!(written <= STRING_MAX, "{unit:?}: {written} bytes");
                cut += usize::from(text.ends_with(" bytes]"));
            });
            assert!(cut >= 3, "{unit:?}: {cut} strings of a {} are cut", record.kind());
        }
    }
}

#[test]
fn no_call_makes_a_line_that_is_long() {
    // Sizes near the limits: a line is longest if each part just fits.
    for bytes in [1, 20, 100, 690, 1000, 3000, 4096, 10_000] {
        for unit in ["x", "\u{1}", "token=a ", "a://:b@"] {
            let text: String = unit.chars().cycle().take(bytes).collect();
            line(&full_of(&text, 512).swap_remove(0));
        }
    }
}

#[test]
fn a_list_that_is_too_long_ends_in_the_count_of_what_is_left_out() {
    let path = |index: usize| format!("/{index:04}/{}", "x".repeat(4000));
    let mut call = full_call();
    let expected = call.clone();
    call.files = (0..512)
        .map(|index| FileRecord { path: path(index), real_path: path(index), op: "update".into() })
        .collect();
    call.world = (0..1024)
        .map(|index| WorldRecord { query: format!("real_path {}", path(index)), answer: path(index) })
        .collect();
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&Record::Call(call.clone()), at(1)).unwrap();
    let Some(Record::Call(written)) = dir.entries(&Filter::default()).pop().map(|entry| entry.record) else {
        panic!("no call");
    };
    let (mark, files) = written.files.split_last().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(files, &call.files[..3]);
    assert_eq!(mark, &FileRecord { path: "…[cut 509 items]".into(), ..FileRecord::default() });
    let (mark, world) = written.world.split_last().unwrap();
    assert_eq!(world, &call.world[..world.len()]);
    assert_eq!(mark.answer, format!("…[cut {} items]", 1024 - world.len()));
    // The limits of these lists shorten no other field.
    assert_eq!(
        CallRecord { files: expected.files.clone(), world: expected.world.clone(), ..written },
        expected
    );
    assert!(fs::metadata(dir.live(Stream::Notable)).unwrap().len() < 112 * 1024);
}

#[test]
fn a_patch_of_a_hundred_files_is_recorded_whole() {
    let mut call = full_call();
    call.files = (0..100)
        .map(|index| FileRecord {
            path: format!("crates/daemon/src/some/module_{index}.rs"),
            real_path: format!("/home/u/project/crates/daemon/src/some/module_{index}.rs"),
            op: "update".into(),
        })
        .collect();
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&Record::Call(call.clone()), at(1)).unwrap();
    assert_eq!(dir.entries(&Filter::default()).pop().unwrap().record, Record::Call(call));
}

/// The parser's message quotes the contents of the file.
#[test]
fn a_record_of_the_log_itself_is_cut_too() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&call("allow"), at(1)).unwrap();
    drop(log);
    let hash = "x".repeat(32 << 10);
    fs::write(dir.path().join("head"), format!(r#"{{"v":1,"routine":{{"seq":1,"hash":"{hash}"}}}}"#))
        .unwrap();
    drop(dir.open(Config::default()));
    let entry = dir.entries(&Filter::default()).pop().unwrap();
    assert_eq!(entry.record.kind(), "recovery");
    assert!(entry.line.contains("is damaged: `xxx") && entry.line.len() < 8 * 1024, "{}", entry.line.len());
}

#[test]
fn a_head_of_any_size_is_damage_and_is_mended() {
    for bytes in [64 * 1024 + 1, 1 << 20, 20 << 30] {
        let dir = TestDir::new();
        let log = dir.open(Config::default());
        log.append(&call("allow"), at(1)).unwrap();
        drop(log);
        let head = dir.path().join("head");
        fs::File::create(&head).unwrap().set_len(bytes).unwrap();
        drop(dir.open(Config::default()));
        let entry = dir.entries(&Filter::default()).pop().unwrap();
        assert!(entry.line.contains("is damaged: it has more than 65536 bytes"), "{bytes}: {}", entry.line);
        assert_eq!(fs::metadata(&head).unwrap().len(), 320, "{bytes}");
    }
}

#[test]
fn a_segment_without_a_record_in_its_end_is_refused() {
    for name in ["notable.jsonl", "routine.jsonl", "notable.1.jsonl", "routine.1.jsonl"] {
        let dir = TestDir::new();
        let log = dir.open(Config::default());
        log.append(&call("allow"), at(1)).unwrap();
        drop(log);
        fs::File::create(dir.path().join(name)).unwrap().set_len(20 << 30).unwrap();
        let error = castellan_audit::Log::open(dir.path(), Config::default(), at(2)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("have no record: move it away"), "{error}");
    }
}
