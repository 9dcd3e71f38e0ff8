//! `castellan why`: one recorded call with its effects, the rules that fired, and the ways to allow it. A guarded agent
//! gets only the rules, their messages and the request id.

mod json;
mod remedy;
mod show;
mod understood;

use std::io::Write;

use castellan_audit::{CallRecord, FindingRecord};
use castellan_event::{Code, Verdict};

use crate::exit::Exit;
use crate::global::Global;
use crate::history::RecordedCall;
use crate::output::{self, FAINT, PLAIN, printable, verdict_style, verdict_word};
use crate::presence;

/// Options of `castellan why`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id such as `K7`, or the number of a log record; default: the last call that was asked about or denied
    id: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let found = match &options.id {
        Some(id) => RecordedCall::named(&layout.log(), id)?,
        None => RecordedCall::last_stopped(&layout.log())?,
    };
    let mut out = anstream::stdout();
    match (presence::is_within_agent(layout.home()), options.json) {
        (true, true) => output::write_json(&mut out, &json::for_agent(&found.call))?,
        (true, false) => write_for_agent(&mut out, &found.call)?,
        (false, true) => output::write_json(&mut out, &json::of(global, &layout, &found)?)?,
        (false, false) => show::write(&mut out, global, &layout, &found)?,
    }
    Ok(Exit::Done)
}

fn write_for_agent(out: &mut impl Write, call: &CallRecord) -> anyhow::Result<()> {
    let (word, style) = (verdict_word(&call.verdict), verdict_style(&call.verdict));
    writeln!(out, "{style}{}{style:#}  {}", printable(word), printable(&call.request))?;
    let columns = output::columns();
    for finding in deciding(call) {
        output::write_wrapped(out, name(finding), PLAIN, "", columns)?;
        output::write_wrapped(out, &finding.message, FAINT, "    ", columns)?;
    }
    Ok(())
}

/// Returns the findings that gave the verdict.
fn deciding(call: &CallRecord) -> impl Iterator<Item = &FindingRecord> {
    call.findings
        .iter()
        .filter(|finding| call.verdict == finding.verdict.as_str() && finding.lifted.is_empty())
}

/// Returns the findings with a verdict. An obligation that castellan did not meet also is one without a verdict: it says why the
/// call does not run in a sandbox, for example.
fn shown_findings(call: &CallRecord) -> impl Iterator<Item = &FindingRecord> {
    let is_shown = |finding: &&FindingRecord| {
        finding.verdict != Verdict::Defer.as_str() || finding.code == Code::Unmet.as_str()
    };
    call.findings.iter().filter(is_shown)
}

/// Reports whether the call was asked about or denied.
fn is_stopped(call: &CallRecord) -> bool {
    [Verdict::Ask, Verdict::Deny].iter().any(|verdict| *verdict.as_str() == *call.verdict)
}

/// Returns the rule of a finding; without a rule, the code of its stage.
fn name(finding: &FindingRecord) -> &str {
    if finding.rule.is_empty() { &finding.code } else { &finding.rule }
}
