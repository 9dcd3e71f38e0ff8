//! [`Changes`]: the difference between two listings of one directory.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::listing::{Entry, Listing};
use crate::stat::Kind;

/// The paths that differ between two listings, in the order of their bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Only the later listing has them.
    pub created: Vec<PathBuf>,
    /// Another file, other contents, another kind or other permissions. A directory that merely got other entries is not
    /// among them.
    pub changed: Vec<PathBuf>,
    /// Only the earlier listing has them.
    pub removed: Vec<PathBuf>,
}

impl Changes {
    /// Reports whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.created.iter().chain(&self.changed).chain(&self.removed)
    }
}

impl Listing {
    /// Compares this listing with a later one of the same directory.
    pub fn changes(&self, after: &Listing) -> Changes {
        between(&self.entries, &after.entries)
    }
}

/// Compares two sorted lists.
fn between(before: &[Entry], after: &[Entry]) -> Changes {
    let mut changes = Changes::default();
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return changes,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.path.as_os_str().as_bytes().cmp(new.path.as_os_str().as_bytes()),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { after.next() } else { None };
        match (old, new) {
            (Some(old), Some(new)) if is_changed(old, new) => changes.changed.push(new.path.clone()),
            (Some(_), Some(_)) | (None, None) => {}
            (Some(old), None) => changes.removed.push(old.path.clone()),
            (None, Some(new)) => changes.created.push(new.path.clone()),
        }
    }
}

/// The times of a listed directory change with its entries, which are compared themselves. Nobody sees the entries of an
/// unreadable one, so its times decide.
fn is_changed(old: &Entry, new: &Entry) -> bool {
    let (was, is) = (&old.stat, &new.stat);
    if was.kind == Kind::Directory && is.kind == Kind::Directory && old.is_listed && new.is_listed {
        return (was.dev, was.ino, was.mode, was.uid, was.gid) != (is.dev, is.ino, is.mode, is.uid, is.gid);
    }
    !was.is_same(is) || (was.uid, was.gid, old.is_listed) != (is.uid, is.gid, new.is_listed)
}
