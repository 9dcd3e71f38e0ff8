//! [`ContainedFiles`]: files that contained calls wrote and no person has settled. They concern every session. It must
//! not know how a call is contained, or how its files are found.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use castellan_facts::{ChangedPath, ContainedMarks, may_be_anywhere, names};

use super::changes::{Copier, keep_within};
use super::entry::Entry;
use crate::limits::{
    CONTAINED_CALLS_MAX, CONTAINED_COPIES_WIDE, CONTAINED_FILES_MAX, CONTAINED_FILES_PER_CALL_MAX,
};
use crate::peers::AgentProcess;

/// The number of the calls whose own ones are forgotten. No record has it.
const FORGOTTEN: u64 = u64::MAX;

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
    /// The process that runs it, if `written` is not known.
    process: Option<AgentProcess>,
    /// Copies of its files that other calls have made.
    copies: BTreeSet<String>,
    /// Calls that ran when it began, while `written` is not known.
    beside: Vec<Copier>,
}

impl ContainedCall {
    fn files(&self) -> BTreeSet<String> {
        let mut files = self.copies.clone();
        match &self.written {
            Some(written) => files.extend(written.iter().cloned()),
            None => {
                files.insert(ChangedPath::Anywhere(&self.workspace).stored());
                files.extend(self.beside.iter().flat_map(|one| one.paths.iter().cloned()));
            }
        }
        files
    }
}

/// The files of a contained call that nobody has settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallFiles {
    pub(crate) workspace: String,
    /// The files that it wrote; `None` if they are not known.
    pub(crate) written: Option<BTreeSet<String>>,
    /// Copies of them that other calls have made, or may have made.
    pub(crate) copies: BTreeSet<String>,
}

/// Files of a contained call that a person names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) call: u64,
    pub(crate) workspace: String,
    /// Files, directories and patterns.
    pub(crate) named: BTreeSet<String>,
    /// The other files of the call.
    pub(crate) rest: BTreeSet<String>,
}

/// A path is marked only with everything in a directory or pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WiderMark {
    pub(crate) path: String,
    pub(crate) mark: String,
}

impl ContainedCall {
    fn number(&self) -> usize {
        self.written.as_ref().map_or(0, BTreeSet::len) + self.copies.len()
    }

    /// The files of forgotten calls of several workspaces have one number.
    fn is(&self, call: u64, workspace: &str) -> bool {
        self.call == call && (call != FORGOTTEN || self.workspace == workspace)
    }

    /// Adds the files of another call of the workspace.
    fn add(&mut self, other: ContainedCall) {
        self.copies.extend(other.copies);
        if self.copies.len() > CONTAINED_FILES_PER_CALL_MAX {
            self.widen_copies();
        }
        if let Some(written) = &mut self.written {
            written.extend(other.written.unwrap_or_default());
            if !keep_within(written, CONTAINED_FILES_PER_CALL_MAX) {
                *written = BTreeSet::from([other.workspace]);
            }
        }
    }

