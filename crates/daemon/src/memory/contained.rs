//! [`ContainedFiles`]: files that contained calls wrote and no person has settled. They concern every session. It must
//! not know how a call is contained, or how its files are found.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use castellan_facts::{ChangedPath, may_be_anywhere, names};

use super::Memory;
use super::changes::keep_within;
use super::entry::Entry;
use crate::limits::{CONTAINED_CALLS_MAX, CONTAINED_FILES_MAX, CONTAINED_FILES_PER_CALL_MAX};

/// The calls, the oldest first.
#[derive(Debug, Default)]
pub(super) struct ContainedFiles {
    calls: Vec<ContainedCall>,
    /// The files of all calls. Shared with readers, because there may be thousands.
    all: Arc<BTreeSet<String>>,
}

/// A contained call and its files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ContainedCall {
    /// The number of its record.
    call: u64,
    workspace: String,
    /// `None` while the call may run: it may have written any file of its workspace.
    written: Option<BTreeSet<String>>,
}

impl ContainedCall {
    fn files(&self) -> BTreeSet<String> {
        match &self.written {
            Some(written) => written.clone(),
            None => BTreeSet::from([ChangedPath::Anywhere(&self.workspace).stored()]),
        }
    }
}

impl ContainedFiles {
    /// The files of all calls; see [`ChangedPath::stored`].
    pub(super) fn files(&self) -> Arc<BTreeSet<String>> {
        Arc::clone(&self.all)
    }

    /// Reports whether a contained call wrote a file, or may have.
    pub(super) fn has(&self, file: &str) -> bool {
        !self.all.is_empty() && (names(&self.all, file) || may_be_anywhere(&self.all, file))
    }

    /// The call may write files of a workspace from now on.
    pub(super) fn begin(&mut self, call: u64, workspace: String) {
        self.put(ContainedCall { call, workspace, written: None });
    }

    /// The call has ended. Over a limit, a directory replaces the files in it.
    pub(super) fn end(&mut self, call: u64, workspace: String, written: Vec<String>) {
        let mut written: BTreeSet<String> = written.into_iter().collect();
        let fits = keep_within(&mut written, CONTAINED_FILES_PER_CALL_MAX);
        let written = if fits { written } else { BTreeSet::from([workspace.clone()]) };
        self.put(ContainedCall { call, workspace, written: Some(written) });
    }

    /// The workspace of a call, and the files that it wrote; `None` if they are not known.
    pub(super) fn of(&self, call: u64) -> Option<(String, Option<BTreeSet<String>>)> {
        let found = self.calls.iter().find(|one| one.call == call)?;
        Some((found.workspace.clone(), found.written.clone()))
    }

    /// A person has settled the files of a call. One that another call wrote too, stays.
    pub(super) fn settle(&mut self, call: u64) {
        self.calls.retain(|one| one.call != call);
        self.count();
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.calls.iter().cloned().map(|ContainedCall { call, workspace, written }| match written {
            Some(written) => Entry::ContainedOver { call, workspace, written: written.into_iter().collect() },
            None => Entry::Contained { call, workspace },
        })
    }

    fn put(&mut self, call: ContainedCall) {
        self.calls.retain(|one| one.call != call.call);
        self.calls.push(call);
        while self.calls.len() > CONTAINED_CALLS_MAX && self.join_oldest() {}
        while self.number() > CONTAINED_FILES_MAX && self.widen_largest() {}
        self.count();
    }

    fn number(&self) -> usize {
        self.calls.iter().filter_map(|one| one.written.as_ref()).map(BTreeSet::len).sum()
    }

    /// Joins the oldest ended call with the next one of its workspace. Returns false if each workspace has one.
    fn join_oldest(&mut self) -> bool {
        for (at, one) in self.calls.iter().enumerate().filter(|(_, one)| one.written.is_some()) {
            let is_next = |other: &ContainedCall| other.workspace == one.workspace && other.written.is_some();
            let Some(next) = self.calls.iter().skip(at + 1).position(is_next) else { continue };
            let older = self.calls.remove(at);
            if let Some(written) = self.calls.get_mut(at + next).and_then(|next| next.written.as_mut()) {
                written.extend(older.written.unwrap_or_default());
                if !keep_within(written, CONTAINED_FILES_PER_CALL_MAX) {
                    *written = BTreeSet::from([older.workspace]);
                }
            }
            return true;
        }
        false
    }

