//! `castellan why`: one recorded call with its effects, the rules that fired, and the ways to allow it. A guarded agent
//! gets only the rules, their messages and the request id.

mod remedy;
mod show;
mod understood;

use std::io::Write;

use castellan_audit::{CallRecord, FindingRecord};

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
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let found = match &options.id {
        Some(id) => RecordedCall::named(&layout.log(), id)?,
        None => RecordedCall::last_stopped(&layout.log())?,
    };
    let mut out = anstream::stdout();
    if presence::is_within_agent(layout.home()) {
        write_for_agent(&mut out, &found.call)?;
    } else {
        show::write(&mut out, global, &layout, &found)?;
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

/// Returns the rule of a finding; without a rule, the code of its stage.
fn name(finding: &FindingRecord) -> &str {
    if finding.rule.is_empty() { &finding.code } else { &finding.rule }
}
