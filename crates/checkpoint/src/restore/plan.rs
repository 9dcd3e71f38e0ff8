//! [`Plan`]: the steps of a restore, from the differences. It reads nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::copy::Hash;
use crate::difference::Pair;
use crate::manifest::{Extent, Was};
use crate::stat::Stat;

/// The names of the staged entries by their places.
pub(super) type Staged = HashMap<PathBuf, String>;

/// The steps of a restore. Each list is in the order of paths, so a directory comes before its entries.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Entries that are moved away, with everything below them.
    pub(crate) out: Vec<PathBuf>,
    /// Directories that are made.
    pub(crate) directories: Vec<(PathBuf, Stat)>,
    /// Files that are written.
    pub(crate) files: Vec<(PathBuf, Hash, Stat)>,
    /// Links that are made, with their targets.
    pub(crate) links: Vec<(PathBuf, Vec<u8>)>,
    /// Files that get only permissions and times.
    pub(crate) statuses: Vec<(PathBuf, Stat)>,
    /// Directories that go if they are empty.
    pub(crate) empty: Vec<PathBuf>,
    /// Everything that is written.
    pub(crate) written: Vec<PathBuf>,
    /// Everything that gets only permissions or times; directories with other times are not among them.
    pub(crate) adjusted: Vec<PathBuf>,
    /// Entries that cannot be put back, with the reason.
    pub(crate) left: Vec<(PathBuf, String)>,
}

impl Plan {
    /// Plans the steps for differences in the order of their paths.
    pub(crate) fn of(pairs: Vec<Pair>) -> Plan {
        let mut plan = Plan::default();
        for pair in pairs {
            plan.add(pair);
        }
        plan.written.sort();
        plan.out.sort();
        plan
    }

    fn add(&mut self, Pair { path, was, now, is_status }: Pair) {
        if matches!(&now, Was::Other { stat } if stat.kind == crate::stat::Kind::Mount) {
            return self.leave(path, "another file system is mounted there");
        }
        match was {
            Was::Absent => self.move_out(path),
            Was::AbsentAbove => match now {
                Was::Directory { .. } => self.empty.push(path),
                Was::Absent | Was::AbsentAbove | Was::File { .. } | Was::Link { .. } | Was::Other { .. } => {}
            },
            Was::File { content: None, .. } if !is_status => {
                self.leave(path, "castellan has not copied it: it was too large, unreadable or changing");
            }
            Was::File { stat, .. } if is_status => {
                self.adjusted.push(path.clone());
                self.statuses.push((path, stat));
            }
            Was::File { stat, content } => {
                if let Some(content) = content {
                    self.replace(&path, &now);
                    self.files.push((path, content, stat));
                }
            }
            Was::Directory { stat, .. } if is_status => {
                if now.stat().is_some_and(|now| now.mode != stat.mode) {
                    self.adjusted.push(path);
                }
            }
            Was::Directory { extent: Extent::LeftOut, .. } => {
                self.leave(path, "checkpoints leave it out: a tool makes it again, or another user owns it");
            }
            Was::Directory { stat, .. } => {
                self.replace(&path, &now);
                self.directories.push((path, stat));
            }
            Was::Link { target, .. } => {
                self.replace(&path, &now);
                self.links.push((path, target));
            }
            Was::Other { stat } => {
                let why = format!("castellan does not make a {} again", stat.kind.as_str());
                self.leave(path, &why);
            }
        }
    }

    fn replace(&mut self, path: &Path, now: &Was) {
        if now.stat().is_some() {
            self.move_out(path.to_owned());
        }
        self.written.push(path.to_owned());
    }

    /// Everything below an entry goes with it.
    fn move_out(&mut self, path: PathBuf) {
        // The last one that is at or before it in the order of bytes may have a name between both: `a`, `a-b`, `a/c`.
        let is_moved = path.ancestors().skip(1).any(|above| self.out.iter().rev().any(|out| out == above));
        if !is_moved {
            self.out.push(path);
        }
    }

    fn leave(&mut self, path: PathBuf, why: &str) {
        self.left.push((path, why.to_owned()));
    }
}
