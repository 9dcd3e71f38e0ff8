//! Changes that the chain cannot show, because the whole log was written again: the copy outside shows them.

use std::fs;
use std::sync::{Arc, Mutex};

use castellan_audit::{Config, Copied, Copier, Log, Stream, Verification, log_name, verify_copied};

use crate::support::*;

/// The copies, in a place that no test changes.
#[derive(Debug, Clone, Default)]
struct Outside(Arc<Mutex<Vec<Copied>>>);

impl Outside {
    fn open(&self, dir: &TestDir, config: Config) -> Log {
        let there = self.clone();
        let copier = Copier::new(move |copied| there.0.lock().unwrap().push(copied.clone()));
        Log::open_copied(dir.path(), config, copier, at(1)).unwrap()
    }

    fn copies(&self) -> Vec<Copied> {
        self.0.lock().unwrap().clone()
    }

    fn compare(&self, dir: &TestDir) -> Verification {
        verify_copied(dir.path(), &self.copies()).unwrap()
    }
}

const KEEP: u32 = 1000;

fn fill(log: &Log, verdicts: &[&str]) {
    for (number, verdict) in (0..).zip(verdicts) {
        log.append(&numbered(verdict, number), at(1)).unwrap();
    }
}

#[test]
fn the_copy_names_denials_asks_and_segments_and_no_allowed_call() {
    let (dir, outside) = (TestDir::new(), Outside::default());
    fill(&outside.open(&dir, Config::default()), &["allow", "deny", "defer", "ask", "allow"]);
    let copies = outside.copies();
    let verdicts: Vec<&str> = copies.iter().map(Copied::verdict).filter(|one| !one.is_empty()).collect();
    assert_eq!(verdicts, ["deny", "ask"]);
    assert!(copies.iter().all(|copied| copied.is_of(&log_name(dir.path()))));
    // Two segments, two calls, and the empty log at first.
    assert_eq!(copies.len(), 5, "{copies:#?}");
    assert!(outside.compare(&dir).ok());
}

#[test]
fn segments_that_retention_deletes_are_no_loss() {
    let (dir, outside) = (TestDir::new(), Outside::default());
    let log = outside.open(&dir, small());
    for _ in 0..60 {
        fill(&log, &["allow", "deny"]);
    }
    assert!(dir.closed(Stream::Routine).len() <= 2);
    let compared = outside.compare(&dir);
    assert!(compared.ok(), "{compared:#?}");
}

#[test]
fn a_log_that_begins_again_is_found() {
    let (dir, outside) = (TestDir::new(), Outside::default());
    fill(&outside.open(&dir, Config::default()), &["allow", "deny", "deny"]);
    fs::remove_dir_all(dir.path()).unwrap();
    fill(&outside.open(&dir, Config::default()), &["allow", "ask"]);
    dir.verified();
    let compared = outside.compare(&dir);
    assert!(!compared.ok());
    let notable = compared.outside.iter().filter(|one| one.stream == Stream::Notable);
    let found: Vec<_> = notable.map(|one| (one.seq, one.is_changed)).collect();
    assert!(found.contains(&(2, true)) && found.contains(&(3, false)), "{found:?}");
}

/// Writes the log again with other calls, as a program does that knows the format.
fn forge(dir: &TestDir, verdicts: &[&str]) {
    fs::remove_dir_all(dir.path()).unwrap();
    fill(&dir.open(Config { routine_segments: KEEP, ..Config::default() }), verdicts);
    dir.verified();
}

#[test]
fn a_record_that_was_rewritten_with_its_whole_chain_is_found() {
    for (forged, stream) in [
        (["allow", "ask", "allow", "deny"], Stream::Notable),
        // The copy of a denial names the last line of the other stream as well.
        (["defer", "deny", "allow", "deny"], Stream::Routine),
    ] {
        let (dir, outside) = (TestDir::new(), Outside::default());
        fill(&outside.open(&dir, Config::default()), &["allow", "deny", "allow", "deny"]);
        forge(&dir, &forged);
        let compared = outside.compare(&dir);
        let changed = compared.outside.iter().any(|one| one.stream == stream && one.is_changed);
        assert!(changed, "{forged:?}: {compared:#?}");
    }
}

#[test]
fn a_tail_that_was_cut_off_is_found() {
    let (dir, outside) = (TestDir::new(), Outside::default());
    fill(&outside.open(&dir, Config::default()), &["allow", "deny", "allow", "deny"]);
    forge(&dir, &["allow", "deny", "allow"]);
    let compared = outside.compare(&dir);
    let last = compared.outside.last().unwrap();
    assert_eq!((last.stream, last.seq, last.is_changed), (Stream::Notable, 4, false), "{compared:#?}");
}
