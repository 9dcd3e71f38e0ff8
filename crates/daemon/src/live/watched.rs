//! [`Watched`]: a file with an agent's hooks, read again when it changes. It must not know the consequences.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, AgentId, HookFile, HookFileReport, Place};

use crate::sight::{self, read_text};

/// The plugins that a file belongs to. `None` is an owner that no settings can disable.
pub(super) type Owners = BTreeSet<Option<String>>;

#[derive(Debug)]
pub(super) struct Watched {
    pub(super) file: HookFile,
    pub(super) path: PathBuf,
    /// The plugins that it belongs to; `None` for a settings file.
    pub(super) owners: Option<Owners>,
    /// State at the last check. The outer `None` means that it was not checked yet.
    state: Option<Option<Stamp>>,
    report: HookFileReport,
    /// Contents at the first check, if the agent does not reread the file.
    kept: Option<HookFileReport>,
}

/// Identifies a state of a file without its text. The last part is the time of change, which no program can set.
pub(super) type Stamp = (u64, u64, u64, i64, i64, i64, i64);

impl Watched {
    pub(super) fn new(file: HookFile, path: PathBuf, owners: Option<Owners>) -> Watched {
        Watched { file, path, owners, state: None, report: HookFileReport::default(), kept: None }
    }

    pub(super) fn report(&self) -> &HookFileReport {
        &self.report
    }

    /// Returns the contents that the agent uses or may use: the present ones, and those at the agent's start.
    pub(super) fn counts(&self) -> impl Iterator<Item = &HookFileReport> {
        std::iter::once(&self.report).chain(&self.kept)
    }

    /// Reads the file again if it has changed since the last check. Returns whether it has.
    pub(super) fn look(&mut self, agent: AgentId) -> bool {
        let is_first = self.state.is_none();
        let stamp = match stamp(&self.path) {
            Ok(stamp) if self.state == Some(stamp) => return false,
            Ok(stamp) => stamp,
            Err(error) => {
                let report = unread(&error);
                let is_news = is_first || report != self.report;
                (self.state, self.report) = (Some(None), report);
                return is_news;
            }
        };
        self.state = Some(stamp);
        self.report = match stamp.map(|_| read_text(&self.path, agents::SETTINGS_BYTES_MAX as u64)) {
            None => self.absent(is_first),
            Some(Ok(text)) => agents::read_hook_file(agent, &self.file, &text),
            // Removed in between: the next check detects it.
            Some(Err(error)) if is_absent(&error) => {
                self.state = Some(None);
                self.absent(is_first)
            }
            Some(Err(error)) => unread(&error),
        };
        let is_kept = !agents::rereads_settings(agent) || self.file.place == Place::CommandLine;
        if is_first && is_kept && self.report != HookFileReport::default() {
            self.kept = Some(self.report.clone());
        }
        true
    }

    /// Returns the report for an absent file. A command-line file existed, because the agent does not start without it.
    fn absent(&self, is_first: bool) -> HookFileReport {
        let is_gone = is_first && self.file.place == Place::CommandLine;
        let why = is_gone.then(|| "it is not there any more".to_owned());
        HookFileReport { unread: why, ..HookFileReport::default() }
    }
}

fn unread(error: &io::Error) -> HookFileReport {
    HookFileReport { unread: Some(error.to_string()), ..HookFileReport::default() }
}

/// Reports whether the file is absent, also for the agent.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the stamp of a file, or `None` if it does not exist. Follows symlinks, as the agents do.
pub(super) fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match sight::metadata(path) {
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