    /// Replaces the files of the call with most of them by its workspace. Returns false if each call has one.
    fn widen_largest(&mut self) -> bool {
        let number = |one: &&mut ContainedCall| one.written.as_ref().map_or(0, BTreeSet::len);
        let Some(largest) = self.calls.iter_mut().max_by_key(number) else { return false };
        let is_wide = largest.written.as_ref().is_none_or(|written| written.len() <= 1);
        largest.written = Some(BTreeSet::from([largest.workspace.clone()])).filter(|_| !is_wide);
        !is_wide
    }

    fn count(&mut self) {
        let mut all: BTreeSet<String> = BTreeSet::new();
        self.calls.iter().for_each(|one| all.extend(one.files()));
        self.all = Arc::new(all);
    }
}

impl Memory {
    /// Stores that a contained call may write files of a workspace from now on. An error if that cannot be stored.
    pub(crate) fn begin_contained(&mut self, call: u64, workspace: &str) -> io::Result<()> {
        self.put(Entry::Contained { call, workspace: workspace.to_owned() });
        self.outdate();
        self.save()
    }

    /// Stores what a contained call wrote: absolute paths, symlinks resolved.
    pub(crate) fn end_contained(
        &mut self,
        call: u64,
        workspace: &str,
        written: Vec<String>,
    ) -> io::Result<()> {
        self.put(Entry::ContainedOver { call, workspace: workspace.to_owned(), written });
        self.outdate();
        self.save()
    }

    /// The workspace of a contained call that nobody has settled, and its files; `None` if they are not known.
    pub(crate) fn contained_call(&self, call: u64) -> Option<(String, Option<BTreeSet<String>>)> {
        self.lasting.contained.of(call)
    }

    /// Forgets the files of a contained call, because a person has kept or undone them.
    pub(crate) fn settle_contained(&mut self, call: u64) -> io::Result<()> {
        self.put(Entry::ContainedSettled { call });
        self.outdate();
        self.save()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Restores a state from its entries.
    fn again(files: &ContainedFiles) -> ContainedFiles {
        let mut again = ContainedFiles::default();
        for entry in files.entries() {
            if let Entry::Contained { call, workspace } = entry {
                again.begin(call, workspace);
            } else if let Entry::ContainedOver { call, workspace, written } = entry {
                again.end(call, workspace, written);
            }
        }
        again
    }

    #[test]
    fn a_call_that_may_run_has_written_every_file_of_its_workspace() {
        let mut files = ContainedFiles::default();
        assert!(!files.has("/w/a"));
        files.begin(1, "/w".to_owned());
        assert!(files.has("/w/a") && files.has("/w/b/c") && !files.has("/v/a"));
        assert!(again(&files).has("/w/a"));
        files.end(1, "/w".to_owned(), of(&["/w/a"]));
        for files in [&again(&files), &files] {
            assert!(files.has("/w/a") && !files.has("/w/b") && !files.has("/w/ab"));
        }
    }

    #[test]
    fn a_person_settles_a_call() {
        let mut files = ContainedFiles::default();
        files.end(1, "/w".to_owned(), of(&["/w/a", "/w/b"]));
        files.end(2, "/w".to_owned(), of(&["/w/b"]));
        files.settle(1);
        assert!(!files.has("/w/a") && files.has("/w/b"));
        files.settle(2);
        assert!(!files.has("/w/b"));
    }

    #[test]
    fn over_a_limit_more_files_count_and_never_fewer() {
        let many = |number: usize| (0..number).map(|one| format!("/w/d{}/{one}", one % 7)).collect();
        let mut files = ContainedFiles::default();
        files.end(1, "/w".to_owned(), many(CONTAINED_FILES_PER_CALL_MAX + 1));
        assert!(files.has("/w/d0/0") && files.has("/w/d0/other") && !files.has("/w/x/0"));
        for call in 2..=10 {
            files.end(
                call,
                format!("/w{call}"),
                (0..CONTAINED_FILES_PER_CALL_MAX).map(|one| format!("/w{call}/{one}")).collect(),
            );
        }
        assert!(files.number() <= CONTAINED_FILES_MAX);
        assert!((2..=10).all(|call| files.has(&format!("/w{call}/17"))));
        let mut files = ContainedFiles::default();
        for call in 0..=CONTAINED_CALLS_MAX as u64 {
            files.end(call, "/w".to_owned(), of(&[&format!("/w/{call}")]));
        }
        assert_eq!(files.calls.len(), CONTAINED_CALLS_MAX);
        assert!(files.has("/w/0") && files.has("/w/1"));
    }
}
