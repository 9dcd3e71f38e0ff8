//! Changes by other programs that `verify` reports.

use std::fs;

use castellan_audit::{Stream, Verification, verify};

use crate::support::*;

/// A log with several segments in both streams, none deleted.
fn written() -> TestDir {
    let dir = TestDir::new();
    let log = dir.open(castellan_audit::Config { routine_segments: 100, ..small() });
    for index in 0..40 {
        log.append(&call(if index % 2 == 0 { "deny" } else { "allow" }), at(1)).unwrap();
    }
    drop(log);
    dir.verified();
    assert!(dir.closed(Stream::Routine).len() > 2 && dir.closed(Stream::Notable).len() > 2);
    dir
}

/// Changes a log and expects the routine stream to be broken at a file and line, for a reason that contains `what`.
fn check(change: impl FnOnce(&TestDir), file: impl FnOnce(&TestDir) -> String, line: u64, what: &str) {
    let dir = written();
    let file = file(&dir);
    change(&dir);
    let verification = verify(dir.path()).unwrap();
    let broken =
        verification.routine.broken.clone().unwrap_or_else(|| panic!("not noticed: {verification:#?}"));
    assert_eq!((broken.file, broken.line), (file, line), "{}", broken.what);
    assert!(broken.what.contains(what), "{}", broken.what);
    assert!(!verification.ok());
    assert_eq!(verification.notable.broken, None);
}

fn closed_name(index: usize) -> impl FnOnce(&TestDir) -> String {
    move |dir| dir.closed(Stream::Routine)[index].file_name().unwrap().to_str().unwrap().to_owned()
}

fn live_name(_: &TestDir) -> String {
    "routine.jsonl".to_owned()
}

/// Changes the lines of a closed routine segment.
fn edit(index: usize, change: impl FnOnce(&mut Vec<String>)) -> impl FnOnce(&TestDir) {
    move |dir| dir.edit(&dir.closed(Stream::Routine)[index], change)
}

const BEFORE: &str = "the previous line was changed, moved or removed";

#[test]
fn a_changed_byte() {
    let change = |lines: &mut Vec<String>| {
        lines[1] = lines[1].replace("\"verdict\":\"allow\"", "\"verdict\":\"defer\"")
    };
    check(edit(1, change), closed_name(1), 3, BEFORE);
}

#[test]
fn a_changed_anchor() {
    check(edit(1, |lines| lines[0] = lines[0].replace("2026-", "2025-")), closed_name(1), 2, BEFORE);
}

#[test]
fn a_line_that_is_no_json() {
    check(edit(1, |lines| lines[1] = "x".to_owned()), closed_name(1), 2, "castellan cannot parse the line");
}

#[test]
fn a_removed_line() {
    check(edit(1, |lines| drop(lines.remove(1))), closed_name(1), 2, BEFORE);
}

#[test]
fn swapped_lines() {
    check(edit(1, |lines| lines.swap(1, 2)), closed_name(1), 2, BEFORE);
}

#[test]
fn a_repeated_line() {
    check(edit(1, |lines| lines.insert(1, lines[1].clone())), closed_name(1), 3, BEFORE);
}

#[test]
fn a_removed_segment() {
    let remove = |dir: &TestDir| fs::remove_file(&dir.closed(Stream::Routine)[1]).unwrap();
    check(remove, closed_name(2), 1, BEFORE);
}

#[test]
fn the_oldest_segment_removed() {
    let remove = |dir: &TestDir| fs::remove_file(&dir.closed(Stream::Routine)[0]).unwrap();
    check(remove, closed_name(1), 0, "are missing, and no record gives the reason");
}

#[test]
fn all_segments_removed() {
    let remove = |dir: &TestDir| {
        for file in dir.closed(Stream::Routine).into_iter().chain([dir.live(Stream::Routine)]) {
            fs::remove_file(file).unwrap();
        }
    };
    check(remove, live_name, 0, "is missing or was changed");
}

