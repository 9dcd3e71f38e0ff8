//! Traces of a crash, and their repair at the next start.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use castellan_audit::{Config, Filter, Log, Record, Stream, verify};

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

type Kinds = Vec<(u64, &'static str)>;
type Losses = Vec<(Stream, u64, u64)>;

/// Returns the kinds of all entries, and the stream and range of each loss in a recovery record.
fn entries_and_losses(dir: &TestDir) -> (Kinds, Losses) {
    let entries = dir.entries(&Filter::default());
    let mut losses = Losses::new();
    for entry in &entries {
        if let Record::Recovery(recovery) = &entry.record {
            assert!(recovery.lost, "{recovery:?}");
            losses.push((recovery.stream, recovery.after_seq, recovery.up_to_seq));
        }
    }
    (entries.iter().map(|entry| (entry.seq, entry.record.kind())).collect(), losses)
}

/// A log of one routine record (1) and one notable (2), changed by `damage`.
fn damaged(damage: impl Fn(&TestDir)) -> (TestDir, Log) {
    let dir = TestDir::new();
    let log = dir.open(Config::default());
    log.append(&call("allow"), at(1)).unwrap();
    log.append(&call("deny"), at(1)).unwrap();
    damage(&dir);
    (dir, log)
}

fn remove(dir: &TestDir, streams: &[Stream]) {
    for stream in streams {
        fs::remove_file(dir.live(*stream)).unwrap();
    }
}

#[test]
fn no_record_goes_to_a_file_that_someone_removed() {
    let (routine, notable) = ((Stream::Routine, 0, 1), (Stream::Notable, 0, 2));
    let (dir, log) = damaged(|dir| remove(dir, &[Stream::Routine]));
    assert_eq!(log.append(&call("allow"), at(2)).unwrap(), 4);
    assert_eq!(entries_and_losses(&dir), (vec![(2, "call"), (3, "recovery"), (4, "call")], vec![routine]));

    let (dir, log) = damaged(|dir| remove(dir, &[Stream::Notable]));
    assert_eq!(log.append(&call("deny"), at(2)).unwrap(), 4);
    assert_eq!(entries_and_losses(&dir), (vec![(1, "call"), (3, "recovery"), (4, "call")], vec![notable]));

    let (dir, log) = damaged(|dir| remove(dir, &Stream::ALL));
    assert_eq!(log.append(&call("allow"), at(2)).unwrap(), 5);
    let kinds = vec![(3, "recovery"), (4, "recovery"), (5, "call")];
    assert_eq!(entries_and_losses(&dir), (kinds, vec![routine, notable]));
    let verification = verify(dir.path()).unwrap();
    assert_eq!((verification.missing.len(), verification.losses.len()), (0, 2), "{verification:#?}");

    // Later appends find no damage.
    log.append(&call("allow"), at(2)).unwrap();
    log.maintain(at(2)).unwrap();
    assert_eq!(log.status().last_seq, 6);
}

#[test]
fn a_file_in_place_of_a_live_segment_is_moved_aside() {
    let (dir, log) = damaged(|dir| {
        remove(dir, &[Stream::Routine]);
        fs::write(dir.live(Stream::Routine), "an edited copy\n").unwrap();
    });
    log.append(&call("allow"), at(2)).unwrap();
    let kinds = vec![(2, "call"), (3, "recovery"), (4, "call")];
    assert_eq!(entries_and_losses(&dir), (kinds, vec![(Stream::Routine, 0, 1)]));
    assert_eq!(fs::read_to_string(dir.path().join("routine.jsonl.replaced")).unwrap(), "an edited copy\n");
}

#[test]
fn damage_that_could_not_be_recorded_is_recorded_by_the_next_append() {
    let (dir, log) = damaged(|dir| fs::remove_dir_all(dir.path()).unwrap());
    log.append(&call("allow"), at(2)).unwrap_err();
    log.append(&call("deny"), at(2)).unwrap_err();
    fs::create_dir(dir.path()).unwrap();
    log.append(&call("allow"), at(2)).unwrap();
    let kinds = vec![(3, "recovery"), (4, "recovery"), (5, "call")];
    assert_eq!(entries_and_losses(&dir), (kinds, vec![(Stream::Routine, 0, 1), (Stream::Notable, 0, 2)]));
}
