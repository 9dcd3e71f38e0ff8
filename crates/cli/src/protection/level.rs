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
        let daemon = match status {
            Some(status) if status.system.is_some() => GuardLevel::OwnUser,
            Some(status) if status.requires_sandbox => GuardLevel::Sandboxed,
            Some(_) | None => GuardLevel::ManagedHooks,
        };
        Some(daemon.limited(guarded().all(|guard| guard.is_by_machine)))
    }

    /// Limits the level to hooks unless the machine's settings guard every agent: a daemon of another user, or one that
    /// requires a sandbox, judges only an agent that asks.
    fn limited(self, by_machine: bool) -> GuardLevel {
        if by_machine { self } else { self.min(GuardLevel::Hooks) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_with_hooks_of_its_user_only_limits_the_level() {
        use GuardLevel::{Hooks, ManagedHooks, OwnUser, Sandboxed};

        for level in [ManagedHooks, Sandboxed, OwnUser] {
            assert_eq!(level.limited(true), level);
            assert_eq!(level.limited(false), Hooks, "{level:?}");
        }
    }
}
