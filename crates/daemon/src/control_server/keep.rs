//! Keep: a person settles the changes of a call. Only contents that the person has seen are settled. It must not know how
//! files are compared.

use std::collections::HashSet;
use std::path::PathBuf;

use super::plans::shown;
use super::view::{View, unseen_files};
use super::{ControlServer, Peer};
use crate::control::{ControlResponse, KeepReport};
use crate::lost::settled_argument;

impl ControlServer {
    /// Settles a call: a person keeps the changes that castellan has shown, by the hash of each. Its
    /// checkpoint goes, unless other changes came meanwhile.
    pub(super) fn keep(
        &self,
        id: &str,
        seen: &[String],
        peer: Peer<'_>,
    ) -> Result<ControlResponse, ControlResponse> {
        let argument = shown(id);
        self.check_presence("keep", &argument, peer)?;
        let has_checkpoint = self.store()?.has(id);
        if !has_checkpoint && self.judge.contained_files(id).is_none() {
            let why = format!("there is no checkpoint {argument}");
            self.conclude("keep", &argument, peer, Err(why))?;
        }
        let View { unknown: mut places, contents, .. } = self.view(id, true)?;
        let seen: HashSet<&str> = seen.iter().map(String::as_str).collect();
        let changed = contents.into_iter().filter(|(_, hash)| !seen.contains(hash.as_str()));
        let changed: Vec<PathBuf> = changed.map(|(path, _)| path).collect();
        let changed_count = changed.len();
        places.extend(changed);
        let unseen = unseen_files(&self.judge.unsettled(id, &places));
        // Recorded first: the record of a person's consent.
        let what = settled_argument(&argument, unseen.count);
        self.conclude("keep", &what, peer, self.judge.check_ended(id))?;
        self.judge.settle_but(id, &places);
        if changed_count == 0 {
            self.store()?.remove(id);
        }
        Ok(ControlResponse::Kept(Box::new(KeepReport { unseen, changed: changed_count })))
    }
}
