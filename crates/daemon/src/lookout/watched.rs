//! [`Watched`]: a file from which an agent takes hooks, read again when it is another. It must not know what follows from what it says.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, AgentId, HookFile, HookFileReport, Place};

use super::sources::Owners;
use castellan_files::read_text;

#[derive(Debug)]
pub(super) struct Watched {
    pub(super) file: HookFile,
    pub(super) path: PathBuf,
    /// The plugins whose it is, where it is no settings file.
    pub(super) owners: Option<Owners>,
    /// How it was at the last look; the outer `None`: it was not looked at yet.
    state: Option<Option<Stamp>>,
    says: HookFileReport,
    /// What it said at the first look, where the agent goes by that whatever is written later.
    kept: Option<HookFileReport>,
}

/// What tells one state of a file from another, without its text. The last is the time of change, which nobody can set.
pub(super) type Stamp = (u64, u64, u64, i64, i64, i64, i64);

impl Watched {
    pub(super) fn new(file: HookFile, path: PathBuf, owners: Option<Owners>) -> Watched {
        Watched { file, path, owners, state: None, says: HookFileReport::default(), kept: None }
    }

    /// What it says now.
    pub(super) fn says(&self) -> &HookFileReport {
        &self.says
    }

    /// What the agent goes by, or may: what it says now, and what it said when the agent started.
    pub(super) fn counts(&self) -> impl Iterator<Item = &HookFileReport> {
        std::iter::once(&self.says).chain(&self.kept)
    }

    /// Reads it again if it is another than at the last look. Returns whether it is.
    pub(super) fn look(&mut self, agent: AgentId) -> bool {
        let is_first = self.state.is_none();
        let stamp = match stamp(&self.path) {
            Ok(stamp) if self.state == Some(stamp) => return false,
            Ok(stamp) => stamp,
            Err(error) => {
                let says = unread(&error);
                let is_news = is_first || says != self.says;
                (self.state, self.says) = (Some(None), says);
                return is_news;
            }
        };
        self.state = Some(stamp);
        self.says = match stamp.map(|_| read_text(&self.path, agents::SETTINGS_BYTES_MAX as u64)) {
            None => self.absent(is_first),
            Some(Ok(text)) => agents::read_hook_file(agent, &self.file, &text),
            // Removed in between: the next look sees that.
            Some(Err(error)) if is_absent(&error) => {
                self.state = Some(None);
                self.absent(is_first)
            }
            Some(Err(error)) => unread(&error),
        };
        let is_kept = !agents::rereads_settings(agent) || self.file.place == Place::CommandLine;
        if is_first && is_kept && self.says != HookFileReport::default() {
            self.kept = Some(self.says.clone());
        }
        true
    }

    /// An agent does not start with a file that is not there: it was.
    fn absent(&self, is_first: bool) -> HookFileReport {
        let is_gone = is_first && self.file.place == Place::CommandLine;
        let why = is_gone.then(|| "it is not there any more".to_owned());
        HookFileReport { unread: why, ..HookFileReport::default() }
    }
}

fn unread(error: &io::Error) -> HookFileReport {
    HookFileReport { unread: Some(error.to_string()), ..HookFileReport::default() }
}

/// Whether there is nothing, to the agent neither.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Symlinks are followed, as the agents do. `None`: there is nothing.
pub(super) fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some((
            found.dev(),
            found.ino(),
            found.size(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
