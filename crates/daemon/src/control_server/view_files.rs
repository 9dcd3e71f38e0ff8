//! The changes of a contained call without a checkpoint: the present texts of its files. It must not know what a person decides.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_checkpoint::Kind;
use castellan_files::{Guard, read_bytes};

use super::view::{View, seen};
use crate::control::{ShownCheckpoint, ShownDifference, ShownSide, UnseenFiles};
use crate::limits::{DIFF_BYTES_MAX, DIFF_FILE_BYTES_MAX, DIFFERENCES_MAX};

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
        let hash = text.as_ref().map(|text| hash_of(path, &found, text));
        match &hash {
            Some(hash) => view.contents.push((path.to_owned(), hash.clone())),
            None => view.unknown.push(path.to_owned()),
        }
        if is_listed {
            let kind = kind_of(&found).as_str().to_owned();
            let now = ShownSide { kind, size: found.size(), mode: found.mode() & 0o7777, text };
            let path = path.to_string_lossy().into_owned();
            let seen = hash.unwrap_or_default();
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
    seen(parts)
}
