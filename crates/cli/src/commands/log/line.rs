//! A record as a line for people: time, verdict, agent, tool, action, reason.

use std::io::{self, Write};

use castellan_audit::{CallRecord, Entry, ObligationRecord, Record, SessionRecord, UngovernedRecord};
use castellan_event::{Exemption, Verdict};

use crate::history::subject;
use crate::output::{self, BAD, Cell, FAINT, GOOD, WARN, one_line, verdict_style};
use crate::times;

/// Widths of the columns before the last: time, verdict or kind, agent, tool. Rows arrive singly, so the widths are
/// fixed; a longer value shifts the rest of its row.
const WIDTHS: [usize; 5] = [26, 13, 11, 11, 0];

/// Columns before the action of a call, with the gaps.
const BEFORE_WHAT: usize = 26 + 13 + 11 + 11 + 4 * 2;

/// Characters of a hash, and how many of them are shown.
const HASH_CHARS: usize = 64;
const HASH_CHARS_SHOWN: usize = 13;

/// Minimum characters of a call's action on a narrow terminal.
const WHAT_MIN: usize = 30;

/// Writes one record. The action of a call is cut so that the line fits into `columns`.
pub(super) fn write(out: &mut impl Write, entry: &Entry, columns: usize) -> io::Result<()> {
    let mut row = vec![Cell::new(times::local(entry.time), FAINT)];
    row.extend(cells(&entry.record, columns));
    output::write_row(out, &row, &WIDTHS)
}

fn cells(record: &Record, columns: usize) -> Vec<Cell> {
    match record {
        Record::Call(call) => call_cells(call, columns),
        Record::Session(session) => {
            let what = if session.tool.is_empty() { &session.message } else { &session.use_id };
            let text = format!("{} {}", session.event, one_line(what));
            if !session.scripts.is_empty() {
                return scripts_cells(session);
            }
            vec![
                Cell::new("note", FAINT),
                Cell::from(&session.agent),
                tool(&session.tool),
                Cell::new(cut(&text, columns), FAINT),
            ]
        }
        Record::Control(control) => {
            let (word, style) = if control.accepted { ("done", GOOD) } else { ("refused", WARN) };
            let who = format!("by process {}", control.peer_pid);
            let argument =
                if columns == usize::MAX { control.argument.clone() } else { shortened(&control.argument) };
            let text = [&control.action, &argument, &who, &control.message].map(String::as_str);
            vec![Cell::new(word, style), "castellan".into(), "control".into(), joined(&text)]
        }
        Record::Failure(failure) => {
            let agent = if failure.agent.is_empty() { "castellan" } else { &failure.agent };
            let text = [failure.event.as_str(), &failure.code, &failure.message];
            vec![Cell::new("failure", BAD), agent.into(), "".into(), joined(&text)]
        }
        Record::Ungoverned(record) => ungoverned_cells(record),
        Record::Gap(gap) => {
            let text = format!("{} {}", gap.event, gap.message);
            vec![Cell::new("gap", WARN), Cell::from(&gap.agent), "".into(), Cell::from(one_line(&text))]
        }
        Record::Retention(retention) => {
            let text = format!("deleted {}: {}", retention.file, retention.reason);
            vec![Cell::new("log", FAINT), "castellan".into(), "".into(), text.into()]
        }
        Record::Recovery(recovery) => {
            let text = format!("{}: {}", recovery.file, recovery.message);
            vec![Cell::new("damage", BAD), "castellan".into(), "".into(), text.into()]
        }
    }
}

/// Describes an ungoverned run without truncation.
fn ungoverned_cells(record: &UngovernedRecord) -> Vec<Cell> {
    let input = if record.input.is_null() { String::new() } else { record.input.to_string() };
    let text = [record.why.as_str(), &record.message, &record.file, &input];
    vec![Cell::new("ungoverned", BAD), Cell::from(&record.agent), tool(&record.tool), joined(&text)]
}

/// Names the files that differ, or may differ, from the judged ones, without truncation.
fn scripts_cells(session: &SessionRecord) -> Vec<Cell> {
    let each = session.scripts.iter().map(|script| format!("{}: {}", script.path, script.message));
    let text = format!("{} {} {}", session.event, session.message, each.collect::<Vec<_>>().join("; "));
    vec![Cell::new("note", WARN), Cell::from(&session.agent), tool(""), Cell::from(one_line(&text))]
}

fn call_cells(call: &CallRecord, columns: usize) -> Vec<Cell> {
    let why = output::printable(&why(call, columns == usize::MAX));
    let what = cut(&subject(call), columns.saturating_sub(why.chars().count() + 2));
    let verdict = Cell::new(shown_verdict(call), verdict_style(&call.verdict));
    let mut cells = vec![verdict, Cell::from(&call.agent), tool(&call.tool), Cell::from(what)];
    if !why.is_empty() {
        cells.push(Cell::new(why, FAINT));
    }
    cells
}

/// Returns the verdict; in brackets if it was not enforced.
fn shown_verdict(call: &CallRecord) -> String {
    let word = output::verdict_word(&call.verdict);
    if call.enforced { word.to_owned() } else { format!("({word})") }
}

/// The `lifted` value of a finding from a rule in observe state.
const OBSERVED: &str = Exemption::Observe.as_str();

/// Returns the request, the deciding rules, the verdicts of observed rules, the obligations and the marks. Names the
/// layer of rules that the user cannot change; with `verbose`, of all rules.
fn why(call: &CallRecord, verbose: bool) -> String {
    let decisive =
        call.findings.iter().filter(|finding| finding.verdict == call.verdict && finding.lifted != OBSERVED);
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
    [call.request.as_str(), &rules, &observed, &obligations, &marks]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
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
        if is_hash(hash) {
            format!("{}{comma}", output::cut(hash, HASH_CHARS_SHOWN))
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

fn tool(name: &str) -> Cell {
    Cell::from(output::cut(name, 32))
}

fn joined(parts: &[&str]) -> Cell {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    Cell::from(one_line(&parts.join(" ")))
}

fn cut(text: &str, columns: usize) -> String {
    output::cut(&output::printable(text), columns.saturating_sub(BEFORE_WHAT).max(WHAT_MIN))
}
