//! Asks that an agent holds. After the answer "ask" the call waits for a person, or the agent runs it anyway.
//! `agents/*.toml` hold the modes, versions and targets that hold an ask, measured on the real clients (`corpus/asks`).
//! This module compares a call with them and must not know why castellan asks.
//!
//! In a mode that skips prompts, Claude Code drops a hook's ask if its own check of the call objects. The objection
//! replaces the ask, and the mode skips the objection. So an ask is held there only for calls to which that check
//! certainly does not object.
//!
//! A call that names a file never qualifies. Claude Code objects to hundreds of names and to symlinks, and its list
//! changes with the command line (`--plugin-dir`). Claude Code checks the file after castellan's answer, so the agent
//! can replace the file by a link in between.

use castellan_event::{Call, Effect, EffectKind, Facts, ToolKind};
use serde_json::Value as Json;

use crate::agent::{AgentId, question_event};
use crate::spec::{Asks, Holds, Mode, Objections, Version};

/// Reports whether the agent accepts an ask at `event`. Codex 0.169.0 runs the call (measured), so policy must deny
/// there. At Claude's PermissionRequest an ask is Claude's own prompt.
pub(crate) fn can_ask(agent: AgentId, event: &str) -> bool {
    let Asks { modes, prompt, .. } = agent.spec().asks;
    prompt == Some(event) || (question_event(agent) == event && !modes.is_empty())
}

/// Reports whether the agent certainly holds an ask about this call: at its event, in its permission mode, for this
/// tool and its effects. `version` returns the running version, `None` if unknown, and runs only if the version
/// matters. If the result is false, the ask must become a deny.
pub fn holds_ask(
    agent: AgentId,
    version: impl FnOnce() -> Option<Version>,
    call: &Call,
    facts: &Facts,
) -> bool {
    let Asks { prompt, objections, .. } = agent.spec().asks;
    let (first, last) = agent.spec().tested;
    if prompt == Some(call.agent.event.as_str()) {
        return true;
    }
    can_ask(agent, &call.agent.event)
        && mode(agent, &call.agent.permission_mode).is_some_and(|mode| match mode.holds {
            Holds::All => true,
            Holds::Unobjected => {
                let is_measured = |version| first <= version && version <= last;
                objections.has_none(call, facts) && version().is_some_and(is_measured)
            }
        })
}

/// Reports whether the agent itself asks a person about a shell command in its permission mode, if castellan leaves the
/// call to the agent. False where that was not measured.
pub fn prompts(agent: AgentId, call: &Call) -> bool {
    let is_asked = call.tool.kind == ToolKind::Shell && call.agent.event == question_event(agent);
    is_asked && mode(agent, &call.agent.permission_mode).is_some_and(|mode| mode.prompts)
}

/// Returns the plan that a call presents to the agent's user, in Markdown.
pub fn presented_plan(agent: AgentId, call: &Call) -> Option<&str> {
    let tool = agent.spec().tools.iter().find(|tool| tool.raw == call.tool.name_raw)?;
    call.input.get(tool.plan?)?.as_str()
}

/// Reports whether the agent runs a call without its own check if castellan allows it.
pub fn honours_allow(agent: AgentId, call: &Call) -> bool {
    mode(agent, &call.agent.permission_mode).is_none_or(|mode| !mode.ignores_allow)
}

/// Reports whether the agent denies an ask if nobody is there. castellan then denies: a person can approve the call
/// elsewhere.
pub fn denies_unattended_asks(agent: AgentId) -> bool {
    agent.spec().asks.denies_unattended
}

/// Reports whether the agent itself rejects asks in this permission mode. True for an unknown mode: the agent may.
pub(crate) fn refuses_asks(agent: AgentId, permission_mode: &str) -> bool {
    // If the agent never asks, no mode shows whether a person is there.
    !agent.spec().asks.modes.is_empty() && !mode(agent, permission_mode).is_some_and(|mode| mode.is_attended)
}

/// Reports whether nobody can answer a prompt of an agent with these arguments in this permission mode. Words after
/// `--` are a prompt. Unknown arguments (`None`) may mean headless.
pub fn is_headless<A: AsRef<[u8]>>(agent: AgentId, arguments: Option<&[A]>, permission_mode: &str) -> bool {
    let headless = agent.spec().headless;
    let is_said = |arguments: &[A]| {
        let mut arguments = arguments.iter().map(AsRef::as_ref).take_while(|argument| *argument != b"--");
        arguments.any(|argument| headless.is_said_by(argument))
    };
    refuses_asks(agent, permission_mode) || arguments.is_none_or(is_said)
}

/// Returns the newest version whose asks were measured, for calls that no running agent makes.
pub fn measured_version(agent: AgentId) -> Version {
    agent.spec().tested.1
}

fn mode(agent: AgentId, name: &str) -> Option<&'static Mode> {
    agent.spec().asks.modes.iter().find(|mode| mode.name == name)
}

impl Objections {
    fn has_none(self, call: &Call, facts: &Facts) -> bool {
        if self.keys.iter().any(|key| is_given(&call.input, key)) {
            return false;
        }
        match (call.tool.kind, &call.tool.mcp) {
            (ToolKind::Mcp, Some((server, _))) => !self.is_own_server(server),
            _ if !self.known_tools.contains(&call.tool.name_raw.as_str()) => false,
            // The check ignores read paths (measured: `.git/config`, `.mcp.json`).
            (ToolKind::Read | ToolKind::Web | ToolKind::Subagent, _) => true,
            (ToolKind::Shell, _) => !facts.background && facts.effects.iter().all(is_apart_from_files),
            (
                ToolKind::Write
                | ToolKind::Edit
                | ToolKind::Patch
                | ToolKind::Mcp
                | ToolKind::Internal
                | ToolKind::Unknown,
                _,
            ) => false,
        }
    }

    fn is_own_server(self, server: &str) -> bool {
        let server = server.to_ascii_lowercase();
        self.own_servers.iter().any(|own| server.starts_with(own))
    }
}

/// True if the input has a value under the key, other than null and `false`.
fn is_given(input: &Json, key: &str) -> bool {
    !matches!(input.get(key), None | Some(Json::Null | Json::Bool(false)))
}

/// True if an understood effect concerns no file. Reads matter, too: the client also checks the source of a copy
/// (measured: `cp .mcp.json copy`).
fn is_apart_from_files(effect: &Effect) -> bool {
    let has_path = effect.located().is_some() || needs_path(effect.kind());
    !effect.is_opaque() && !has_path
}

/// True for effects on a file: without a path the file is unknown.
fn needs_path(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission)
}

#[cfg(test)]
mod tests;
