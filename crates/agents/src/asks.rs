//! Which asks an agent holds: a call that is answered "ask" waits for a person, or the agent runs it all the same. The modes, versions
//! and targets for which an ask is known to be held stand in `agents/*.toml`, measured on the real clients
//! (`corpus/asks`); this module compares a call with them. It must not know why castellan asks.
//!
//! In a mode that skips prompts, Claude Code drops a hook's ask where its own check of the call has an objection: the objection takes the
//! ask's place, and the mode skips it. So an ask is held there only for a call to which that check is known to have none.
//!
//! A call that names a file is never such a call. Claude Code objects to hundreds of names and to symlinks, its list changes with the
//! command line (`--plugin-dir`), and it looks at the file after castellan has answered: meanwhile the agent can put a link there.

use castellan_event::{Call, Effect, EffectKind, Facts, ToolKind};
use serde_json::Value as Json;

use crate::agent::{AgentId, question_event};
use crate::spec::{Asks, Holds, Mode, Objections, Version};

/// Reports whether an ask can be told to the agent at `event`. Codex 0.169.0 runs the call (measured), so there policy must
/// deny. At Claude's PermissionRequest an ask is its own prompt.
pub(crate) fn can_ask(agent: AgentId, event: &str) -> bool {
    let Asks { modes, prompt, .. } = agent.spec().asks;
    prompt == Some(event) || (question_event(agent) == event && !modes.is_empty())
}

/// Reports whether the agent is known to hold an ask about this call: at its event, in its permission mode, for this tool and its effects.
/// `version` is asked where it matters: which version of the agent runs, `None` where that is not known. An ask that is not known to be
/// held must be a deny.
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

/// Reports whether the agent makes a deny of an ask where nobody is there. Then castellan denies by itself: a person can approve the call
/// elsewhere.
pub fn denies_unattended_asks(agent: AgentId) -> bool {
    agent.spec().asks.denies_unattended
}

/// Reports whether in this permission mode the agent refuses asks by itself, so that nobody is there to be asked; of a mode that is
/// not known, it may.
pub(crate) fn refuses_asks(agent: AgentId, permission_mode: &str) -> bool {
    // Where nothing is ever asked, no mode says who is there.
    !agent.spec().asks.modes.is_empty() && !mode(agent, permission_mode).is_some_and(|mode| mode.is_attended)
}

/// Returns the newest version whose asks were measured: of a call that no agent makes now.
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
            // It does not look at what is read (measured: `.git/config`, `.mcp.json`).
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

/// Whether the input has something under a key that is more than "no".
fn is_given(input: &Json, key: &str) -> bool {
    !matches!(input.get(key), None | Some(Json::Null | Json::Bool(false)))
}

/// Whether an effect is understood and concerns no file, read files included: the client checks the source of a copy as it checks the
/// target (measured: `cp .mcp.json copy`).
fn is_apart_from_files(effect: &Effect) -> bool {
    let has_path = effect.path.is_some() || effect.path_raw.is_some() || needs_path(effect.kind);
    !effect.is_opaque() && !effect.is_linked && !has_path
}

/// Effects on a file: without a path the file is not known.
fn needs_path(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission)
}

#[cfg(test)]
mod tests;
