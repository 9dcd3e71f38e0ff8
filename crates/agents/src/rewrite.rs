//! Another command in the place of a call's own, such as one that runs it in a sandbox. This module must not know what
//! the command does.

use castellan_event::{Call, ToolKind, Verdict};
use serde_json::Value as Json;

use crate::agent::{AgentId, question_event};
use crate::permissions::{Permission, PermissionFormat, PermissionSubject, PermissionVerdict};
use crate::spec::{Key, NativeFamily, ReplyFamily, ToolSpec};
use crate::tools;

/// Reports whether the agent runs another command if castellan answers a call so. Only a question about a shell command
/// can be answered with one: a second question comes after the agent has chosen what it runs.
pub fn can_rewrite(agent: AgentId, call: &Call) -> bool {
    agent.spec().rewrites_input
        && call.agent.event == question_event(agent)
        && call.tool.kind == ToolKind::Shell
        && command(agent, call).is_some()
}

/// Returns the shell text of a call as the agent would run it. [`Call::command`] may begin with a change to the call's
/// directory, which the agent makes by itself.
pub fn command_text(agent: AgentId, call: &Call) -> Option<&str> {
    call.input.get(command(agent, call)?)?.as_str()
}

/// Returns the input of a call with another command. All other keys stay as they are. `None` if the agent would not run
/// it.
pub fn rewritten_input(agent: AgentId, call: &Call, new: &str) -> Option<Json> {
    let key = command(agent, call).filter(|_| can_rewrite(agent, call))?;
    let mut input = call.input.clone();
    *input.get_mut(key)? = Json::from(new);
    Some(input)
}

/// Returns the rules in a settings text that deny calls or ask about them. Measured: the agent compares them with the
/// rewritten input, so a rewrite would evade them. A rule that castellan cannot read is empty, and matches every call.
pub(crate) fn own_rules(agent: AgentId, text: &str) -> Vec<String> {
    if agent.spec().families.native != Some(NativeFamily::Permissions) {
        return Vec::new();
    }
    let read = PermissionFormat::Claude.read(text);
    let stops = |one: &Permission| one.verdict != PermissionVerdict::Allow;
    let rules = read.rules.into_iter().filter(stops).map(|one| match one.subject {
        PermissionSubject::Short(short) => short,
        PermissionSubject::Prefix(_) | PermissionSubject::Text(_) => String::new(),
    });
    rules.chain(read.unread.iter().map(|_| String::new())).collect()
}

/// Reports whether a rule of [`own_rules`] may match a call. True if the call has the longest literal part of the rule, so
/// it matches more than the agent does.
pub fn may_match_own_rule(agent: AgentId, rule: &str, call: &Call) -> bool {
    let (tool, pattern) = rule.split_once('(').unwrap_or((rule, ""));
    let is_shell = |spec: &ToolSpec| spec.kind == ToolKind::Shell && spec.raw == tool;
    let is_of_tool = tool.is_empty() || tool.contains('*') || tools::specs(agent).iter().any(is_shell);
    let is_literal = |one: char| one.is_alphanumeric() || "_-./".contains(one);
    let literal = pattern.split(|one: char| !is_literal(one)).max_by_key(|part| part.len());
    is_of_tool && literal.is_none_or(|literal| call.input_text.contains(literal))
}

/// Reports whether arguments of the agent give it rules that deny calls.
pub fn gives_own_rules<A: AsRef<[u8]>>(arguments: &[A]) -> bool {
    let is_given = |argument: &A| {
        let text = String::from_utf8_lossy(argument.as_ref()).to_ascii_lowercase();
        text.starts_with("--disallowed") || text.starts_with("--deny")
    };
    arguments.iter().any(is_given)
}

/// Reports whether the agent runs the rewritten input with this verdict (measured).
pub(crate) fn takes_rewrite(agent: AgentId, event: &str, verdict: Verdict) -> bool {
    let is_taken = match (agent.spec().families.reply, verdict) {
        (_, Verdict::Deny) => false,
        (ReplyFamily::Claude, Verdict::Defer | Verdict::Allow | Verdict::Ask) => true,
        // It replaces a prompt of the agent by an allow, so castellan must have allowed the call.
        (ReplyFamily::Codex | ReplyFamily::Gemini, verdict) => verdict == Verdict::Allow,
    };
    is_taken && agent.spec().rewrites_input && event == question_event(agent)
}

/// Returns the key of the command in the input, if the input has a text there.
fn command(agent: AgentId, call: &Call) -> Option<&'static str> {
    let key = match tools::spec(agent, &call.tool.name_raw)?.command {
        Key::No => return None,
        Key::Required(key) | Key::Optional(key) | Key::Unless(key, _) => key,
    };
    call.input.get(key)?.as_str().map(|_| key)
}

#[cfg(test)]
mod tests;
