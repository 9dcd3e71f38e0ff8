//! What a crash leaves behind, and what the next start makes of it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use castellan_audit::{Config, Filter, Record, Stream, verify};

use crate::support::*;

#[test]
fn numbers_and_chains_go_on_after_a_reopen() {
    let dir = TestDir::new();
    for round in 0..3 {
        let log = dir.open(small());
        assert_eq!(log.append(&call("allow"), at(1)).unwrap(), 2 * round + 1);
        assert_eq!(log.append(&call("deny"), at(1)).unwrap(), 2 * round + 2);
    }
    assert_eq!(dir.verified().routine.segments, 1);
}

#[test]
fn an_unfinished_last_line_is_cut_off_and_recorded() {
    let dir = TestDir::new();
    for stream in Stream::ALL {
        let log = dir.open(Config::default());
        log.append(&call("allow"), at(1)).unwrap();
        log.append(&call("deny"), at(1)).unwrap();
        drop(log);
        let mut file = OpenOptions::new().append(true).open(dir.live(stream)).unwrap();
        file.write_all(br#"{"v":1,"type":"call","se"#).unwrap();
        assert!(!verify(dir.path()).unwrap().ok());
        drop(dir.open(Config::default()));
        let last = dir.entries(&Filter::default()).pop().unwrap();
        let Record::Recovery(recovery) = last.record else { panic!("{last:?}") };
        assert_eq!((recovery.stream, recovery.cut_bytes, recovery.lost), (stream, 24, false));
        dir.verified();
    }
}

#[test]
fn a_segment_without_a_finished_anchor_is_begun_again() {
    let dir = TestDir::new();
    drop(dir.open(Config::default()));
    let anchor = fs::read(dir.live(Stream::Routine)).unwrap();
    for keep in [0, 1, anchor.len() - 1] {
        fs::write(dir.live(Stream::Routine), &anchor[..keep]).unwrap();
        let log = dir.open(Config::default());
        log.append(&call("allow"), at(1)).unwrap();
        drop(log);
        assert_eq!(verify(dir.path()).unwrap().routine.broken, None);
        assert_eq!(fs::read_to_string(dir.live(Stream::Routine)).unwrap().lines().count(), 2);
    }
}

#[test]
fn lines_lost_by_a_crash_of_the_machine_are_recorded_and_their_numbers_not_used_again() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    for _ in 0..5 {
        log.append(&call("allow"), at(1)).unwrap();
    }
    drop(log);
    dir.edit(&dir.live(Stream::Routine), |lines| lines.truncate(4));
    let log = dir.open(Config::default());
    assert_eq!(log.append(&call("allow"), at(1)).unwrap(), 7);
    let verification = verify(dir.path()).unwrap();
    assert_eq!(verification.missing, []);
    assert_eq!(verification.losses.len(), 1);
    assert_eq!((verification.losses[0].after_seq, verification.losses[0].up_to_seq), (3, 5));
    assert!(!verification.ok());
}

#[test]
fn a_live_segment_that_someone_removed_is_noticed_and_begun_again() {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&call("allow"), at(1)).unwrap();
    fs::remove_file(dir.live(Stream::Routine)).unwrap();
    log.maintain(at(2)).unwrap();
    log.append(&call("allow"), at(2)).unwrap();
    let kinds: Vec<_> =
        dir.entries(&Filter::default()).iter().map(|entry| (entry.seq, entry.record.kind())).collect();
    assert_eq!(kinds, [(2, "recovery"), (3, "call")]);
    assert!(!verify(dir.path()).unwrap().ok());
}
