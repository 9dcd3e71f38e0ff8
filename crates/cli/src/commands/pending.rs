//! `castellan pending`: the calls that wait for a person, with what was found of them.

use std::io::Write;
use std::time::Duration;

use castellan_daemon::PendingCall;
use serde_json::json;

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{FAINT, WARN, printable};

/// Options of `castellan pending`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let calls = global.client()?.pending()?;
    let mut out = anstream::stdout();
    if options.json {
        writeln!(out, "{:#}", json!({ "version": 1, "pending": calls }))?;
        return Ok(Exit::Done);
    }
    if calls.is_empty() {
        global.note("no call waits for you")?;
    }
    for call in &calls {
        write(&mut out, call)?;
    }
    Ok(Exit::Done)
}

fn write(out: &mut impl Write, call: &PendingCall) -> std::io::Result<()> {
    let PendingCall { id, agent, cwd, tool, input, reasons, age_s, times, .. } = call;
    let age = humantime::format_duration(Duration::from_secs(*age_s));
    let times = if *times > 1 { format!(", {times} times") } else { String::new() };
    let (agent, tool, cwd) = (printable(agent), printable(tool), printable(cwd));
    writeln!(out, "{WARN}{id}{WARN:#}  {tool} of {agent}  {FAINT}{age} ago{times}, in {cwd}{FAINT:#}")?;
    writeln!(out, "    {}", printable(input))?;
    for reason in reasons {
        writeln!(out, "    {FAINT}{}{FAINT:#}", printable(reason))?;
    }
    Ok(())
}
