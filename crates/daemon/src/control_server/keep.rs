//! Keep: a person settles the changes of a call. Only contents that the person has seen are settled. It must not know how
//! files are compared.

use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_checkpoint::Kind;
use castellan_event::PartsHash;
use castellan_files::{Guard, read_bytes};

use super::plans::shown;
use super::undo::{SEEN_CHARS, View, unseen_files};
use super::{ControlServer, Peer};
use crate::control::{ControlResponse, KeepReport, ShownCheckpoint, ShownDifference, ShownSide, UnseenFiles};
use crate::limits::{DIFF_BYTES_MAX, DIFF_FILE_BYTES_MAX, DIFFERENCES_MAX};
use crate::lost::settled_argument;

impl ControlServer {
    /// Settles a call: a person keeps the changes that castellan has shown, by [`ShownDifference::seen`] of each. Its
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

/// The present contents of a contained call's files. `written`: `None` if they are not known.
pub(super) fn view_of_files(workspace: String, written: Option<&BTreeSet<String>>, with_texts: bool) -> View {
    let root = Path::new(&workspace);
    let mut view = View {
        shown: ShownCheckpoint {
            root: workspace.clone(),
            differences: Vec::new(),
            count: 0,
            shown: String::new(),
            unseen: UnseenFiles::default(),
        },
        unknown: Vec::new(),
        contents: Vec::new(),
    };
    if written.is_none() {
        view.unknown.push(PathBuf::new());
    }
    let mut left = DIFF_BYTES_MAX;
    let inside = written.into_iter().flatten().filter_map(|file| Path::new(file).strip_prefix(root).ok());
    for path in inside {
        // A file that is gone needs nothing.
        let Ok(found) = root.join(path).symlink_metadata() else { continue };
        view.shown.count += 1;
        let is_listed = view.shown.count <= DIFFERENCES_MAX;
        let text = text_at(&root.join(path), &found).filter(|_| is_listed && with_texts);
        let text = text.filter(|text| text.len() <= left);
        left -= text.as_ref().map_or(0, String::len);
        let seen = text.as_ref().map(|text| hash_of(path, &found, text));
        match &seen {
            Some(seen) => view.contents.push((path.to_owned(), seen.clone())),
            None => view.unknown.push(path.to_owned()),
        }
        if is_listed {
            let kind = kind_of(&found).as_str().to_owned();
            let now = ShownSide { kind, size: found.size(), mode: found.mode() & 0o7777, text };
            let path = path.to_string_lossy().into_owned();
            let seen = seen.unwrap_or_default();
            view.shown.differences.push(ShownDifference { path, was: None, now: Some(now), seen });
        }
    }
    view
}

fn kind_of(found: &Metadata) -> Kind {
    match (found.is_dir(), found.is_symlink(), found.is_file()) {
        (true, ..) => Kind::Directory,
        (_, true, _) => Kind::Link,
        (_, _, true) => Kind::File,
        (false, false, false) => Kind::Device,
    }
}

/// The contents of a short text file, or the target of a link.
fn text_at(path: &Path, found: &Metadata) -> Option<String> {
    if found.is_symlink() {
        return std::fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned());
    }
    let bytes = read_bytes(path, DIFF_FILE_BYTES_MAX, Guard::Project).ok()?;
    String::from_utf8(bytes).ok()
}

/// See [`ShownDifference::seen`].
fn hash_of(path: &Path, found: &Metadata, text: &str) -> String {
    let stamp = (found.dev(), found.ino(), found.mode(), found.ctime(), found.ctime_nsec());
    let parts = [format!("{path:?}"), format!("{stamp:?}"), text.to_owned()];
    PartsHash::of(parts).hex().chars().take(SEEN_CHARS).collect()
}
