//! [`Shown`]: the parts of a record that people see. This module must not know how they are laid out.

use castellan_agents::AgentId;
use castellan_audit::{CallRecord, ObligationRecord, Record, SessionRecord, UngovernedRecord};
use castellan_event::{Exemption, Verdict};

use crate::history::subject;
use crate::output::{BAD, FAINT, GOOD, PLAIN, Style, WARN, cut, one_line, verdict_style, verdict_word};

/// Characters of a hash, and how many of them are shown.
const HASH_CHARS: usize = 64;
const HASH_CHARS_SHOWN: usize = 13;

/// The `lifted` value of a finding from a rule in observe state.
const OBSERVED: &str = Exemption::Observe.as_str();

/// A record in words. Its texts are not cleaned yet.
#[derive(Debug)]
pub(super) struct Shown {
    /// The verdict, or the kind of record, with its colour.
    pub(super) kind: (String, Style),
    pub(super) request: String,
    pub(super) agent: String,
    pub(super) tool: String,
    /// The action of the call, or the text of the record.
    pub(super) what: String,
    pub(super) what_style: Style,
    /// The deciding rules and further results.
    pub(super) why: String,
}

impl Shown {
    /// Returns the parts of a record; with `verbose` without omissions.
    pub(super) fn of(record: &Record, verbose: bool) -> Shown {
        match record {
            Record::Call(call) => of_call(call, verbose),
            Record::Session(session) => of_session(session),
            Record::Control(control) => {
                let (word, style) = if control.accepted { ("done", GOOD) } else { ("refused", WARN) };
                let who = format!("by process {}", control.peer_pid);
                let argument =
                    if verbose { control.argument.to_string() } else { shortened(&control.argument) };
                let text = [control.action.as_str(), &argument, &who, control.message.as_str()];
                Shown { tool: "control".to_owned(), ..own(word, style, &text) }
            }
            Record::Failure(failure) => {
                let text = [failure.event.as_str(), &failure.code, &failure.message];
                let shown = own("failure", BAD, &text);
                let agent = if failure.agent.is_empty() { shown.agent.clone() } else { word(&failure.agent) };
                Shown { agent, ..shown }
            }
            Record::Ungoverned(record) => of_ungoverned(record),
            Record::Gap(gap) => {
                Shown { agent: word(&gap.agent), ..own("gap", WARN, &[&gap.event, &gap.message]) }
            }
            Record::Retention(retention) => {
                own("log", FAINT, &[&format!("deleted {}: {}", retention.file, retention.reason)])
            }
            Record::Recovery(recovery) => {
                own("damage", BAD, &[&format!("{}: {}", recovery.file, recovery.message)])
            }
        }
    }
}

/// Returns a record of castellan itself.
fn own(kind: &str, style: Style, text: &[&str]) -> Shown {
    Shown {
        kind: (kind.to_owned(), style),
        request: String::new(),
        agent: "castellan".to_owned(),
        tool: String::new(),
        what: joined(text),
        what_style: PLAIN,
        why: String::new(),
    }
}

fn of_call(call: &CallRecord, verbose: bool) -> Shown {
    Shown {
        kind: (shown_verdict(call), verdict_style(&call.verdict)),
        request: call.request.to_string(),
        agent: word(&call.agent),
        tool: call.tool.to_string(),
        what: subject(call),
        what_style: PLAIN,
        why: why(call, verbose),
    }
}

/// Names the files that differ, or may differ, from the judged ones.
fn of_session(session: &SessionRecord) -> Shown {
    let agent = word(&session.agent);
    if session.scripts.is_empty() {
        let what = if session.tool.is_empty() { &session.message } else { &session.use_id };
        let style = if session.is_event() { FAINT } else { WARN };
        let shown = own("note", style, &[&session.event, what]);
        return Shown { agent, tool: session.tool.to_string(), what_style: FAINT, ..shown };
    }
    let each = session.scripts.iter().map(|script| format!("{}: {}", script.path, script.message));
    let each = each.collect::<Vec<_>>().join("; ");
    Shown { agent, ..own("note", WARN, &[&session.event, &session.message, &each]) }
}

fn of_ungoverned(record: &UngovernedRecord) -> Shown {
    let input = if record.input.is_null() { String::new() } else { record.input.to_string() };
    let shown = own("ungoverned", BAD, &[&record.why, &record.message, &record.file, &input]);
    Shown { agent: word(&record.agent), tool: record.tool.to_string(), ..shown }
}

/// Returns the word by which people name an agent; an unknown agent by its own name.
fn word(agent: &str) -> String {
    AgentId::named(agent).map_or_else(|| agent.to_owned(), |known| known.word().to_owned())
}

/// Returns the verdict; in brackets if it was not enforced.
fn shown_verdict(call: &CallRecord) -> String {
    let word = verdict_word(&call.verdict);
    let is_open = call.verdict == Verdict::Defer.as_str();
    if call.enforced || is_open { word.to_owned() } else { format!("({word})") }
}

/// Returns the deciding rules, the verdicts of observed rules, the obligations and the marks. Names the layer of rules
/// that the user cannot change; with `verbose`, of all rules.
fn why(call: &CallRecord, verbose: bool) -> String {
    let decisive = call
        .findings
        .iter()
        .filter(|finding| call.verdict == finding.verdict.as_str() && finding.lifted != OBSERVED);
    let named = decisive.map(|finding| match (finding.rule.as_str(), finding.layer.as_str()) {
        ("", _) => finding.code.clone(),
        (rule, "") => rule.to_owned(),
        (rule, "user") if !verbose => rule.to_owned(),
        (rule, layer) => format!("{rule} ({layer})"),
    });
    let mut words: Vec<String> = named.collect();
    words.dedup();
    let rules = words.join(", ");
    let marks = call.marks.iter().map(|mark| mark.label.as_str()).collect::<Vec<_>>().join(", ");
    let marks = if marks.is_empty() { marks } else { format!("marks {marks}") };
    let observed = call.findings.iter().filter(|finding| finding.lifted == OBSERVED);
    let observed: Vec<String> =
        observed.map(|finding| format!("would {}: {}", finding.verdict, finding.rule)).collect();
    let observed = observed.join(", ");
    let obligations = call.obligations.iter().map(obligation).collect::<Vec<_>>().join(", ");
    joined(&[&rules, &observed, &obligations, &marks])
}

/// Formats an obligation with its fallback: `contain no-network, else ask`. A defer fallback is omitted.
fn obligation(one: &ObligationRecord) -> String {
    let detail = if one.detail.is_empty() { String::new() } else { format!(" {}", one.detail) };
    let or_else = if one.or_else == Verdict::Defer.as_str() {
        String::new()
    } else {
        format!(", else {}", one.or_else)
    };
    format!("{}{detail}{or_else}", one.kind)
}

/// Shortens the hashes in a text to a distinguishable prefix.
fn shortened(text: &str) -> String {
    let is_hash = |word: &str| word.len() == HASH_CHARS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shorten = |word: &str| {
        let (hash, comma) = word.strip_suffix(',').map_or((word, ""), |hash| (hash, ","));
        if is_hash(hash) { format!("{}{comma}", cut(hash, HASH_CHARS_SHOWN)) } else { word.to_owned() }
    };
    text.split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    one_line(&parts.join(" "))
}
