//! Copies that running calls make: a call that began before a contained one may copy the files that this one writes. It must not
//! know which calls are contained.

use std::collections::BTreeSet;

use castellan_facts::ContainedMarks;
use serde::{Deserialize, Serialize};

use super::{Changes, Open};
use crate::limits::READS_PER_CALL_MAX;
use crate::session_key::SessionKey;

/// The files that a running call may copy, and the copies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Copying {
    /// Files, directories and patterns that the call reads; `None` for any.
    pub(crate) reads: Option<BTreeSet<String>>,
    /// Files, directories and patterns that the call writes, and that may hold contents of contained calls.
    pub(crate) into: BTreeSet<String>,
}

/// A call that may copy files of a contained call, because it ran when that one began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::memory) struct Copier {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reads: Option<BTreeSet<String>>,
    /// The files that it writes.
    pub(in crate::memory) paths: BTreeSet<String>,
}

impl Copying {
    /// A call that copies no file.
    pub(crate) fn none() -> Copying {
        Copying { reads: Some(BTreeSet::new()), into: BTreeSet::new() }
    }

    pub(super) fn add(&mut self, other: Copying) {
        self.into.extend(other.into);
        match (&mut self.reads, other.reads) {
            (Some(reads), Some(more)) => reads.extend(more),
            (reads, _) => *reads = None,
        }
        self.reads = self.reads.take().filter(|reads| reads.len() <= READS_PER_CALL_MAX);
    }
}

impl Copier {
    /// Reports whether the call may have read one of these files.
    pub(in crate::memory) fn may_read(&self, files: &BTreeSet<String>) -> bool {
        may_read(self.reads.as_ref(), &ContainedMarks::of(files))
    }
}

impl Changes {
    /// Returns the running calls, except `but`, that may read a file of a workspace. A call that reads the copies of another one
    /// is among them.
    pub(in crate::memory) fn beside(&self, but: u64, workspace: &str) -> Vec<Copier> {
        let mut files = BTreeSet::from([workspace.to_owned()]);
        let mut left: Vec<&Open> = self.sessions.values().flat_map(|session| &session.open).collect();
        let mut found = Vec::new();
        loop {
            let marks = ContainedMarks::of(&files);
            let (copying, rest): (Vec<&Open>, Vec<&Open>) =
                left.into_iter().partition(|open| open.copies_from(but, &marks));
            if copying.is_empty() {
                return found;
            }
            left = rest;
            files.extend(copying.iter().flat_map(|open| open.paths.iter().cloned()));
            let copier =
                |open: &Open| Copier { reads: open.copying.reads.clone(), paths: open.paths.clone() };
            found.extend(copying.into_iter().map(copier));
        }
    }

    /// Notes that the call `but` wrote files: what running calls that read them write are copies. Returns the copies, and
    /// those of the copies.
    pub(in crate::memory) fn copy_from(&mut self, but: u64, files: &BTreeSet<String>) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut copies = self.copy_once(but, files);
        while !copies.is_subset(&all) {
            let next = self.copy_once(but, &copies);
            all.append(&mut copies);
            copies = next;
        }
        all
    }

    fn copy_once(&mut self, but: u64, files: &BTreeSet<String>) -> BTreeSet<String> {
        let marks = ContainedMarks::of(files);
        let open = self.sessions.values_mut().flat_map(|session| &mut session.open);
        let mut copies = BTreeSet::new();
        for open in open.filter(|open| open.copies_from(but, &marks)) {
            open.copying.into.extend(open.paths.iter().cloned());
            copies.extend(open.paths.iter().cloned());
        }
        copies
    }

    /// Returns the copies that calls may still write, the roots of their sessions, and whether castellan looks for the commands
    /// of the call itself.
    pub(in crate::memory) fn open_copies(&self) -> impl Iterator<Item = (&SessionKey, bool, &String)> {
        self.sessions.iter().flat_map(|(root, session)| {
            session.open.iter().flat_map(move |open| {
                let is_looked_for = open.is_looked_for();
                open.copying.into.iter().map(move |path| (root, is_looked_for, path))
            })
        })
    }
}

impl Open {
    fn copies_from(&self, but: u64, marks: &ContainedMarks<'_>) -> bool {
        self.call != but && !self.paths.is_empty() && may_read(self.copying.reads.as_ref(), marks)
    }
}

fn may_read(reads: Option<&BTreeSet<String>>, marks: &ContainedMarks<'_>) -> bool {
    reads.is_none_or(|reads| reads.iter().any(|path| marks.may_be(path)))
}
