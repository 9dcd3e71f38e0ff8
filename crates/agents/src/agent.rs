//! [`AgentId`] and the events of each agent: which there are, which precede a call, which castellan registers for. The
//! tables stand in `claude.rs` and `codex.rs`; this module only asks them.

use std::str::FromStr;

use castellan_event::AccessLevel;

use crate::{asks, claude, codex};

/// An agent that castellan guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentId {
    /// Claude Code.
    Claude,
    /// OpenAI Codex CLI.
    Codex,
}

/// An event that castellan registers its hook for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEvent {
    /// The agent's name of the event.
    pub name: &'static str,
    /// Seconds after which the agent gives up on the hook. The hook's own deadline is shorter.
    pub timeout_s: u64,
    /// The `matcher` that stands for every tool; `None` where it is left out.
    pub matcher: Option<&'static str>,
    /// Whether `"onFailure":"block"` is set, so that a hook that cannot start stops the call.
    pub blocks_on_failure: bool,
}

/// What of an agent's command line says that nobody is there to be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headless {
    /// Words, also with a value behind `=`.
    pub(crate) words: &'static [&'static str],
    /// A letter of a cluster of short options: the `p` of `-cp`. A value that is written together with its option may hold it
    /// as well, and counts.
    pub(crate) letter: Option<u8>,
}

impl Headless {
    fn is_said_by(self, argument: &[u8]) -> bool {
        let name = argument.split(|byte| *byte == b'=').next().unwrap_or_default();
        let is_cluster = argument.starts_with(b"-") && !argument.starts_with(b"--");
        self.words.iter().any(|word| word.as_bytes() == name)
            || self.letter.is_some_and(|letter| is_cluster && argument.contains(&letter))
    }
}

/// What an event asks or tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// May this call run?
    Question,
    /// The agent would prompt the user about this call: may it run?
    Permission,
    /// A call has run; `failed` where the event itself says that it failed.
    Done { failed: bool },
    /// Something that is no tool call; its text stands under the key `text_key`.
    Session { text_key: &'static str },
}

impl AgentId {
    /// All agents.
    pub const ALL: [AgentId; 2] = [AgentId::Claude, AgentId::Codex];

    /// Returns the word of the command line: `castellan install claude`, `castellan-hook --agent claude`.
    pub fn word(self) -> &'static str {
        match self {
            AgentId::Claude => "claude",
            AgentId::Codex => "codex",
        }
    }

    /// Returns the value of field `agent.name`.
    pub fn name(self) -> &'static str {
        match self {
            AgentId::Claude => "claude_code",
            AgentId::Codex => "codex",
        }
    }

    /// Returns the name for people.
    pub fn title(self) -> &'static str {
        match self {
            AgentId::Claude => "Claude Code",
            AgentId::Codex => "Codex",
        }
    }

    /// Returns what `event` asks or tells; `None` for an event that this version does not know.
    pub(crate) fn event_kind(self, event: &str) -> Option<EventKind> {
        let events = match self {
            AgentId::Claude => claude::EVENTS,
            AgentId::Codex => codex::EVENTS,
        };
        events.iter().find(|(name, _)| *name == event).map(|(_, kind)| *kind)
    }
}

impl FromStr for AgentId {
    type Err = String;

    fn from_str(word: &str) -> Result<AgentId, String> {
        let known = AgentId::ALL.into_iter().find(|agent| agent.word() == word);
        known.ok_or_else(|| {
            let words: Vec<_> = AgentId::ALL.iter().map(|agent| agent.word()).collect();
            format!("`{word}` is no agent that castellan guards: name one of {}", words.join(", "))
        })
    }
}

/// Returns the event at which the agent asks whether a call may run.
pub fn question_event(agent: AgentId) -> &'static str {
    match agent {
        AgentId::Claude => claude::QUESTION_EVENT,
        AgentId::Codex => codex::QUESTION_EVENT,
    }
}

