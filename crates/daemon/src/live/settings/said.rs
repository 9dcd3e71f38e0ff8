//! [`Said`]: the merged contents of all hook files of an agent, and their changes. It must not know the files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use castellan_agents::Foreign;

/// A change in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingsChange {
    /// castellan is no longer asked.
    HooksOff {
        /// The file with the switch.
        file: PathBuf,
        /// Description of the switch.
        how: String,
    },
    /// A foreign hook gets the same calls.
    ForeignHook {
        /// The file that registers it.
        file: PathBuf,
        /// The hook.
        hook: Foreign,
    },
}

/// The merged contents of all files.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// Files that switch hooks off, with the switch.
    pub(super) off: BTreeSet<(PathBuf, &'static str)>,
    /// Unreadable settings, with the reason.
    pub(super) unread: BTreeMap<PathBuf, String>,
    /// Files that register castellan's hook.
    pub(super) registering: BTreeSet<PathBuf>,
    pub(super) foreign: BTreeSet<(PathBuf, Foreign)>,
    /// The file and reason why the agent does not run castellan's hook, if the user does not trust it.
    pub(super) distrusted: Option<(PathBuf, &'static str)>,
}

impl Said {
    /// Returns the changes since `before`.
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
