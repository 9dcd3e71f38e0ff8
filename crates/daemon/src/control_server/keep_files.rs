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
use crate::memory::Named;

impl ControlServer {
    /// The marks at or below paths. `shown` differs after each change of the files.
    pub(super) fn marked_files(&self, paths: &[String]) -> Result<ControlResponse, ControlResponse> {
        let marked = self.judge.named(paths).and_then(|found| marked(&found));
        marked.map(Box::new).map(ControlResponse::Marked).map_err(ControlResponse::Failed)
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
        let read = self.judge.named(paths).and_then(|found| match marked(&found)? {
            marked if marked.count == 0 => {
                Err(format!("no contained command wrote {argument}, or its files are settled"))
            }
            marked if marked.shown == seen => Ok(found),
            _ => Err("the files have changed since you saw them: look again".to_owned()),
        });
        let read = match read {
            Ok(read) => read,
            Err(why) => {
                return self.conclude("keep", &argument, peer, Err(why)).map(|()| ControlResponse::Done);
            }
        };
        // Recorded first: the record of a person's consent.
        for one in &read {
            let call = settled_argument(&checkpoint_id(one.call), one.rest.len());
            self.conclude("keep", &format!("{call}: {argument}"), peer, Ok(()))?;
        }
        let settled = self.judge.settle_named(paths, read);
        settled.or_else(|why| self.conclude("keep", &argument, peer, Err(why)))?;
        Ok(ControlResponse::Done)
    }
}

/// The named marks as a person sees them.
fn marked(found: &[Named]) -> Result<MarkedFiles, String> {
    let files: BTreeSet<&String> = found.iter().flat_map(|one| &one.named).collect();
    let states: Result<Vec<String>, String> = files.iter().map(|mark| state_of(mark)).collect();
    Ok(MarkedFiles {
        files: files.iter().take(DIFFERENCES_MAX).map(|mark| fixed_or_name(mark)).collect(),
        count: files.len(),
        shown: PartsHash::of(states?).hex(),
    })
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
