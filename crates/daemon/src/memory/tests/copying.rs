//! Copies of contained files that other calls make while they run.

use std::collections::BTreeSet;

use castellan_event::ContainedCopies;

use crate::memory::{Begun, Copying, Memory};
use crate::peers::AgentProcess;
use crate::session_key::SessionKey;

const SESSION: SessionKey = SessionKey([1; 32]);

/// The files of a contained call, and the copies that calls beside it make.
fn contained_after(calls: impl Fn(&mut Memory)) -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let (mut memory, _) = Memory::open(dir.path().join("journal"), true, 1).unwrap();
    calls(&mut memory);
    (dir, memory)
}

fn copies(memory: &mut Memory, call: u64, from: &str, to: &str) {
    let id = call.to_string();
    let copying = Copying { reads: Some(BTreeSet::from([from.to_owned()])), into: BTreeSet::new() };
    let paths = BTreeSet::from([to.to_owned()]);
    memory.begin(SESSION, Begun { call, id: &id, paths, copying, ..Begun::default() });
}

#[test]
fn a_call_that_ends_before_a_contained_one_may_have_copied_its_files() {
    let (_dir, memory) = contained_after(|memory| {
        copies(memory, 2, "/w/run.sh", "/o/b.sh");
        copies(memory, 3, "/o/b.sh", "/o/c.sh");
        copies(memory, 4, "/w/other.sh", "/o/d.sh");
        memory.begin_contained(7, "/w", AgentProcess::default()).unwrap();
        // While nobody knows what it writes, each of these may be a copy.
        assert!(memory.lasting.contained.has("/o/d.sh"));
        for call in ["2", "3", "4"] {
            memory.end(SESSION, call);
        }
        memory.end_contained(7, "/w", vec!["/w/run.sh".to_owned()]).unwrap();
    });
    let marked = ["/w/run.sh", "/o/b.sh", "/o/c.sh", "/w/other.sh", "/o/d.sh"]
        .map(|path| memory.lasting.contained.has(path));
    assert_eq!(marked, [true, true, true, false, false]);
}

#[test]
fn a_running_call_may_copy_a_copy_that_another_call_makes() {
    let (_dir, memory) = contained_after(|memory| {
        memory.begin_contained(7, "/w", AgentProcess::default()).unwrap();
        memory.end_contained(7, "/w", vec!["/w/run.sh".to_owned()]).unwrap();
        copies(memory, 8, "/o/b.sh", "/o/c.sh");
        copies(memory, 9, "/o/c.sh", "/o/d.sh");
        copies(memory, 10, "/o/other", "/o/e.sh");
        let set = |path: &str| BTreeSet::from([path.to_owned()]);
        let copied = ContainedCopies { from: set("/w/run.sh"), into: set("/o/b.sh") };
        memory.copy_contained(&copied, 11);
    });
    let marked = ["/o/b.sh", "/o/c.sh", "/o/d.sh", "/o/e.sh"].map(|path| memory.lasting.contained.has(path));
    assert_eq!(marked, [true, true, true, false]);
    assert_eq!(memory.open_copies(), BTreeSet::from(["/o/c.sh".to_owned(), "/o/d.sh".to_owned()]));
}

#[test]
fn a_restart_forgets_no_call_that_ran_beside_a_contained_one() {
    let (dir, memory) = contained_after(|memory| {
        copies(memory, 2, "/w/run.sh", "/o/b.sh");
        memory.begin_contained(7, "/w", AgentProcess::default()).unwrap();
        memory.end(SESSION, "2");
    });
    drop(memory);
    let (memory, _) = Memory::open(dir.path().join("journal"), false, 1).unwrap();
    let files = memory.contained_call(7).unwrap();
    assert_eq!((files.written, files.copies), (None, BTreeSet::from(["/o/b.sh".to_owned()])));
    assert!(memory.lasting.contained.has("/o/b.sh"));
}
