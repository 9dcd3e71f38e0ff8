//! Contained calls in the daemon's state: their begin, their end, copies of their files, and their settlement. It must not know
//! how files are found.

use std::collections::BTreeSet;
use std::io;

use castellan_event::ContainedCopies;

use super::Memory;
use super::contained::{CallFiles, Named, WiderMark};
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
        let workspace = workspace.to_owned();
        self.put(Entry::Contained { call, workspace, process: Some(process), beside });
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
        let copied = self.copied_beside(call, &written.iter().cloned().collect());
        self.put(Entry::ContainedOver { call, workspace: workspace.to_owned(), written });
        self.mark_copies(call, workspace, copied);
        self.outdate();
        self.save()
    }

    /// Returns the copies that other calls made or may still make, which began before a contained call.
    fn copied_beside(&mut self, call: u64, files: &BTreeSet<String>) -> BTreeSet<String> {
        let mut copied = self.lasting.contained.copied_beside(call, files);
        let all = files.union(&copied).cloned().collect();
        copied.extend(self.lasting.changes.copy_from(call, &all));
        copied
    }

    fn mark_copies(&mut self, call: u64, workspace: &str, paths: BTreeSet<String>) {
        if !paths.is_empty() {
            let (workspace, paths) = (workspace.to_owned(), paths.into_iter().collect());
            self.put(Entry::ContainedCopied { call, workspace, paths });
        }
    }

    /// Marks copies of files that contained calls wrote, from now on: the call `by`, which makes them, may run. Calls that run
    /// already may copy the copies.
    pub(crate) fn copy_contained(&mut self, ContainedCopies { from, into }: &ContainedCopies, by: u64) {
        if from.is_empty() {
            return;
        }
        let mut paths = into.clone();
        paths.extend(self.lasting.changes.copy_from(by, into));
        for (call, workspace) in self.lasting.contained.sources(from) {
            self.mark_copies(call, &workspace, paths.clone());
        }
        self.outdate();
    }

    /// The files of a contained call that nobody has settled.
    pub(crate) fn contained_call(&self, call: u64) -> Option<CallFiles> {
        self.lasting.contained.of(call)
    }

    /// The process of a contained call whose files are not known yet.
    pub(crate) fn contained_process(&self, call: u64) -> Option<AgentProcess> {
        self.lasting.contained.process_of(call)
    }

    /// Returns the processes that run contained calls, as far as they are known.
    pub(crate) fn contained_processes(&self) -> Vec<AgentProcess> {
        self.lasting.contained.processes().collect()
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
