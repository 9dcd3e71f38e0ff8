//! Contained calls in the daemon's state: their begin, their end, copies of their files, and their settlement. It must not know
//! how files are found.

use std::collections::BTreeSet;
use std::io;

use castellan_event::ContainedCopies;
use castellan_facts::ChangedPath;

use super::Memory;
use super::contained::{Named, WiderMark};
use super::entry::Entry;
use crate::peers::AgentProcess;

impl Memory {
    /// Stores that a contained call may write files of a workspace from now on. An error if that cannot be stored.
    pub(crate) fn begin_contained(
        &mut self,
        call: u64,
        workspace: &str,
        process: AgentProcess,
    ) -> io::Result<()> {
        let beside = self.lasting.changes.beside(call, workspace);
        self.put(Entry::Contained { call, workspace: workspace.to_owned(), process: Some(process) });
        self.lasting.contained.run_beside(call, beside);
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
        let files: BTreeSet<String> = written.iter().cloned().collect();
        self.put(Entry::ContainedOver { call, workspace: workspace.to_owned(), written });
        self.copy_beside(call, workspace, &files);
        self.outdate();
        self.save()
    }

    /// Stores that nobody knows what a contained call wrote: each file of its workspace stays marked.
    pub(crate) fn lose_contained(&mut self, call: u64, workspace: &str) -> io::Result<()> {
        let files = BTreeSet::from([ChangedPath::Anywhere(workspace).stored()]);
        self.copy_beside(call, workspace, &files);
        self.outdate();
        self.save()
    }

    /// Marks the copies that other calls made or may still make, which began before a contained call.
    fn copy_beside(&mut self, call: u64, workspace: &str, files: &BTreeSet<String>) {
        let mut copied = self.lasting.contained.copied_beside(call, files);
        copied.extend(self.lasting.changes.copy_from(call, files));
        if !copied.is_empty() {
            let (workspace, paths) = (workspace.to_owned(), copied.into_iter().collect());
            self.put(Entry::ContainedCopied { call, workspace, paths });
        }
    }

    /// Marks copies of files that contained calls wrote, from now on: the call that makes them may run.
    pub(crate) fn copy_contained(&mut self, ContainedCopies { from, into }: &ContainedCopies) {
        if from.is_empty() {
            return;
        }
        for (call, workspace) in self.lasting.contained.sources(from) {
            self.put(Entry::ContainedCopied { call, workspace, paths: into.iter().cloned().collect() });
        }
        self.outdate();
    }

    /// The workspace of a contained call that nobody has settled, and its files; `None` if they are not known.
    pub(crate) fn contained_call(&self, call: u64) -> Option<(String, Option<BTreeSet<String>>)> {
        self.lasting.contained.of(call)
    }

    /// The process of a contained call whose files are not known yet.
    pub(crate) fn contained_process(&self, call: u64) -> Option<AgentProcess> {
        self.lasting.contained.process_of(call)
    }

    /// Returns the marks that a person settles by naming paths; see [`ContainedFiles::at`].
    pub(crate) fn contained_at(&self, paths: &[String]) -> Result<Vec<Named>, WiderMark> {
        self.lasting.contained.at(paths)
    }

    /// Forgets the files of a contained call, because a person has kept or undone them.
    pub(crate) fn settle_contained(&mut self, call: u64, workspace: &str) -> io::Result<()> {
        self.put(Entry::ContainedSettled { call, workspace: workspace.to_owned() });
        self.outdate();
        self.save()
    }
}
