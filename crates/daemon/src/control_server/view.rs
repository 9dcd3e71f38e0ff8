//! The changes of a call as a person sees them: the differences between a checkpoint and the present files. It must not know
//! what a person decides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use castellan_checkpoint::{Comparison, Difference, Kind, Side, Store};
use castellan_event::PartsHash;

use crate::control::{ShownCheckpoint, ShownDifference, ShownSide, UnseenFiles};
use crate::limits::{DIFF_BYTES_MAX, DIFF_FILE_BYTES_MAX, DIFFERENCES_MAX};

/// Entries that a report lists.
pub(super) const LEFT_LISTED_MAX: usize = 100;

/// Digits of the hash of one difference: 128 bits.
const SEEN_CHARS: usize = 32;

/// The changes of a call as a person sees them.
#[derive(Debug)]
pub(super) struct View {
    pub(super) shown: ShownCheckpoint,
    /// Places that it does not show, below the workspace.
    pub(super) unknown: Vec<PathBuf>,
    /// The paths whose contents it shows, with [`ShownDifference::seen`] of each. Directories are not among them: their
    /// entries are.
    pub(super) contents: Vec<(PathBuf, String)>,
}

/// The differences between a checkpoint and the present files.
pub(super) fn view_of_checkpoint(store: &Store, id: &str, with_texts: bool) -> Result<View, String> {
    let Comparison { differences, unknown } = store.compare(id).map_err(|error| error.to_string())?;
    let root = store.root(id).map_err(|error| error.to_string())?;
    let shown = ShownCheckpoint {
        root: root.to_string_lossy().into_owned(),
        differences: Vec::new(),
        count: differences.len(),
        shown: hash_of(&differences),
        unseen: UnseenFiles::default(),
    };
    let mut view = View { shown, unknown, contents: Vec::new() };
    let mut left = DIFF_BYTES_MAX;
    for (at, difference) in differences.iter().enumerate() {
        let is_listed = at < DIFFERENCES_MAX;
        let (was, now) = match is_listed && with_texts {
            true => texts(store, id, difference, &mut left),
            false => (None, None),
        };
        let is_seen = is_listed && is_seen(difference, now.as_deref());
        let seen = if is_seen { hash_with(difference, now.as_deref()) } else { String::new() };
        if !is_seen {
            view.unknown.push(difference.path.clone());
        } else if !difference.now.as_ref().is_some_and(|now| now.kind == Kind::Directory) {
            view.contents.push((difference.path.clone(), seen.clone()));
        }
        if is_listed {
            view.shown.differences.push(ShownDifference {
                path: difference.path.to_string_lossy().into_owned(),
                was: difference.was.as_ref().map(|side| shown_side(side, was)),
                now: difference.now.as_ref().map(|side| shown_side(side, now)),
                seen,
            });
        }
    }
    Ok(view)
}

/// The texts of both states of a path, while there is room: the contents of files and the targets of links.
fn texts(
    store: &Store,
    id: &str,
    difference: &Difference,
    left: &mut usize,
) -> (Option<String>, Option<String>) {
    let has_text =
        |side: &Option<Side>| side.as_ref().is_none_or(|side| side.is_readable || side.target.is_some());
    if !has_text(&difference.was) || !has_text(&difference.now) {
        return (None, None);
    }
    let target = |side: &Option<Side>| side.as_ref().and_then(|side| side.target.clone());
    let text = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let (path, max) = (&difference.path, DIFF_FILE_BYTES_MAX);
    let was = target(&difference.was).or_else(|| text(store.old_contents(id, path, max).ok().flatten()));
    let now = target(&difference.now).or_else(|| text(store.new_contents(id, path, max).ok().flatten()));
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

/// Reports whether a person who is shown a difference sees the present state: the text of a file, the target of a link.
/// Entries of a directory are differences of their own.
fn is_seen(difference: &Difference, text: Option<&str>) -> bool {
    let Some(now) = &difference.now else { return true };
    match now.kind {
        Kind::Directory => true,
        Kind::File | Kind::Link => text.is_some(),
        Kind::Pipe | Kind::Socket | Kind::Device | Kind::Mount => false,
    }
}

/// Counts files by their folders.
pub(super) fn unseen_files(files: &BTreeSet<String>) -> UnseenFiles {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let folder = file.rsplit_once('/').map_or("/", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
    }
    let folders = folders.into_iter().take(LEFT_LISTED_MAX);
    UnseenFiles {
        folders: folders.map(|(folder, number)| (folder.to_owned(), number)).collect(),
        count: files.len(),
    }
}

fn shown_side(side: &Side, text: Option<String>) -> ShownSide {
    ShownSide { kind: side.kind.as_str().to_owned(), size: side.size, mode: side.mode, text }
}

/// The hash of all differences, with the status of the present files.
pub(super) fn hash_of(differences: &[Difference]) -> String {
    PartsHash::of(differences.iter().map(|difference| format!("{difference:?}"))).hex()
}

/// The hash of a difference with the present text that was shown. The status alone does not suffice: its times have steps, so
/// that two changes can have one time.
fn hash_with(difference: &Difference, text: Option<&str>) -> String {
    let parts = [format!("{difference:?}"), text.unwrap_or_default().to_owned()];
    seen(parts)
}

/// [`ShownDifference::seen`] of the parts of a difference.
pub(super) fn seen(parts: impl IntoIterator<Item = String>) -> String {
    PartsHash::of(parts).hex().chars().take(SEEN_CHARS).collect()
}
