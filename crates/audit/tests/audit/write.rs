//! Writing: streams, secrets, modes, locks, threads.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use castellan_audit::{AuditError, Config, Filter, Log, Record, ScriptRecord, SessionRecord, Stream};

use crate::support::*;

#[test]
fn a_record_reads_back_as_it_was_appended() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    let call = full_call();
    assert_eq!(log.append(&Record::Call(call.clone()), at(1)).unwrap(), 1);
    let entries = dir.entries(&Filter::default());
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].seq, entries[0].time, entries[0].stream), (1, at(1), Stream::Notable));
    assert_eq!(entries[0].record, Record::Call(call));
    assert!(
        entries[0].line.starts_with(r#"{"v":2,"type":"call","seq":1,"time":"2026-"#),
        "{}",
        entries[0].line
    );
}

#[test]
fn secrets_do_not_reach_the_file() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    let mut call = full_call();
    call.input =
        serde_json::json!({"command": "mysql --password hunter2", "env": {"API_TOKEN": "hunter2"}}).into();
    call.reason = "deny: PGPASSWORD=hunter2".into();
    call.findings[0].message = "https://me:hunter2@host".to_owned();
    call.world[0].answer = "token=hunter2".to_owned();
    log.append(&Record::Call(call), at(1)).unwrap();
    log.append(&session("the token is xoxb-1234567890-hunter2"), at(1)).unwrap();
    for stream in Stream::ALL {
        let text = fs::read_to_string(dir.live(stream)).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("[redacted "), "{text}");
    }
}

#[test]
fn every_verdict_and_kind_has_its_stream() {
    let check = |record: Record, expected: Stream| assert_eq!(record.stream(), expected, "{record:?}");
    for (verdict, stream) in [
        ("allow", Stream::Routine),
        ("defer", Stream::Routine),
        ("ask", Stream::Notable),
        ("deny", Stream::Notable),
        ("", Stream::Notable),
        ("Allow", Stream::Notable),
    ] {
        check(call(verdict), stream);
    }
    check(session("x"), Stream::Routine);
    let scripts = vec![ScriptRecord::default()];
    check(Record::Session(SessionRecord { scripts, ..Default::default() }), Stream::Notable);
    check(Record::Control(Default::default()), Stream::Notable);
    check(Record::Failure(Default::default()), Stream::Notable);
    check(Record::Ungoverned(Default::default()), Stream::Notable);
    check(Record::Gap(Default::default()), Stream::Notable);
}

#[test]
fn files_are_for_the_user_alone() {
    let dir = TestDir::new();
    fs::create_dir(dir.path()).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let log = dir.open(small());
    for _ in 0..10 {
        log.append(&call("allow"), at(1)).unwrap();
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(dir.path()), 0o700);
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 4);
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_symbolic_link_in_place_of_a_segment_is_not_followed() {
    let dir = TestDir::new();
    drop(dir.open(Config::default()));
    let target = dir.path().join("target");
    fs::rename(dir.live(Stream::Routine), &target).unwrap();
    std::os::unix::fs::symlink(&target, dir.live(Stream::Routine)).unwrap();
    assert!(matches!(Log::open(dir.path(), Config::default(), at(1)), Err(AuditError::Io { .. })));
}

#[test]
fn a_second_writer_is_refused() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    assert!(matches!(Log::open(dir.path(), Config::default(), at(1)), Err(AuditError::Locked { .. })));
    drop(log);
    drop(dir.open(Config::default()));
}

#[test]
fn no_line_of_many_threads_is_torn_or_lost() {
    const THREADS: u64 = 8;
    const APPENDS: u64 = 500;
    let dir = TestDir::new();
    let log = dir.open(Config { routine_segments: 10_000, ..small() });
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let log = &log;
            scope.spawn(move || {
                for index in 0..APPENDS {
                    let verdict = if index % 5 == 0 { "deny" } else { "allow" };
                    log.append(&numbered(verdict, thread * APPENDS + index), at(1)).unwrap();
                }
            });
        }
    });
    let entries = dir.entries(&Filter::default());
    let seqs: Vec<_> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..=THREADS * APPENDS).collect::<Vec<_>>());
    let mut ids: Vec<_> = entries.iter().filter_map(correlation_id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..THREADS * APPENDS).collect::<Vec<_>>());
    dir.verified();
}

#[test]
fn a_closed_log_writes_nothing_and_can_be_opened_by_another() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&call("defer"), at(1)).unwrap();
    log.close().unwrap();
    assert!(matches!(log.append(&call("defer"), at(2)), Err(AuditError::Closed { .. })));
    assert!(matches!(log.maintain(at(2)), Err(AuditError::Closed { .. })));
    let other = dir.open(Config::default());
    assert_eq!(other.append(&call("defer"), at(3)).unwrap(), 2);
    drop(log);
    assert!(matches!(Log::open(dir.path(), Config::default(), at(4)), Err(AuditError::Locked { .. })));
    drop(other);
    dir.verified();
}
