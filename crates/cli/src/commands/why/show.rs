//! A recorded call for a person: the call, its effects, the rules that fired and the ways to allow it.

use std::io::Write;

use castellan_agents::AgentId;
use castellan_audit::{CallRecord, FindingRecord};
use castellan_daemon::Layout;
use castellan_event::{Exemption, Verdict};

use super::remedy::remedies;
use super::understood::Understood;
use super::{is_stopped, name, shown_findings};
use crate::commands::explain::tree;
use crate::global::Global;
use crate::history::{RecordedCall, subject};
use crate::output::{
    self, Cell, FAINT, PLAIN, WARN, counted, printable, verdict_style, verdict_word, write_wrapped,
};
use crate::times;

const INDENT: &str = "    ";

/// Prefix of each line of the call, so that no line of it looks like castellan's own.
const CALL: &str = "    │ ";

/// Columns of a call that are shown without `--verbose`.
const COMMAND_COLUMNS: usize = 2_000;

/// Effects that are shown without `--verbose`.
const EFFECTS_SHOWN: usize = 8;

/// Exemptions in a record, with their meanings. Other words are kinds of obligations.
const EXEMPTIONS: &[(&str, &str)] = &[
    (Exemption::Grant.as_str(), "a person approved the call"),
    (Exemption::Operator.as_str(), "an `allow` list covers the whole call"),
    (Exemption::Observe.as_str(), "its rule is only observed"),
];

pub(super) fn write(
    out: &mut impl Write,
    global: &Global,
    layout: &Layout,
    found: &RecordedCall,
) -> anyhow::Result<()> {
    let call = &found.call;
    let columns = output::columns();
    let (word, style) = (verdict_word(&call.verdict), verdict_style(&call.verdict));
    let head =
        [Cell::new(word, style), Cell::from(&call.request), Cell::new(times::local(found.time), FAINT)];
    let head: Vec<Cell> = head.into_iter().filter(|cell| cell.width() > 0).collect();
    output::write_row(out, &head, &[])?;
    write_call(out, call, global.verbose, columns)?;
    let understood = Understood::of(layout, found);
    match &understood {
        Ok(understood) => write_effects(out, understood, global.verbose, columns)?,
        Err(why) => {
            writeln!(out, "\n{FAINT}effects{FAINT:#}")?;
            write_wrapped(out, &format!("not known: {}", output::message(why)), WARN, INDENT, columns)?;
        }
    }
    let understood = understood.ok();
    write_findings(out, call, understood.as_ref(), columns)?;
    if is_stopped(call) {
        writeln!(out, "\n{FAINT}to allow it{FAINT:#}")?;
        let remedies = remedies(global, call, understood.as_ref())?;
        output::write_pairs(out, &remedies, INDENT, columns)?;
    }
    Ok(())
}

fn write_call(out: &mut impl Write, call: &CallRecord, verbose: bool, columns: usize) -> anyhow::Result<()> {
    writeln!(out, "\n{FAINT}call{FAINT:#}")?;
    let limit = if verbose { usize::MAX } else { COMMAND_COLUMNS };
    match call.input.get("command").and_then(|command| command.as_str()) {
        Some(command) if call.files.is_empty() => {
            let command = output::cut(command, limit);
            command.lines().try_for_each(|line| write_wrapped(out, line, PLAIN, CALL, columns))?;
        }
        Some(_) | None => {
            write_wrapped(out, &output::cut(&subject(call), limit), PLAIN, CALL, columns)?;
        }
    }
    let agent = AgentId::named(&call.agent).map(AgentId::title).unwrap_or(&call.agent);
    let about = format!("{} of {agent}, in {}", call.tool, call.cwd);
    write_wrapped(out, &about, FAINT, INDENT, columns)?;
    let answer = verdict_word(&call.answer);
    if !call.enforced {
        let note = format!("the mode was {}: {answer}", call.mode);
        write_wrapped(out, &note, FAINT, INDENT, columns)?;
    } else if call.verdict == Verdict::Ask.as_str() && call.answer == Verdict::Deny.as_str() {
        let note = format!("denied until you approve it, because {agent} does not hold such an ask");
        write_wrapped(out, &note, FAINT, INDENT, columns)?;
    }
    Ok(())
}

