//! [`GuardLevel`]: the strength of the protection, from the weakest to the strongest level. All that shows a level asks here.

use castellan_daemon::StatusReport;

use crate::guard::Guard;

/// The strength of the protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GuardLevel {
    /// Hooks in the settings of the user. A repository's settings can switch some of them off.
    Hooks,
    /// Hooks in the settings of the machine, for every guarded agent. No repository can switch them off.
    ManagedHooks,
    /// Agents also run only in castellan's sandbox.
    Sandboxed,
    /// The daemon, its policy and its log belong to a user of their own. The agents' code cannot end or change them.
    OwnUser,
}

impl GuardLevel {
    /// Returns the level of the least guarded agent; `None` if no agent is guarded.
    pub(super) fn of(guards: &[Guard], status: Option<&StatusReport>) -> Option<GuardLevel> {
        let guarded = || guards.iter().filter(|guard| guard.is_guarded());
        guarded().next()?;
        Some(match status {
            Some(status) if status.system.is_some() => GuardLevel::OwnUser,
            Some(status) if status.requires_sandbox => GuardLevel::Sandboxed,
            Some(_) | None if guarded().all(|guard| guard.for_machine) => GuardLevel::ManagedHooks,
            Some(_) | None => GuardLevel::Hooks,
        })
    }

    /// Returns the words for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            GuardLevel::Hooks => "hooks",
            GuardLevel::ManagedHooks => "managed hooks",
            GuardLevel::Sandboxed => "sandboxed",
            GuardLevel::OwnUser => "own user",
        }
    }

    /// Returns the word for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            GuardLevel::Hooks => "hooks",
            GuardLevel::ManagedHooks => "managed_hooks",
            GuardLevel::Sandboxed => "sandboxed",
            GuardLevel::OwnUser => "own_user",
        }
    }
}