#[test]
fn an_emptied_segment() {
    let empty = |dir: &TestDir| fs::write(&dir.closed(Stream::Routine)[1], "").unwrap();
    check(empty, closed_name(1), 0, "the file is empty");
}

#[test]
fn a_truncated_tail() {
    let cut = |by: usize| {
        move |dir: &TestDir| {
            let bytes = fs::read(dir.live(Stream::Routine)).unwrap();
            fs::write(dir.live(Stream::Routine), &bytes[..bytes.len() - by]).unwrap();
        }
    };
    let lines = fs::read_to_string(written().live(Stream::Routine)).unwrap().lines().count();
    check(cut(1), live_name, u64::try_from(lines).unwrap(), "the last line is incomplete");
    let last_line = |dir: &TestDir| dir.edit(&dir.live(Stream::Routine), |lines| drop(lines.pop()));
    check(last_line, live_name, 0, "the last line that was written, number 40, is missing or was changed");
}

#[test]
fn a_changed_last_line() {
    let change = |dir: &TestDir| {
        dir.edit(&dir.live(Stream::Routine), |lines| {
            let last = lines.last_mut().unwrap();
            *last = last.replace("allow", "defer");
        });
    };
    check(change, live_name, 0, "is missing or was changed");
}

/// After a restart the chain continues from the present state; the recovery record keeps the finding.
#[test]
fn changes_at_the_end_are_still_shown_after_a_restart() {
    let after_restart = |change: &dyn Fn(&mut Vec<String>)| -> Verification {
        let dir = written();
        dir.edit(&dir.live(Stream::Routine), |lines| change(lines));
        drop(dir.open(castellan_audit::Config { routine_segments: 100, ..small() }));
        verify(dir.path()).unwrap()
    };
    let removed = after_restart(&|lines| drop(lines.pop()));
    assert_eq!(removed.losses.len(), 1, "{removed:#?}");
    let changed = after_restart(&|lines| {
        let last = lines.last_mut().unwrap();
        *last = last.replace("allow", "defer");
    });
    assert_eq!(changed.losses.len(), 1, "{changed:#?}");
    assert!(!removed.ok() && !changed.ok());
    assert_eq!((removed.missing, changed.missing), (vec![], vec![]));
}

#[test]
fn a_missing_or_damaged_note_of_the_last_lines() {
    let dir = written();
    fs::remove_file(dir.path().join("head")).unwrap();
    assert_eq!(
        verify(dir.path()).unwrap().head.unwrap(),
        "the file `head` with the last line numbers is missing"
    );
    fs::write(dir.path().join("head"), "x").unwrap();
    assert!(
        verify(dir.path())
            .unwrap()
            .head
            .unwrap()
            .starts_with("the file `head` with the last line numbers is damaged")
    );
    drop(dir.open(small()));
    let verification = verify(dir.path()).unwrap();
    assert_eq!(verification.head, None);
    assert_eq!(verification.losses.len(), 1, "the restart notes it anew and records that it was damaged");
}

#[test]
fn a_record_moved_to_the_other_stream_with_its_number() {
    let dir = written();
    let line = fs::read_to_string(dir.live(Stream::Notable)).unwrap().lines().last().unwrap().to_owned();
    let number = seqs(&dir.entries(&deny_only())).into_iter().max().unwrap();
    dir.edit(&dir.live(Stream::Routine), |lines| lines.push(line));
    let verification = verify(dir.path()).unwrap();
    assert_eq!(verification.repeated, [number], "{verification:#?}");
}

#[test]
fn verify_beside_a_writer_finds_nothing() {
    let dir = TestDir::new();
    let log = dir.open(small());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for index in 0..1500 {
                log.append(&call(if index % 4 == 0 { "deny" } else { "allow" }), at(1)).unwrap();
            }
        });
        while !writer.is_finished() {
            dir.verified();
        }
    });
}
