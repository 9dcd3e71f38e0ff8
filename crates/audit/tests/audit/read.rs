//! Reading, filtering and following, also beside a writer.

use std::fs;
use std::path::Path;

use castellan_audit::{
    CallRecord, Config, ControlRecord, Filter, FindingRecord, Follower, Record, Stream, calls_since,
    last_files, read,
};
use serde_json::Value as Json;

use crate::support::*;

#[test]
fn a_follower_sees_every_line_once_across_rotations() {
    let dir = TestDir::new();
    let log = dir.open(Config { routine_segments: 1000, ..small() });
    log.append(&call("allow"), at(1)).unwrap();
    let mut from_now = Follower::new(dir.path(), true).unwrap();
    let mut from_start = Follower::new(dir.path(), false).unwrap();
    assert_eq!(seqs(&from_now.next_entries().unwrap()), [0u64; 0]);
    assert_eq!(seqs(&from_start.next_entries().unwrap()), [1]);
    let mut next = 2;
    // Steps within a segment, over one end and over many.
    for step in [1, 2, 1, 9, 40, 0, 1] {
        for index in 0..step {
            log.append(&call(if index % 3 == 0 { "deny" } else { "allow" }), at(1)).unwrap();
        }
        let expected: Vec<_> = (next..next + step).collect();
        assert_eq!(seqs(&from_now.next_entries().unwrap()), expected);
        assert_eq!(seqs(&from_start.next_entries().unwrap()), expected);
        next += step;
    }
    assert!(dir.closed(Stream::Routine).len() > 5);
}

/// Checks which files the last control record names, after `damage`.
fn check_files(records: &[(&str, &str)], damage: impl FnOnce(&TestDir), expected: Option<&str>) {
    let dir = TestDir::new();
    let log = dir.open(small());
    for (action, files) in records {
        let control =
            ControlRecord { action: (*action).into(), files: (*files).into(), ..Default::default() };
        log.append(&Record::Control(control), at(1)).unwrap();
        // More than a segment holds.
        for _ in 0..10 {
            log.append(&call("deny"), at(1)).unwrap();
        }
    }
    damage(&dir);
    assert_eq!(last_files(dir.path()).unwrap().as_deref(), expected, "{records:?}");
}

#[test]
fn the_files_of_the_last_control_record_that_names_any_are_found() {
    let keep = |_: &TestDir| ();
    check_files(&[], keep, None);
    check_files(&[("stop", "")], keep, None);
    check_files(&[("start", "a"), ("apply", "b")], keep, Some("b"));
    check_files(&[("start", "a"), ("apply", "b"), ("mode", ""), ("stop", "")], keep, Some("b"));
    // A call's contents are no control record, and a line that is too long hides none.
    let more = |dir: &TestDir| {
        let forged = r#"{"v":2,"type":"call","seq":1,"call":{"files":"x"},"control":{"files":"x"}}"#;
        let live = dir.live(Stream::Notable);
        let text = fs::read_to_string(&live).unwrap();
        fs::write(&live, format!("{forged}\n{}\n{text}", "x".repeat(5_000_000))).unwrap();
    };
    check_files(&[("start", "a"), ("apply", "b")], more, Some("b"));
    let dir = TestDir::new();
    assert!(last_files(&dir.path().join("none")).is_err());
}

#[test]
fn a_follower_beside_a_writer_loses_and_repeats_nothing() {
    const APPENDS: u64 = 2000;
    let dir = TestDir::new();
    let log = dir.open(Config { routine_segments: 1000, ..small() });
    let mut follower = Follower::new(dir.path(), true).unwrap();
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..APPENDS {
                log.append(&call("allow"), at(1)).unwrap();
            }
        });
        while !writer.is_finished() {
            seen.extend(seqs(&follower.next_entries().unwrap()));
        }
    });
    seen.extend(seqs(&follower.next_entries().unwrap()));
    assert_eq!(seen, (1..=APPENDS).collect::<Vec<_>>());
}

#[test]
fn filters_select_and_the_limit_takes_the_last() {
    let dir = TestDir::new();
    let log = dir.open(Config { routine_segments: 1000, ..small() });
    for index in 0..30 {
        log.append(&numbered("allow", index), at(1)).unwrap();
    }
    log.append(&Record::Call(full_call()), at(2)).unwrap();
    log.append(&session("hello"), at(3)).unwrap();
    let check = |filter: Filter, expected: &[u64]| {
        assert_eq!(seqs(&dir.entries(&filter)), expected, "{filter:?}");
    };
    let word = |word: &str| Some(word.to_owned());
    check(Filter { verdict: word("deny"), ..Filter::default() }, &[31]);
    check(Filter { verdict: word("allow"), limit: Some(3), ..Filter::default() }, &[28, 29, 30]);
    check(Filter { limit: Some(3), ..Filter::default() }, &[30, 31, 32]);
    check(Filter { limit: Some(0), ..Filter::default() }, &[]);
    check(Filter { rule: word("SSH KEY"), ..Filter::default() }, &[31]);
    check(Filter { tool: word("Bash"), ..Filter::default() }, &[31]);
    check(Filter { tool: word("bash_RAW"), ..Filter::default() }, &[31]);
    check(Filter { request: word("K7"), ..Filter::default() }, &[31]);
    check(Filter { request: word("k7"), ..Filter::default() }, &[31]);
    check(Filter { request: word("K"), ..Filter::default() }, &[]);
    check(Filter { session: word("s-1"), ..Filter::default() }, &[31]);
    check(Filter { agent: word("codex"), ..Filter::default() }, &[32]);
    check(Filter { since: Some(at(2)), until: Some(at(3)), ..Filter::default() }, &[31]);
    let without_events = Filter { without_events: true, since: Some(at(2)), ..Filter::default() };
    check(without_events.clone(), &[31]);
    log.append(&session("trust_required /work"), at(4)).unwrap();
    check(without_events, &[31, 33]);
}

