//! The report of a replay, for people and as JSON.

use std::io::Write;
use std::time::SystemTime;

use castellan_trial::{ReplayOutcome, Unjudged};
use serde_json::{Value as Json, json};

use super::changes::{Changes, Example, Group, Kind};
use super::sides::Sides;
use crate::global::Global;
use crate::history::Missing;
use crate::output::{self, BAD, FAINT, GOOD, NOTE, Style, WARN, WARNING, counted, cut, printable};
use crate::times;

/// Columns before the call in the line of an example.
const BEFORE_SUBJECT: usize = 39;

/// Minimum characters of a call on a narrow terminal.
const SUBJECT_MIN: usize = 30;

/// The comparison, and the defects of the log.
#[derive(Debug)]
pub(super) struct Report<'r> {
    pub(super) changes: &'r Changes,
    pub(super) sides: &'r Sides,
    pub(super) missing: &'r Missing,
    pub(super) since: Option<SystemTime>,
}

const DRIFTED: &str = "answered otherwise when made than by the rules in force now: by other rules, a grant, trust, or the agent's state";
const CHANGED_FILES: &str =
    "with files that hold something else by now: judged as if these could not be read";
const ASKED_NOW: &str = "for which the log does not tell all of the machine: it was looked at as it is now";
const UNKNOWN_OBLIGATIONS: &str =
    "recorded with an obligation that this castellan does not know: compared by its fallback";
const UNKNOWN_VERDICT: &str = "the record has a verdict that this castellan does not know";

impl Report<'_> {
    pub(super) fn write(&self, out: &mut impl Write, global: &Global) -> anyhow::Result<()> {
        let Report { changes, sides, missing, since } = self;
        let calls = counted(changes.judged, "call");
        let since = since.map_or_else(String::new, |since| format!(" since {}", times::local(since)));
        let with = if sides.is_with_record() { "what was recorded" } else { "the rules in force" };
        writeln!(out, "{calls}{since} judged again by {}, beside {with}", printable(&sides.tried))?;
        for kind in changes.kinds() {
            let (calls, groups) = changes.of_kind(kind);
            let style = style(kind);
            writeln!(out, "\n{style}{}{style:#}  {}", kind.title(), counted(calls, "call"))?;
            for (by, group) in groups {
                write_group(out, by, group, global.verbose)?;
            }
        }
        if changes.groups.is_empty() {
            writeln!(out, "\nnothing would change")?;
        }
        self.write_notes(out)?;
        Ok(missing.write(out)?)
    }

    /// Writes notes about the limits of the comparison.
    fn write_notes(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let changes = self.changes;
        let drifted = if self.sides.is_with_record() { 0 } else { changes.drifted };
        let mut notes = [
            (drifted, DRIFTED),
            (changes.with_changed_files, CHANGED_FILES),
            (changes.asked_now, ASKED_NOW),
            (changes.with_unknown_obligations, UNKNOWN_OBLIGATIONS),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .peekable();
        if notes.peek().is_some() {
            writeln!(out)?;
        }
        for (count, note) in notes {
            writeln!(out, "{NOTE} {} {note}", counted(count, "call"))?;
        }
        if !changes.is_whole() {
            writeln!(out)?;
        }
        let unjudged =
            Unjudged::ALL.into_iter().filter_map(|why| Some((changes.unjudged.get(&why)?, why.meaning())));
        let without = Some((&changes.without_verdict, UNKNOWN_VERDICT)).filter(|(count, _)| **count > 0);
        for (count, why) in unjudged.chain(without) {
            writeln!(out, "{WARNING} not judged: {}: {why}", counted(*count, "call"))?;
        }
        Ok(())
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Report { changes, sides, missing, since } = self;
        let kinds = changes.kinds().into_iter().map(|kind| {
            let (calls, groups) = changes.of_kind(kind);
            let groups = groups.into_iter().map(|(by, group)| {
                let examples = group.examples.iter().map(example_json).collect::<Vec<_>>();
                json!({ "by": by, "calls": group.calls, "examples": examples })
            });
            json!({ "kind": kind.as_str(), "calls": calls, "groups": groups.collect::<Vec<_>>() })
        });
        let unjudged = Unjudged::ALL.into_iter().map(|why| {
            (why.as_str().to_owned(), changes.unjudged.get(&why).copied().unwrap_or_default().into())
        });
        let mut unjudged: serde_json::Map<String, Json> = unjudged.collect();
        unjudged.insert("unknown_verdict".to_owned(), changes.without_verdict.into());
        let answer = json!({
            "version": 1,
            "tried": sides.tried,
            "beside": if sides.is_with_record() { "recorded" } else { "in_force" },
            "since": since.map(times::utc),
            "judged": changes.judged,
            "changes": kinds.collect::<Vec<_>>(),
            "otherwise_than_recorded": changes.drifted,
            "with_changed_files": changes.with_changed_files,
            "machine_asked_now": changes.asked_now,
            "with_unknown_obligations": changes.with_unknown_obligations,
            "not_judged": unjudged,
            "log": missing.json(),
        });
        Ok(writeln!(out, "{answer:#}")?)
    }
}

fn style(kind: Kind) -> Style {
    match kind {
        Kind::NewlyDenied => BAD,
        Kind::NewlyAsked | Kind::AskedNotDenied => WARN,
        Kind::NewlyLetThrough | Kind::NewlyAllowed => GOOD,
        Kind::NoLongerAllowed => FAINT,
    }
}

fn write_group(out: &mut impl Write, by: &[String], group: &Group, verbose: bool) -> anyhow::Result<()> {
    let by = if by.is_empty() { "no rule".to_owned() } else { printable(&by.join(", ")) };
    writeln!(out, "{:>6}  {by}", group.calls)?;
    let shown = if verbose { usize::MAX } else { 1 };
    for example in group.examples.iter().take(shown) {
        let time = times::local(example.time);
        let columns = output::columns().saturating_sub(BEFORE_SUBJECT).max(SUBJECT_MIN);
        let subject = printable(&example.subject);
        let subject = if verbose { subject } else { cut(&subject, columns) };
        let tool = printable(&example.tool);
        writeln!(out, "        {FAINT}{time}  {tool}{FAINT:#}  {subject}")?;
    }
    Ok(())
}

fn example_json(example: &Example) -> Json {
    let outcome = |outcome: &ReplayOutcome| json!({ "verdict": outcome.verdict.as_str(), "by": outcome.by });
    json!({
        "seq": example.seq,
        "time": times::utc(example.time),
        "agent": example.agent,
        "tool": example.tool,
        "subject": example.subject,
        "before": outcome(&example.before),
        "after": outcome(&example.after),
    })
}
