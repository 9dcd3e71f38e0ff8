//! Keep by names: a person settles files of contained commands that no difference shows, such as packages and programs. It must
//! not know contents.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use castellan_checkpoint::{Limits, Listing};
use castellan_event::PartsHash;

use super::{ControlServer, Peer};
use crate::control::{ControlResponse, MarkedFiles};
use crate::judge::{checkpoint_id, fixed_directory};
use crate::limits::DIFFERENCES_MAX;
use crate::lost::settled_argument;

impl ControlServer {
    /// The marks at or below paths. `shown` differs after each change of the files.
    pub(super) fn marked_files(&self, paths: &[String]) -> Result<ControlResponse, ControlResponse> {
        self.marked(paths).map(Box::new).map(ControlResponse::Marked).map_err(ControlResponse::Failed)
    }

    fn marked(&self, paths: &[String]) -> Result<MarkedFiles, String> {
        let found = self.judge.named(paths)?;
        let files: BTreeSet<&String> = found.iter().flat_map(|one| &one.named).collect();
        let states: Result<Vec<String>, String> = files.iter().map(|mark| state_of(mark)).collect();
        Ok(MarkedFiles {
            files: files.iter().take(DIFFERENCES_MAX).map(|mark| fixed_or_name(mark)).collect(),
            count: files.len(),
            shown: PartsHash::of(states?).hex(),
        })
    }

    /// Settles the marks at or below paths, if the files are those that a person has seen.
    pub(super) fn keep_files(
        &self,
        paths: &[String],
        seen: &str,
        peer: Peer<'_>,
    ) -> Result<ControlResponse, ControlResponse> {
        let argument = super::plans::shown(&paths.join(" "));
        self.check_presence("keep", &argument, peer)?;
        let outcome = match self.marked(paths) {
            Ok(marked) if marked.count == 0 => {
                Err(format!("no contained command wrote {argument}, or its files are settled"))
            }
            Ok(marked) if marked.shown == seen => Ok(()),
            Ok(_) => Err("the files have changed since you saw them: look again".to_owned()),
            Err(why) => Err(why),
        };
        if outcome.is_err() {
            self.conclude("keep", &argument, peer, outcome)?;
        }
        // Recorded first: the record of a person's consent.
        for one in self.judge.named(paths).map_err(ControlResponse::Failed)? {
            let call = settled_argument(&checkpoint_id(one.call), one.rest.len());
            self.conclude("keep", &format!("{call}: {argument}"), peer, Ok(()))?;
        }
        let settled = self.judge.settle_named(paths);
        settled.or_else(|why| self.conclude("keep", &argument, peer, Err(why)))?;
        Ok(ControlResponse::Done)
    }
}

/// A mark as a person names it.
fn fixed_or_name(mark: &str) -> String {
    if fixed_directory(mark) == mark { mark.to_owned() } else { format!("{}/", fixed_directory(mark)) }
}

/// A text that differs after each change of a mark's files.
fn state_of(mark: &str) -> Result<String, String> {
    let place = Path::new(fixed_directory(mark));
    let Ok(found) = place.symlink_metadata() else { return Ok(format!("{mark} is gone")) };
    let stamp = (found.dev(), found.ino(), found.mode(), found.size(), found.ctime(), found.ctime_nsec());
    let below = match found.is_dir() {
        true => {
            let listing = Listing::read(place, &Limits::default()).map_err(|error| error.to_string())?;
            PartsHash::of(listing.entries.iter().map(|entry| format!("{:?} {:?}", entry.path, entry.stat)))
                .hex()
        }
        false => String::new(),
    };
    Ok(format!("{mark} {stamp:?} {below}"))
}