#[test]
fn a_line_that_is_not_understood_is_told_and_the_others_are_read() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    for _ in 0..3 {
        log.append(&call("allow"), at(1)).unwrap();
    }
    dir.edit(&dir.live(Stream::Routine), |lines| lines[2] = lines[2].replace("\"v\":2", "\"v\":3"));
    let reading = read(dir.path(), &Filter::default()).unwrap();
    assert_eq!(seqs(&reading.entries), [1, 3]);
    assert_eq!(reading.unreadable.len(), 1);
    assert_eq!((reading.unreadable[0].file.as_str(), reading.unreadable[0].line), ("routine.jsonl", 3));
}

/// Older records have no marks, and their findings have no layer and rows: these read as empty.
#[test]
fn a_call_without_the_newer_keys_is_read() {
    let old =
        r#"{"verdict":"deny","findings":[{"verdict":"deny","code":"deny_rule","rule":"r","message":"m"}]}"#;
    let call: CallRecord = serde_json::from_str(old).unwrap();
    let finding = FindingRecord {
        verdict: "deny".into(),
        code: "deny_rule".into(),
        rule: "r".into(),
        message: "m".into(),
        ..FindingRecord::default()
    };
    assert_eq!(call, CallRecord { verdict: "deny".into(), findings: vec![finding], ..CallRecord::default() });
}

/// Returns the numbers of the calls since a time in the newest bytes, and whether these are all.
fn recent(dir: &TestDir, since: u64, bytes: u64) -> (Vec<u64>, bool) {
    let mut numbers = Vec::new();
    let is_whole = calls_since(dir.path(), at(since), bytes, |seq, _, _| numbers.push(seq)).unwrap();
    numbers.sort_unstable();
    (numbers, is_whole)
}

#[test]
fn only_the_newest_bytes_are_searched_for_calls() {
    let dir = TestDir::new();
    let log = dir.open(Config { routine_segments: 1000, ..small() });
    for second in 1..=60 {
        log.append(&call(if second % 3 == 0 { "deny" } else { "allow" }), at(second)).unwrap();
    }
    assert!(dir.closed(Stream::Routine).len() > 3);
    let whole = u64::MAX;
    assert_eq!(recent(&dir, 0, whole), ((1..=60).collect(), true));
    assert_eq!(recent(&dir, 31, whole), ((31..=60).collect(), true));
    assert_eq!(recent(&dir, 61, whole), (Vec::new(), true));
    // Enough for the newest calls, so the time decides.
    assert_eq!(recent(&dir, 59, 4096), (vec![59, 60], true));
    let (found, is_whole) = recent(&dir, 0, 4096);
    assert!(!is_whole && found.len() < 60 && found.last() == Some(&60), "{found:?}");
}

/// A log written by castellan 0.1.0: it is read, its chain verifies, and the present daemon continues it.
#[test]
fn a_log_of_the_version_before_is_read_verified_and_gone_on_with() {
    let dir = TestDir::new();
    fs::create_dir(dir.path()).unwrap();
    for name in ["head", "routine.jsonl", "notable.jsonl"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit/version1").join(name);
        fs::copy(from, dir.path().join(name)).unwrap();
    }
    dir.verified();
    let numbers = || dir.entries(&Filter::default()).iter().filter_map(correlation_id).collect::<Vec<_>>();
    assert_eq!(numbers(), [u64::MAX, 81_985_529_216_486_895]);
    let answer = castellan_audit::answer_to(dir.path(), "claude_code", "s-1", "toolu_1").unwrap();
    assert_eq!(answer.as_deref(), Some("deny"));
    let log = dir.open(Config::default());
    log.append(&numbered("deny", u64::MAX - 1), at(9)).unwrap();
    drop(log);
    dir.verified();
    assert_eq!(numbers(), [u64::MAX, 81_985_529_216_486_895, u64::MAX - 1]);
    let entries = dir.entries(&Filter::default());
    let Record::Control(control) = &entries[2].record else { panic!("{entries:?}") };
    assert_eq!(control.call, u64::MAX);
}

/// No number of a record is one that `jq` or JavaScript would round.
#[test]
fn what_may_need_more_than_53_bits_is_a_string() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&Record::Call(full_call()), at(1)).unwrap();
    let approved = ControlRecord { call: u64::MAX, ..ControlRecord::default() };
    log.append(&Record::Control(approved), at(2)).unwrap();
    log.append(&Record::Control(ControlRecord::default()), at(3)).unwrap();
    let entries = dir.entries(&Filter::default());
    let lines: Vec<Json> = entries.iter().map(|entry| serde_json::from_str(&entry.line).unwrap()).collect();
    assert_eq!(lines[0]["call"]["correlation_id"], "18446744073709551615");
    assert_eq!(lines[1]["control"]["call"], "18446744073709551615");
    assert_eq!(lines[2]["control"]["call"], "");
}
