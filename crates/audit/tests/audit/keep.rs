//! Retention and deletion, with a test clock.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use castellan_audit::{Config, Filter, Record, Stream};

use crate::support::*;

#[test]
fn rotation_keeps_the_number_of_closed_segments_and_explains_the_rest() {
    let dir = TestDir::new();
    let log = dir.open(small());
    for _ in 0..60 {
        log.append(&call("allow"), at(1)).unwrap();
    }
    let closed = dir.closed(Stream::Routine);
    assert_eq!(closed.len(), 2, "{closed:?}");
    let retentions = dir.entries(&Filter::default()).into_iter().filter_map(|entry| {
        if let Record::Retention(retention) = entry.record { Some(retention.file) } else { None }
    });
    let deleted: Vec<_> = retentions.collect();
    assert!(deleted.len() > 3, "{deleted:?}");
    assert!(deleted.iter().all(|file| !dir.path().join(file.as_str()).exists()));
    let verification = dir.verified();
    assert_eq!(verification.routine.segments, 3);
    assert_eq!(log.status().last_seq, 60 + u64::try_from(deleted.len()).unwrap());
}

#[test]
fn notable_segments_are_kept_for_their_days() {
    let dir = TestDir::new();
    let log = dir.open(small());
    for _ in 0..10 {
        log.append(&call("deny"), at(0)).unwrap();
    }
    let before = dir.closed(Stream::Notable).len();
    assert!(before > 1);
    log.maintain(at(90)).unwrap();
    assert_eq!(dir.closed(Stream::Notable).len(), before);
    log.maintain(UNIX_EPOCH).unwrap();
    assert_eq!(dir.closed(Stream::Notable).len(), before, "a clock that went back deletes nothing");
    log.maintain(at(90) + Duration::from_secs(1)).unwrap();
    // The retention records themselves are young and may fill segments.
    let oldest = dir.entries(&Filter::default()).into_iter().find(|entry| entry.time == at(0));
    assert!(
        oldest
            .is_none_or(|entry| fs::read_to_string(dir.live(Stream::Notable)).unwrap().contains(&entry.line))
    );
    dir.verified();
}

#[test]
fn a_full_notable_stream_is_reported_and_deleted_only_at_twice_its_size() {
    let dir = TestDir::new();
    let log = dir.open(Config { notable_bytes: 20_000, ..small() });
    let mut appended = 0;
    while !log.status().limit_reached {
        assert!(dir.bytes(Stream::Notable) < 20_000);
        appended += 1;
        log.append(&call("deny"), at(1)).unwrap();
    }
    let denies = || dir.entries(&deny_only()).len();
    assert_eq!(denies(), appended, "nothing is deleted at the limit");
    while dir.bytes(Stream::Notable) < 39_000 {
        appended += 1;
        assert!(appended < 200, "the stream does not grow");
        log.append(&call("deny"), at(1)).unwrap();
    }
    assert_eq!(denies(), appended, "nothing is deleted below twice the limit");
    for _ in 0..60 {
        log.append(&call("deny"), at(1)).unwrap();
        assert!(dir.bytes(Stream::Notable) <= 40_000 + 2_000);
    }
    assert!(denies() < appended + 60);
    assert!(log.status().limit_reached);
    dir.verified();
}

#[test]
fn retention_of_one_stream_still_explains_the_other() {
    let dir = TestDir::new();
    let log = dir.open(small());
    for _ in 0..40 {
        log.append(&call("allow"), at(0)).unwrap();
    }
    // Pushes the records about deleted routine segments out of the notable stream.
    for day in [0, 100, 200] {
        for _ in 0..20 {
            log.append(&call("deny"), at(day)).unwrap();
        }
        log.maintain(at(day)).unwrap();
    }
    assert!(
        dir.entries(&Filter::default())
            .iter()
            .all(|entry| entry.time > at(0) || entry.stream == Stream::Routine)
    );
    dir.verified();
}
