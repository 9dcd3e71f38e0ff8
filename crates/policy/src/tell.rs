//! Texts about a decision for people and agents. The agent's text never contains a way around the decision. It contains
//! a request id that the user can look up.

use castellan_event::{Exemption, Verdict};

use crate::decision::Decision;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::request::RequestId;

/// Returns the reason for the agent: `<rule>: <message> | For AI Agents: ... | correlation=<id>`.
pub fn agent_text(decision: &Decision, request: RequestId, correlation_id: u64) -> String {
    let advice = match (decision.answer, decision.verdict) {
        (Verdict::Ask, _) => "this call waits for the user's answer",
        (_, Verdict::Ask) => {
            "this call needs the user's consent and was not run; do not try it in another form"
        }
        _ => "this call was denied; do not try it in another form",
    };
    let reason = cut(&decision.reason);
    format!(
        "{reason} | For AI Agents: {advice}; tell the user: request {request} | correlation={correlation_id}"
    )
}

/// Returns the note for the user's own channel, which the agent does not read.
pub fn user_text(decision: &Decision, request: RequestId) -> String {
    let what = match decision.answer {
        Verdict::Ask => "asks about",
        Verdict::Deny => "denied",
        Verdict::Allow | Verdict::Defer => return String::new(),
    };
    let waits = decision.findings.iter().any(|one| one.counts() && one.is_liftable_by(Exemption::Grant));
    let grant = if waits && decision.verdict == Verdict::Ask && decision.answer == Verdict::Deny {
        format!(", and to let it happen: castellan approve {request}")
    } else {
        String::new()
    };
    format!("castellan {what} request {request}; see: castellan log --request {request}{grant}")
}

fn cut(text: &str) -> String {
    let one_line = text.replace(['\n', '\r', '\0'], " ");
    let end = one_line.floor_char_boundary(MESSAGE_BYTES_MAX);
    match one_line.get(..end) {
        Some(kept) if end < one_line.len() => format!("{kept}…"),
        _ => one_line,
    }
}
