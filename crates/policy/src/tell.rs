//! Messages about a decision. At an ask a person reads the agent's message at its prompt; at a deny the agent's model
//! reads it. Another note is for the user alone. No message that a model can read contains a way around the decision,
//! only a request id.
//!
//! A finding's message has the form `WHAT AND WHY. Instead: REMEDY`; the second part may be missing.

use std::ops::Range;

use castellan_event::{Exemption, Finding, Verdict, is_invisible};
use castellan_rules::REMEDY_MARK;

use crate::conclude::strictest;
use crate::decision::Decision;
use crate::limits::{MESSAGE_BYTES_MAX, PROMPT_CHARS_MAX, VALUE_CHARS_MAX};
use crate::request::RequestId;

/// Returns the message for the agent: a question for the person at the agent's prompt, or the refusal that its model
/// reads.
pub fn agent_text(decision: &Decision, request: RequestId) -> String {
    let parts = Parts::of(decision);
    match (decision.answer, decision.verdict) {
        (Verdict::Ask, _) => question(&parts, request),
        (_, Verdict::Ask) => unattended_text(decision, request),
        _ => {
            let rest = parts.remedy_then_what();
            format!("castellan blocked this: {rest}. Do not rephrase it. ({request})")
        }
    }
}

/// Returns the refusal of a call that a person can allow elsewhere. The model of an agent without a person at its
/// prompt reads it, also if castellan answers ask: such an agent refuses the call by itself and passes the message on.
pub fn unattended_text(decision: &Decision, request: RequestId) -> String {
    let rest = Parts::of(decision).what_then_remedy();
    format!("castellan blocked this; tell the user: request {request}. {rest}")
}

/// Returns the note for the user, which the agent's model does not read. It is empty if the call runs. `is_offered`: the
/// person can grant all calls of this class.
pub fn user_text(decision: &Decision, request: RequestId, is_offered: bool) -> String {
    let note = note(decision, request);
    if is_offered && !note.is_empty() {
        format!("{note}. To stop these questions for this session: castellan approve {request} --session")
    } else {
        note
    }
}

fn note(decision: &Decision, request: RequestId) -> String {
    let what = Parts::of(decision).what;
    let can_grant = decision.findings.iter().any(|one| one.counts() && one.is_liftable_by(Exemption::Grant));
    match (decision.answer, decision.verdict) {
        (Verdict::Allow | Verdict::Defer, _) => String::new(),
        (Verdict::Ask, _) => format!("Details: castellan why {request}"),
        (Verdict::Deny, Verdict::Ask) if can_grant => {
            let start = "castellan blocked this until you allow it: ";
            let end = format!(". See: castellan why {request}");
            framed(start, &what, &end)
        }
        (Verdict::Deny, _) => {
            framed("castellan blocked this: ", &what, &format!(". See: castellan why {request}"))
        }
    }
}

/// The question at the agent's prompt. Claude Code shows its first [`PROMPT_CHARS_MAX`] characters.
fn question(parts: &Parts, request: RequestId) -> String {
    framed("castellan asks: ", &parts.what, &format!(". Allow? ({request})"))
}

/// Frames a text and cuts it so that the whole has at most [`PROMPT_CHARS_MAX`] characters.
fn framed(start: &str, text: &str, end: &str) -> String {
    let room = PROMPT_CHARS_MAX.saturating_sub(start.chars().count() + end.chars().count());
    let text = lowercased(text);
    if text.chars().count() <= room {
        return format!("{start}{text}{end}");
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    let at_word = kept.rsplit_once(' ').map_or(kept.as_str(), |(words, _)| words);
    format!("{start}{at_word}…{end}")
}

/// Shows a value from outside, so that it can neither hide the reason nor speak in castellan's name: cut in its middle,
/// and in quotes if it is more than a word.
fn shown(value: &str) -> String {
    let value = visible(value).replace('`', "'");
    let length = value.chars().count();
    let cut = if length > VALUE_CHARS_MAX {
        let half = VALUE_CHARS_MAX / 2;
        value.chars().take(half).chain(['…']).chain(value.chars().skip(length - half)).collect()
    } else {
        value
    };
    // A final period would be taken for castellan's own.
    if cut.contains(' ') || cut.ends_with('.') { format!("`{cut}`") } else { cut }
}

/// Returns the message and its remedy, with each value from outside as it may be shown.
fn split(finding: &Finding) -> (String, Option<String>) {
    let message = finding.message.as_str();
    let remedy_at = finding.remedy_at.unwrap_or(message.len());
    let (mut what, mut remedy) = (String::new(), String::new());
    let mut put = |range: Range<usize>, show: &dyn Fn(&str) -> String| {
        let text = show(message.get(range.clone()).unwrap_or_default());
        if range.start < remedy_at { what.push_str(&text) } else { remedy.push_str(&text) }
    };
    let own = str::to_owned;
    let mut at = 0;
    let end = message.len()..message.len();
    for value in finding.values.iter().cloned().chain(std::iter::once(end)) {
        // A remedy starts inside of castellan's own text.
        let border = remedy_at.clamp(at, value.start.max(at));
        put(at..border, &own);
        put(border..value.start, &own);
        put(value.clone(), &shown);
        at = value.end;
    }
    let what = what.strip_suffix(REMEDY_MARK).map(str::to_owned).unwrap_or(what);
    (what, finding.remedy_at.map(|_| remedy))
}

/// The parts of a message, each one line without a final period.
struct Parts {
    what: String,
    remedy: Option<String>,
}

impl Parts {
    fn of(decision: &Decision) -> Parts {
        let finding = strictest(&decision.findings);
        let (what, remedy) = finding.map_or_else(|| (by_default(decision.verdict).to_owned(), None), split);
        Parts { what: plain(&what), remedy: remedy.as_deref().map(plain).filter(|remedy| !remedy.is_empty()) }
    }

    fn what_then_remedy(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!(". Instead: {remedy}")).unwrap_or_default();
        format!("{}{remedy}", self.what)
    }

    fn remedy_then_what(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{remedy}. {}", self.what),
            None => lowercased(&self.what),
        }
    }
}

/// The message of a decision without findings: the default verdict.
fn by_default(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ask => "the settings ask about every call that no rule allows",
        Verdict::Deny => "the settings deny every call that no rule allows",
        Verdict::Allow | Verdict::Defer => "",
    }
}

/// One line of visible characters, cut, without a final period.
fn plain(text: &str) -> String {
    visible(text).trim_end_matches('.').to_owned()
}

/// One line of visible characters, cut with a mark.
fn visible(text: &str) -> String {
    let end = text.floor_char_boundary(MESSAGE_BYTES_MAX);
    let kept = text.get(..end).unwrap_or_default();
    let shown: String = kept.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect();
    let line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if end < text.len() { format!("{line}…") } else { line }
}

/// Begins a sentence in lower case, unless its first word is a name or an abbreviation.
fn lowercased(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && (second.is_lowercase() || second == ' ') => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
