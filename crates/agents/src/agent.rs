//! [`AgentId`] and the names, events and settings of an agent. `agents/*.toml` hold them; this module only looks them
//! up.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use castellan_event::AccessLevel;

use crate::spec::{
    AgentPaths, EventKind, Headless, HookEvent, MachineFamily, PluginFamily, Settings, Snapshots, Spec,
    SwitchFamily,
};
use crate::table::SPECS;

/// An agent that castellan guards: an index into the table of agents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(u8);

include!(concat!(env!("OUT_DIR"), "/ids.rs"));

impl AgentId {
    /// The agent of a hand-written call that names none.
    pub const DEFAULT: AgentId = AgentId::CLAUDE;

    /// Returns the word of the command line: `castellan install claude`, `castellan-hook --agent claude`.
    pub fn word(self) -> &'static str {
        self.spec().word
    }

    /// Returns the value of field `agent.name`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the name for people.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// Returns the agent whose field `agent.name` has this value.
    pub fn named(name: &str) -> Option<AgentId> {
        AgentId::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Returns the agent's row of the table.
    pub(crate) fn spec(self) -> &'static Spec {
        const FIRST: &Spec = &SPECS[0];
        // Every id comes from the table.
        SPECS.get(usize::from(self.0)).unwrap_or(FIRST)
    }

    /// Returns the kind of `event`; `None` for an event that this version does not know.
    pub(crate) fn event_kind(self, event: &str) -> Option<EventKind> {
        self.spec().events.iter().find(|known| known.name == event).map(|known| known.kind)
    }
}

impl fmt::Debug for AgentId {
    /// Writes the word as a name: `Claude`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = self.word().chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        write!(f, "{}{}", first.unwrap_or_default(), letters.as_str())
    }
}

/// A word that is no agent's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no agent that castellan guards: name one of {}", AgentId::ALL.map(AgentId::word).join(", "))]
pub struct UnknownAgent {
    /// The word.
    pub word: String,
}

impl FromStr for AgentId {
    type Err = UnknownAgent;

    fn from_str(word: &str) -> Result<AgentId, UnknownAgent> {
        let known = AgentId::ALL.into_iter().find(|agent| agent.word() == word);
        known.ok_or_else(|| UnknownAgent { word: word.to_owned() })
    }
}

/// Returns the event at which the agent asks whether a call may run.
pub fn question_event(agent: AgentId) -> &'static str {
    let mut events = agent.spec().events.iter();
    // The build rejects an agent without such an event.
    events.find(|event| event.kind == EventKind::Question).map(|event| event.name).unwrap_or_default()
}

/// Returns the highest access level that an agent gives itself in a permission mode.
pub fn ceiling(agent: AgentId, permission_mode: &str) -> AccessLevel {
    if agent.spec().read_only_modes.contains(&permission_mode) {
        AccessLevel::ReadOnly
    } else {
        AccessLevel::FullAccess
    }
}

/// Returns the events that castellan registers for, in the order of writing.
pub fn hook_events(agent: AgentId) -> &'static [HookEvent] {
    agent.spec().hook_events
}

/// Returns the path of the user's settings file that holds the hooks, relative to the home directory.
pub fn settings_path(agent: AgentId) -> &'static str {
    agent.spec().settings.file
}

/// Returns the name of the agent's directory, in a home and in a repository: `.claude`.
pub fn directory_name(agent: AgentId) -> &'static str {
    settings_path(agent).split('/').next().unwrap_or_default()
}

/// Returns the place of the user's shell definitions below the agent's directory, if the agent's shell reads any.
pub fn shell_snapshots(agent: AgentId) -> Option<Snapshots> {
    agent.spec().shell_snapshots
}

/// Returns the environment variables that name the agent's shell, the first one that is set; none if it always is bash.
pub fn shell_variables(agent: AgentId) -> &'static [&'static str] {
    agent.spec().shell_variables
}

/// Reports whether the agent's shell is a POSIX shell on Windows, too.
pub fn is_posix_on_windows(agent: AgentId) -> bool {
    agent.spec().posix_on_windows
}

/// Returns the variable of the environment that moves the directory of [`settings_path`].
pub fn settings_variable(agent: AgentId) -> &'static str {
    agent.spec().settings.variable
}

/// Returns the directory of [`settings_path`] if [`settings_variable`] has this value.
pub fn moved_settings_directory(agent: AgentId, value: &Path) -> PathBuf {
    let Settings { file, variable_is_home, .. } = agent.spec().settings;
    let below_home = Path::new(file).parent().filter(|_| variable_is_home);
    below_home.map_or_else(|| value.to_owned(), |directory| value.join(directory))
}

/// Returns the absolute path of the machine-wide file with castellan's hooks; `None` if there is no such file.
pub fn machine_settings_path(agent: AgentId) -> Option<&'static str> {
    agent.spec().settings.machine
}

/// Returns how castellan's hooks are registered for the machine; `None` if they are not.
pub fn machine_family(agent: AgentId) -> Option<MachineFamily> {
    agent.spec().families.machine
}

/// Returns the paths of the agent's own files.
pub fn agent_paths(agent: AgentId) -> &'static [AgentPaths] {
    agent.spec().paths
}

/// Returns how the agent's hooks are switched off.
pub fn switch_family(agent: AgentId) -> SwitchFamily {
    agent.spec().families.switch
}

/// Returns where the agent's plugins are.
pub fn plugin_family(agent: AgentId) -> PluginFamily {
    agent.spec().families.plugins
}

/// Reports whether the agent runs a user's hook only after the user has trusted it.
pub fn needs_trust(agent: AgentId) -> bool {
    agent.spec().needs_trust
}

impl Headless {
    pub(crate) fn is_said_by(self, argument: &[u8]) -> bool {
        let name = argument.split(|byte| *byte == b'=').next().unwrap_or_default();
        let is_cluster = argument.starts_with(b"-") && !argument.starts_with(b"--");
        self.words.iter().any(|word| word.as_bytes() == name)
            || self.letter.is_some_and(|letter| is_cluster && argument.contains(&letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_unknown_ones_name_the_choices() {
        for agent in AgentId::ALL {
            assert_eq!(agent.word().parse(), Ok(agent));
        }
        let error = "Claude".parse::<AgentId>().unwrap_err().to_string();
        assert!(error.contains("claude, codex, gemini, qwen"), "{error}");
    }

    #[test]
    fn a_variable_names_the_agents_directory_or_a_home() {
        let check = |agent, expected: &str| {
            assert_eq!(moved_settings_directory(agent, Path::new("/m")), Path::new(expected), "{agent:?}");
        };
        check(AgentId::CLAUDE, "/m");
        check(AgentId::GEMINI, "/m/.gemini");
        check(AgentId::QWEN, "/m");
    }

    #[test]
    fn an_agent_that_plans_changes_nothing() {
        for agent in AgentId::ALL {
            assert_eq!(ceiling(agent, "plan"), AccessLevel::ReadOnly);
            assert_eq!(ceiling(agent, "bypassPermissions"), AccessLevel::FullAccess);
            assert_eq!(ceiling(agent, ""), AccessLevel::FullAccess);
        }
    }

    #[test]
    fn every_registered_event_is_known() {
        for agent in AgentId::ALL {
            assert_eq!(agent.event_kind(question_event(agent)), Some(EventKind::Question));
            for event in hook_events(agent) {
                let kind = agent.event_kind(event.name);
                assert!(kind.is_some(), "{agent:?} {}", event.name);
                let precedes_call = matches!(kind, Some(EventKind::Question | EventKind::Permission));
                assert!(!event.blocks_on_failure || precedes_call);
            }
        }
    }
}
