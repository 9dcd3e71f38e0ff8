//! Undo: shows the differences to a checkpoint, and puts it back, which a person does. It must not know how files are
//! copied.

use castellan_checkpoint::{Restored, Store};

use super::plans::shown;
use super::view::{LEFT_LISTED_MAX, View, hash_of, unseen_files, view_of_checkpoint};
use super::view_files::view_of_files;
use super::{ControlServer, Peer};
use crate::control::{ControlResponse, ListedCheckpoint, ShownCheckpoint, UndoReport, UnseenFiles};
use crate::judge::random;
use crate::lost::settled_argument;
use crate::memory::CallFiles;
use crate::presence;

impl ControlServer {
    /// The checkpoints, the oldest first.
    pub(super) fn checkpoints(&self) -> Vec<ListedCheckpoint> {
        let store = self.judge.undo().store().ok();
        let listed = store.map(Store::list).unwrap_or_default().into_iter();
        listed.map(|one| ListedCheckpoint { id: one.id, taken_s: one.taken_s, bytes: one.bytes }).collect()
    }

    /// The differences to a checkpoint. An agent gets no contents: its rules may keep it from reading these files.
    pub(super) fn diff(&self, id: &str, peer: Peer<'_>) -> Result<ShownCheckpoint, ControlResponse> {
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        let with_texts = !presence::is_within_agent(peer.pid, guarded);
        let View { mut shown, unknown, .. } = self.view(id, with_texts)?;
        shown.unseen = unseen_files(&self.judge.unsettled(id, &unknown));
        Ok(shown)
    }

    /// The changes of a call: the differences to its checkpoint, or the files of a contained call without one.
    pub(super) fn view(&self, id: &str, with_texts: bool) -> Result<View, ControlResponse> {
        let store = self.store()?;
        if !store.has(id)
            && let Some(CallFiles { workspace, written, copies }) = self.judge.contained_files(id)
        {
            let written = written.map(|written| written.union(&copies).cloned().collect());
            return Ok(view_of_files(workspace, written.as_ref(), with_texts));
        }
        view_of_checkpoint(store, id, with_texts).map_err(ControlResponse::Failed)
    }

    /// Puts a checkpoint back, if the differences are still those that a person has seen.
    pub(super) fn undo(
        &self,
        id: &str,
        seen: &str,
        is_final: bool,
        peer: Peer<'_>,
    ) -> Result<UndoReport, ControlResponse> {
        let argument = shown(id);
        self.check_presence("undo", &argument, peer)?;
        let store = self.store()?;
        let compared = store.compare(id).map_err(|error| error.to_string());
        let is_seen = compared.and_then(|compared| match hash_of(&compared.differences) == seen {
            true => Ok(()),
            false => Err("the files have changed since you saw the differences: look again".to_owned()),
        });
        if is_seen.is_err() {
            self.conclude("undo", &argument, peer, is_seen)?;
        }
        if let Err(why) = self.judge.check_ended(id) {
            self.conclude("undo", &argument, peer, Err(why))?;
        }
        let before = format!("undo-{:x}", random());
        let kept = (!is_final).then_some((before.as_str(), "undo"));
        let restored = store.restore(id, kept).map_err(|error| error.to_string());
        let (report, outcome) = match restored {
            Ok(restored) => {
                let unseen = unseen_files(&self.judge.unsettled(id, &restored.unknown));
                self.judge.settle_but(id, &restored.unknown);
                let before = if is_final { String::new() } else { before };
                (report(&restored, before, unseen), Ok(()))
            }
            Err(why) => (UndoReport::default(), Err(why)),
        };
        let what = match outcome {
            Ok(()) => {
                let done = settled_argument(&argument, report.unseen.count);
                format!("{done}: {} written, {} removed", report.written, report.removed)
            }
            Err(_) => argument,
        };
        self.conclude("undo", &what, peer, outcome)?;
        Ok(report)
    }

    pub(super) fn store(&self) -> Result<&Store, ControlResponse> {
        self.judge.undo().store().map_err(ControlResponse::Failed)
    }
}

fn report(restored: &Restored, before: String, unseen: UnseenFiles) -> UndoReport {
    let left = restored.left.iter().take(LEFT_LISTED_MAX);
    UndoReport {
        written: restored.written.len(),
        removed: restored.removed.len(),
        adjusted: restored.adjusted.len(),
        left: left.map(|(path, why)| (path.to_string_lossy().into_owned(), why.clone())).collect(),
        left_count: restored.left.len(),
        unseen,
        before,
    }
}