/// Reports whether an agent that was started with these arguments has nobody to ask in this permission mode. What stands after `--` is a
/// prompt. Arguments that are not known may say so.
pub fn is_headless<A: AsRef<[u8]>>(agent: AgentId, arguments: Option<&[A]>, permission_mode: &str) -> bool {
    let headless = match agent {
        AgentId::Claude => claude::HEADLESS,
        AgentId::Codex => codex::HEADLESS,
    };
    let is_said = |arguments: &[A]| {
        let mut arguments = arguments.iter().map(AsRef::as_ref).take_while(|argument| *argument != b"--");
        arguments.any(|argument| headless.is_said_by(argument))
    };
    asks::refuses_asks(agent, permission_mode) || arguments.is_none_or(is_said)
}

/// Returns the highest access level that an agent gives itself in a permission mode.
pub fn ceiling(agent: AgentId, permission_mode: &str) -> AccessLevel {
    let read_only = match agent {
        AgentId::Claude => claude::READ_ONLY_MODES,
        AgentId::Codex => codex::READ_ONLY_MODES,
    };
    if read_only.contains(&permission_mode) { AccessLevel::ReadOnly } else { AccessLevel::FullAccess }
}

/// Returns the events that castellan registers for, in the order in which they are written.
pub fn hook_events(agent: AgentId) -> &'static [HookEvent] {
    match agent {
        AgentId::Claude => claude::HOOK_EVENTS,
        AgentId::Codex => codex::HOOK_EVENTS,
    }
}

/// Returns the path of the user's settings file that holds the hooks, relative to the home directory.
pub fn settings_path(agent: AgentId) -> &'static str {
    match agent {
        AgentId::Claude => ".claude/settings.json",
        AgentId::Codex => ".codex/hooks.json",
    }
}

/// Returns the variable of the environment that moves the directory of [`settings_path`].
pub fn settings_variable(agent: AgentId) -> &'static str {
    match agent {
        AgentId::Claude => "CLAUDE_CONFIG_DIR",
        AgentId::Codex => "CODEX_HOME",
    }
}

/// Returns the absolute path of the machine-wide file that holds castellan's hooks.
pub fn machine_settings_path(agent: AgentId) -> &'static str {
    match agent {
        AgentId::Claude => "/etc/claude-code/managed-settings.d/50-castellan.json",
        AgentId::Codex => "/etc/codex/requirements.toml",
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
        let error = "Claude".parse::<AgentId>().unwrap_err();
        assert!(error.contains("claude, codex"), "{error}");
    }

    #[test]
    fn the_command_line_or_the_mode_says_that_nobody_is_there() {
        let check = |agent, line: &str, mode, expected| {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(is_headless(agent, Some(&words), mode), expected, "{line} {mode}");
        };
        check(AgentId::Claude, "claude", "default", false);
        check(AgentId::Claude, "node /x/cli.js -p hello", "default", true);
        check(AgentId::Claude, "claude --model x --print", "default", true);
        check(AgentId::Claude, "claude -- -p", "default", false);
        check(AgentId::Claude, "claude -cp hello", "acceptEdits", true);
        check(AgentId::Claude, "claude --print=x", "default", true);
        check(AgentId::Claude, "claude -c --permission-mode plan", "plan", false);
        for mode in ["acceptEdits", "auto", "bypassPermissions"] {
            check(AgentId::Claude, "claude", mode, false);
        }
        for mode in ["dontAsk", "", "Default", "yolo", "default "] {
            check(AgentId::Claude, "claude", mode, true);
        }
        check(AgentId::Codex, "codex -c features.hooks=true exec x", "default", true);
        check(AgentId::Codex, "codex e x", "default", true);
        check(AgentId::Codex, "codex execute", "default", false);
        check(AgentId::Codex, "codex -p work", "", false);
        check(AgentId::Codex, "codex review", "default", true);
        assert!(is_headless(AgentId::Claude, None::<&[&str]>, "default"));
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
