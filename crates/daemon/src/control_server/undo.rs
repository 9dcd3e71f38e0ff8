//! Undo: shows the differences to a checkpoint, puts it back, or settles it. A person does both. It must not know how
//! files are copied.

use castellan_checkpoint::{Difference, Restored, Side, Store};
use castellan_event::PartsHash;

use super::plans::shown;
use super::{ControlServer, Peer};
use crate::control::{
    ControlResponse, ListedCheckpoint, ShownCheckpoint, ShownDifference, ShownSide, UndoReport,
};
use crate::judge::random;
use crate::limits::{DIFF_BYTES_MAX, DIFF_FILE_BYTES_MAX, DIFFERENCES_MAX};
use crate::presence;

/// Entries that a report lists.
const LEFT_LISTED_MAX: usize = 100;

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
        let store = self.store()?;
        let differences = store.diff(id).map_err(|error| ControlResponse::Failed(error.to_string()))?;
        let root = store.root(id).map_err(|error| ControlResponse::Failed(error.to_string()))?;
        let mut left = DIFF_BYTES_MAX;
        let listed = differences.iter().take(DIFFERENCES_MAX).map(|difference| {
            let (was, now) = if with_texts { texts(store, id, difference, &mut left) } else { (None, None) };
            ShownDifference {
                path: difference.path.to_string_lossy().into_owned(),
                was: difference.was.as_ref().map(|side| shown_side(side, was)),
                now: difference.now.as_ref().map(|side| shown_side(side, now)),
            }
        });
        Ok(ShownCheckpoint {
            root: root.to_string_lossy().into_owned(),
            differences: listed.collect(),
            count: differences.len(),
            shown: hash_of(&differences),
        })
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
        let differences = store.diff(id).map_err(|error| error.to_string());
        let is_seen = differences.and_then(|differences| match hash_of(&differences) == seen {
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
                self.judge.settle_undone(id, &restored.unknown);
                let before = if is_final { String::new() } else { before };
                (report(&restored, before), Ok(()))
            }
            Err(why) => (UndoReport::default(), Err(why)),
        };
        let what = match outcome {
            Ok(()) => format!("{argument}: {} written, {} removed", report.written, report.removed),
            Err(_) => argument,
        };
        self.conclude("undo", &what, peer, outcome)?;
        Ok(report)
    }

    /// Settles a call: a person keeps its changes. Its checkpoint goes. Files of a contained call can be settled without one.
    pub(super) fn keep(&self, id: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let argument = shown(id);
        self.check_presence("keep", &argument, peer)?;
        // Recorded first: the record of a person's consent.
        let is_there = self.judge.has_contained(id) || self.store()?.has(id);
        let outcome = match is_there {
            true => self.judge.check_ended(id),
            false => Err(format!("there is no checkpoint {argument}")),
        };
        self.conclude("keep", &argument, peer, outcome)?;
        self.judge.keep_changes(id);
        Ok(())
    }

    fn store(&self) -> Result<&Store, ControlResponse> {
        self.judge.undo().store().map_err(ControlResponse::Failed)
    }
}

fn report(restored: &Restored, before: String) -> UndoReport {
    let left = restored.left.iter().take(LEFT_LISTED_MAX);
    UndoReport {
        written: restored.written.len(),
        removed: restored.removed.len(),
        adjusted: restored.adjusted.len(),
        left: left.map(|(path, why)| (path.to_string_lossy().into_owned(), why.clone())).collect(),
        left_count: restored.left.len(),
        before,
    }
}

/// The texts of both states of a file, while there is room.
fn texts(
    store: &Store,
    id: &str,
    difference: &Difference,
    left: &mut usize,
) -> (Option<String>, Option<String>) {
    let is_readable = |side: &Option<Side>| side.as_ref().is_none_or(|side| side.is_readable);
    if !is_readable(&difference.was) || !is_readable(&difference.now) {
        return (None, None);
    }
    let text = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let max = DIFF_FILE_BYTES_MAX;
    let was = text(store.old_contents(id, &difference.path, max).ok().flatten());
    let now = text(store.new_contents(id, &difference.path, max).ok().flatten());
    let is_whole = was.is_some() == difference.was.is_some() && now.is_some() == difference.now.is_some();
    let bytes = was.as_ref().map_or(0, String::len) + now.as_ref().map_or(0, String::len);
    match left.checked_sub(bytes).filter(|_| is_whole) {
        Some(rest) => {
            *left = rest;
            (was, now)
        }
        None => (None, None),
    }
}

fn shown_side(side: &Side, text: Option<String>) -> ShownSide {
    ShownSide { kind: side.kind.as_str().to_owned(), size: side.size, mode: side.mode, text }
}

/// The hash of all differences, with the status of the present files.
fn hash_of(differences: &[Difference]) -> String {
    PartsHash::of(differences.iter().map(|difference| format!("{difference:?}"))).hex()
}
