//! [`Said`]: what all files of an agent come to, and what of it is news. It must not know which files there are, nor how they are read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use castellan_agents::Foreign;

/// Something that has changed in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingsChange {
    /// castellan is not asked any more.
    HooksOff {
        /// The file that says so.
        file: PathBuf,
        /// How.
        how: String,
    },
    /// A hook of somebody else's is asked about the same calls.
    ForeignHook {
        /// The file that registers it.
        file: PathBuf,
        /// The hook.
        hook: Foreign,
    },
}

/// What all files come to.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// Files that switch hooks off, and by which switch.
    pub(super) off: BTreeSet<(PathBuf, &'static str)>,
    /// Settings that cannot be read, and why.
    pub(super) unread: BTreeMap<PathBuf, String>,
    /// Files that register castellan's hook.
    pub(super) registering: BTreeSet<PathBuf>,
    pub(super) foreign: BTreeSet<(PathBuf, Foreign)>,
    /// Where the user does not trust castellan's hook, so that the agent does not run it, and why.
    pub(super) distrusted: Option<(PathBuf, &'static str)>,
}

impl Said {
    /// What is said now and was not before.
    pub(super) fn since(&self, before: &Said) -> Vec<SettingsChange> {
        let off = |file: &PathBuf, how: String| SettingsChange::HooksOff { file: file.clone(), how };
        let mut changes = Vec::new();
        for (file, why) in self.unread.iter().filter(|(file, _)| !before.unread.contains_key(*file)) {
            changes.push(off(file, format!("it cannot be told what is in it: {why}")));
        }
        for (file, switch) in self.off.difference(&before.off) {
            changes.push(off(file, format!("`{switch}` is in it now")));
        }
        if self.registering.is_empty() {
            let how = "castellan's hook is not in it any more";
            changes.extend(before.registering.iter().map(|file| off(file, how.to_owned())));
        }
        if let Some((file, why)) = self.distrusted.as_ref().filter(|_| before.distrusted.is_none()) {
            changes.push(off(file, (*why).to_owned()));
        }
        let new = self.foreign.difference(&before.foreign);
        changes.extend(
            new.map(|(file, hook)| SettingsChange::ForeignHook { file: file.clone(), hook: hook.clone() }),
        );
        changes
    }
}
