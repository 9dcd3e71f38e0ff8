//! Texts around a grant: the question before it and the report after it. This module must not know how a person
//! answers.

use castellan_agents::AgentId;
use castellan_daemon::PendingCall;

/// Returns the question before a grant. `words` describe its duration.
pub(crate) fn question(words: &str) -> String {
    format!("let this happen, {words}?")
}

/// Returns the report after a grant.
pub(crate) fn granted(call: &PendingCall, words: &str) -> String {
    format!("the call is granted {words}: {}", next(call))
}

/// Returns the next step, by the place where the call is pending.
fn next(call: &PendingCall) -> String {
    match call {
        PendingCall { waiting: true, .. } => "the agent, which waits, makes it now".to_owned(),
        PendingCall { at_prompt: true, agent, .. } => {
            let title = AgentId::named(agent).map(AgentId::title);
            format!("also answer Yes in {}, whose own prompt is open", title.unwrap_or("the agent"))
        }
        PendingCall { .. } => "the agent may make it again, as it was".to_owned(),
    }
}