/// Writes each distinct effect in a line.
fn write_effects(
    out: &mut impl Write,
    understood: &Understood,
    verbose: bool,
    columns: usize,
) -> anyhow::Result<()> {
    let mut effects: Vec<(String, String)> = Vec::new();
    for effect in understood.effects() {
        let said = (effect.kind.clone(), tree::line(&tree::describe_effect(effect)));
        if !effects.contains(&said) {
            effects.push(said);
        }
    }
    writeln!(out, "\n{FAINT}effects{FAINT:#}")?;
    if effects.is_empty() {
        writeln!(out, "{INDENT}none")?;
    }
    let left_out = if verbose { 0 } else { effects.len().saturating_sub(EFFECTS_SHOWN) };
    effects.truncate(effects.len() - left_out);
    output::write_pairs(out, &effects, INDENT, columns)?;
    if left_out > 0 {
        writeln!(out, "{INDENT}{FAINT}{}: `-v` shows all{FAINT:#}", counted(left_out, "more effect"))?;
    }
    Ok(())
}

/// Writes the findings with a verdict, each with its rule and the reason why it has an effect or none.
fn write_findings(
    out: &mut impl Write,
    call: &CallRecord,
    understood: Option<&Understood>,
    columns: usize,
) -> anyhow::Result<()> {
    let findings: Vec<&FindingRecord> = shown_findings(call).collect();
    writeln!(out, "\n{FAINT}rules{FAINT:#}")?;
    if findings.is_empty() {
        writeln!(out, "{INDENT}none")?;
    }
    let below = INDENT.repeat(2);
    for finding in findings {
        if finding.verdict == Verdict::Defer.as_str() {
            // The other findings decide, so it has no verdict to show.
            writeln!(out, "{INDENT}{FAINT}no effect{FAINT:#}  {}", printable(name(finding)))?;
        } else {
            let (word, style) = (printable(verdict_word(&finding.verdict)), verdict_style(&finding.verdict));
            writeln!(out, "{INDENT}{style}{word}{style:#}  {}", printable(name(finding)))?;
        }
        write_wrapped(out, &finding.message, PLAIN, &below, columns)?;
        if let Some(place) = understood.and_then(|understood| understood.place(finding)) {
            writeln!(out, "{below}{FAINT}{}{FAINT:#}", printable(&place))?;
        }
        if let Some(exemption) = exemption(finding, understood) {
            write_wrapped(out, &exemption, FAINT, &below, columns)?;
        }
    }
    Ok(())
}

/// Describes the exemption of a finding, or the reason why it has none. Returns `None` if the rules in force do not
/// make the finding, or if it stops nothing.
pub(super) fn exemption(finding: &FindingRecord, understood: Option<&Understood>) -> Option<String> {
    if !finding.lifted.is_empty() {
        let known = EXEMPTIONS.iter().find(|(word, _)| *word == finding.lifted);
        return Some(match known {
            Some((_, meaning)) => format!("no effect: {meaning}"),
            None => format!("no effect: the obligation `{}` was met", finding.lifted),
        });
    }
    let now = understood?.now(finding)?;
    if !now.stops() {
        return None;
    }
    let by = [Exemption::Grant, Exemption::Operator].map(|exemption| now.is_liftable_by(exemption));
    Some(
        match by {
            [true, true] => "in force: nobody approved the call, and no `allow` list covers all of it",
            [true, false] => {
                "in force: nobody approved the call; an `allow` list has no effect on this finding"
            }
            [false, true] => "in force: no `allow` list covers the whole call",
            [false, false] => {
                "in force: neither an approval nor an `allow` list has an effect on this finding"
            }
        }
        .to_owned(),
    )
}