    /// Replaces the copies by few directories.
    fn widen_copies(&mut self) {
        let (inside, mut outside): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(&mut self.copies)
            .into_iter()
            .partition(|path| Path::new(path).starts_with(&self.workspace));
        keep_within(&mut outside, CONTAINED_COPIES_WIDE);
        self.copies = outside;
        self.copies.extend(Some(&self.workspace).filter(|_| !inside.is_empty()).cloned());
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

    /// The call may write files of a workspace from now on, and calls that run beside it may copy them.
    pub(super) fn begin(
        &mut self,
        call: u64,
        workspace: String,
        process: Option<AgentProcess>,
        beside: Vec<Copier>,
    ) {
        self.put(ContainedCall { call, workspace, written: None, process, copies: BTreeSet::new(), beside });
    }

    /// The call has ended. Over a limit, a directory replaces the files in it.
    pub(super) fn end(&mut self, call: u64, workspace: String, written: Vec<String>) {
        let mut written: BTreeSet<String> = written.into_iter().collect();
        let fits = keep_within(&mut written, CONTAINED_FILES_PER_CALL_MAX);
        let written = if fits { written } else { BTreeSet::from([workspace.clone()]) };
        // Those of a call that had ended are among the files, as far as they are not settled.
        let before = self.calls.iter_mut().find(|one| one.is(call, &workspace) && one.written.is_none());
        let copies = before.map(|one| std::mem::take(&mut one.copies)).unwrap_or_default();
        let (process, beside) = (None, Vec::new());
        self.put(ContainedCall { call, workspace, written: Some(written), process, copies, beside });
    }

    /// Returns the files that calls which ran beside a call may have written as copies of its files.
    pub(super) fn copied_beside(&self, call: u64, written: &BTreeSet<String>) -> BTreeSet<String> {
        let beside = self.calls.iter().filter(|one| one.call == call).flat_map(|one| &one.beside);
        let mut files = written.clone();
        let mut copies: BTreeSet<String> = BTreeSet::new();
        // A copy of a copy is one, too.
        loop {
            let found = beside.clone().filter(|one| one.may_read(&files)).flat_map(|one| &one.paths);
            let before = copies.len();
            copies.extend(found.cloned());
            if copies.len() == before {
                return copies;
            }
            files.extend(copies.iter().cloned());
        }
    }

    /// Returns the calls with files that another call reads from these paths.
    pub(super) fn sources(&self, read: &BTreeSet<String>) -> Vec<(u64, String)> {
        let is_one = |one: &&ContainedCall| {
            let files = one.files();
            let marks = ContainedMarks::of(&files);
            read.iter().any(|path| marks.may_be(path))
        };
        self.calls.iter().filter(is_one).map(|one| (one.call, one.workspace.clone())).collect()
    }

    /// Another call copies files of a call to these paths.
    pub(super) fn copy(&mut self, call: u64, workspace: &str, paths: Vec<String>) {
        let Some(found) = self.calls.iter_mut().find(|one| one.is(call, workspace)) else { return };
        let files = found.files();
        found.copies.extend(paths.into_iter().filter(|path| !files.contains(path)));
        if found.copies.len() > CONTAINED_FILES_PER_CALL_MAX {
            found.widen_copies();
        }
        while self.number() > CONTAINED_FILES_MAX && self.widen_largest() {}
        self.count();
    }

    /// The files of a call.
    pub(super) fn of(&self, call: u64) -> Option<CallFiles> {
        let found = self.calls.iter().find(|one| one.call == call)?;
        let beside = found.beside.iter().flat_map(|one| &one.paths);
        Some(CallFiles {
            workspace: found.workspace.clone(),
            written: found.written.clone(),
            copies: found.copies.iter().chain(beside).cloned().collect(),
        })
    }

    /// Returns what a person settles by naming paths: the files at or below them. An error with a path that cannot be settled
    /// alone, because more is marked with it.
    pub(super) fn at(&self, paths: &[String]) -> Result<Vec<Named>, WiderMark> {
        let is_named = |file: &String| paths.iter().any(|path| Path::new(file).starts_with(path));
        let mut found = Vec::new();
        for one in &self.calls {
            let (named, rest): (BTreeSet<String>, BTreeSet<String>) =
                one.files().into_iter().partition(is_named);
            let marks = ContainedMarks::of(&rest);
            if let Some(path) = paths.iter().find(|path| marks.is(path)) {
                let wider =
                    rest.iter().find(|mark| ContainedMarks::of(&BTreeSet::from([(*mark).clone()])).is(path));
                return Err(WiderMark { path: path.clone(), mark: wider.cloned().unwrap_or_default() });
            }
            if !named.is_empty() {
                let workspace = one.workspace.clone();
                found.push(Named { call: one.call, workspace, named, rest });
            }
        }
        Ok(found)
    }

    /// The processes that run calls.
    pub(super) fn processes(&self) -> impl Iterator<Item = AgentProcess> {
        self.calls.iter().filter_map(|one| one.process)
    }

    /// The process that runs a call. A restart of the daemon leaves it running.
    pub(super) fn process_of(&self, call: u64) -> Option<AgentProcess> {
        self.calls.iter().find(|one| one.call == call)?.process
    }

    /// A person has settled the files of a call. One that another call wrote too, stays.
    pub(super) fn settle(&mut self, call: u64, workspace: &str) {
        self.calls.retain(|one| !one.is(call, workspace));
        self.count();
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.calls.iter().cloned().flat_map(
            |ContainedCall { call, workspace, written, process, copies, beside }| {
                let paths: Vec<String> = copies.into_iter().collect();
                let of = workspace.clone();
                let copied =
                    (!paths.is_empty()).then_some(Entry::ContainedCopied { call, workspace: of, paths });
                let ran = match written {
                    Some(written) => {
                        Entry::ContainedOver { call, workspace, written: written.into_iter().collect() }
                    }
                    None => Entry::Contained { call, workspace, process, beside },
                };
                std::iter::once(ran).chain(copied)
            },
        )
    }

    fn put(&mut self, call: ContainedCall) {
        self.calls.retain(|one| !one.is(call.call, &call.workspace));
        self.calls.push(call);
        while self.known() > CONTAINED_CALLS_MAX && self.forget_oldest() {}
        while self.number() > CONTAINED_FILES_MAX && self.widen_largest() {}
        self.count();
    }

    fn number(&self) -> usize {
        self.calls.iter().map(ContainedCall::number).sum()
    }

    /// Number of calls that are not forgotten.
    fn known(&self) -> usize {
        self.calls.iter().filter(|one| one.call != FORGOTTEN).count()
    }

    /// Moves the files of the oldest ended call to those of forgotten calls of its workspace: another call's differences do
    /// not show them. Returns false if there is no such call.
    fn forget_oldest(&mut self) -> bool {
        let is_ended = |one: &ContainedCall| one.written.is_some() && one.call != FORGOTTEN;
        let Some(at) = self.calls.iter().position(is_ended) else { return false };
        let oldest = self.calls.remove(at);
        let is_its = |one: &&mut ContainedCall| one.call == FORGOTTEN && one.workspace == oldest.workspace;
        match self.calls.iter_mut().find(is_its) {
            Some(forgotten) => forgotten.add(oldest),
            None => self.calls.insert(0, ContainedCall { call: FORGOTTEN, ..oldest }),
        }
        true
    }

    /// Replaces the files of the call with most of them by its workspace. Returns false if each call has one.
    fn widen_largest(&mut self) -> bool {
        let Some(largest) = self.calls.iter_mut().max_by_key(|one| one.number()) else { return false };
        let before = largest.number();
        largest.written = largest.written.as_ref().map(|_| BTreeSet::from([largest.workspace.clone()]));
        largest.widen_copies();
        largest.number() < before
    }

    fn count(&mut self) {
        let mut all: BTreeSet<String> = BTreeSet::new();
        self.calls.iter().for_each(|one| all.extend(one.files()));
        self.all = Arc::new(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(paths: &BTreeSet<String>) -> Vec<String> {
        paths.iter().cloned().collect()
    }

    fn of(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Restores a state from its entries.
    fn again(files: &ContainedFiles) -> ContainedFiles {
        let mut again = ContainedFiles::default();
        for entry in files.entries() {
            if let Entry::Contained { call, workspace, process, beside } = entry {
                again.begin(call, workspace, process, beside);
            } else if let Entry::ContainedOver { call, workspace, written } = entry {
                again.end(call, workspace, written);
            } else if let Entry::ContainedCopied { call, workspace, paths } = entry {
                again.copy(call, &workspace, paths);
            }
        }
        again
    }

    #[test]
    fn a_call_that_may_run_has_written_every_file_of_its_workspace() {
        let mut files = ContainedFiles::default();
        assert!(!files.has("/w/a"));
        files.begin(1, "/w".to_owned(), None, Vec::new());
        assert!(files.has("/w/a") && files.has("/w/b/c") && !files.has("/v/a"));
        assert!(again(&files).has("/w/a"));
        files.end(1, "/w".to_owned(), of(&["/w/a"]));
        for files in [&again(&files), &files] {
            assert!(files.has("/w/a") && !files.has("/w/b") && !files.has("/w/ab"));
        }
    }

    #[test]
    fn a_copy_is_a_file_of_the_call() {
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
        let mut files = ContainedFiles::default();
        files.begin(1, "/w".to_owned(), None, Vec::new());
        files.end(2, "/v".to_owned(), of(&["/v/a"]));
        for (read, expected) in [("/w/a", vec![1]), ("/v", vec![2]), ("/", vec![1, 2]), ("/v/b", vec![])] {
            let found: Vec<u64> = files.sources(&set(&[read])).into_iter().map(|(call, _)| call).collect();
            assert_eq!(found, expected, "{read}");
        }
        // Also while it runs.
        files.copy(1, "/w", of(&["/o/a", "/w/copy"]));
        files.end(1, "/w".to_owned(), of(&["/w/a"]));
        for files in [&again(&files), &files] {
            assert!(["/w/a", "/w/copy", "/o/a"].iter().all(|path| files.has(path)) && !files.has("/w/b"));
        }
        let expected = CallFiles {
            workspace: "/w".to_owned(),
            written: Some(set(&["/w/a"])),
            copies: set(&["/o/a", "/w/copy"]),
        };
        assert_eq!(files.of(1), Some(expected));
        // A person has seen the files of the workspace.
        files.end(1, "/w".to_owned(), of(&["/o/a"]));
        assert!(files.has("/o/a") && !files.has("/w/copy"));
        files.copy(
            1,
            "/w",
            (0..=CONTAINED_FILES_PER_CALL_MAX).map(|one| format!("/o/d{}/{one}", one % 7)).collect(),
        );
        assert!(files.has("/o/d3/99999") && files.number() < 100);
        files.settle(1, "/w");
        assert!(!files.has("/o/a"));
    }

    #[test]
    fn a_person_settles_named_files() {
        let mut files = ContainedFiles::default();
        files.end(1, "/w".to_owned(), of(&["/w/a", "/w/dir", "/w/lib/x", "/w/lib/y"]));
        files.end(2, "/w".to_owned(), of(&["/w/lib/y"]));
        files.copy(2, "/w", of(&["/o/*.sh"]));
        let check = |paths: &[&str], expected: &[(u64, &[&str], &[&str])]| {
            let found = files.at(&of(paths)).unwrap();
            let found: Vec<_> =
                found.iter().map(|one| (one.call, list(&one.named), list(&one.rest))).collect();
            let expected: Vec<_> =
                expected.iter().map(|(call, named, rest)| (*call, of(named), of(rest))).collect();
            assert_eq!(found, expected, "{paths:?}");
        };
        check(&["/w/a"], &[(1, &["/w/a"], &["/w/dir", "/w/lib/x", "/w/lib/y"])]);
        check(
            &["/w/lib"],
            &[(1, &["/w/lib/x", "/w/lib/y"], &["/w/a", "/w/dir"]), (2, &["/w/lib/y"], &["/o/*.sh"])],
        );
        check(&["/o"], &[(2, &["/o/*.sh"], &["/w/lib/y"])]);
        check(&["/w/li", "/v"], &[]);
        for (path, mark) in [("/w/dir/x", "/w/dir"), ("/o/a.sh", "/o/*.sh")] {
            let wider = WiderMark { path: path.to_owned(), mark: mark.to_owned() };
            assert_eq!(files.at(&of(&[path])), Err(wider));
        }
    }

    #[test]
    fn a_person_settles_a_call() {
        let mut files = ContainedFiles::default();
        files.end(1, "/w".to_owned(), of(&["/w/a", "/w/b"]));
        files.end(2, "/w".to_owned(), of(&["/w/b"]));
        files.settle(1, "/w");
        assert!(!files.has("/w/a") && files.has("/w/b"));
        files.settle(2, "/w");
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
        for call in 0..=CONTAINED_CALLS_MAX as u64 + 1 {
            let workspace = ["/w", "/v"][usize::from(call == 1)];
            files.end(call, workspace.to_owned(), of(&[&format!("{workspace}/{call}")]));
        }
        for files in [&mut again(&files), &mut files] {
            assert_eq!(files.known(), CONTAINED_CALLS_MAX);
            assert!(files.has("/w/0") && files.has("/v/1") && files.has("/w/2"));
            // A person who settles the next call has not seen the files of the forgotten ones.
            assert_eq!(files.of(0), None);
            files.settle(2, "/w");
            assert!(files.has("/w/0") && files.has("/v/1") && !files.has("/w/2"));
            let found = files.at(&of(&["/w/0"])).unwrap();
            assert_eq!(found.iter().map(|one| one.workspace.as_str()).collect::<Vec<_>>(), ["/w"]);
            files.settle(FORGOTTEN, "/w");
            assert!(!files.has("/w/0") && files.has("/v/1"));
        }
    }
}
