//! `castellan pending`: the pending calls with their findings and effects, or the grants.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use castellan_daemon::{ControlClient, ControlError, GrantScope, GrantedCall, PendingCall, ShownCall};
use serde_json::json;

use super::explain::tree;
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::WATCH_POLL;
use crate::output::{FAINT, WARN, counted, printable};

/// Options of `castellan pending`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Keep showing pending calls until interrupted
    #[arg(long, conflicts_with = "json")]
    watch: bool,

    /// Show the grants instead; revoke one with `castellan refuse`
    #[arg(long, conflicts_with = "watch")]
    granted: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let mut out = anstream::stdout();
    if options.granted {
        let calls = client.granted()?;
        if options.json {
            writeln!(out, "{:#}", json!({ "version": 1, "granted": calls }))?;
        } else if calls.is_empty() {
            global.note("nothing is granted")?;
        }
        let shown = if options.json { &[][..] } else { &calls };
        shown.iter().try_for_each(|call| write_granted(&mut out, call))?;
        return Ok(Exit::Done);
    }
    if options.watch {
        return watch(&client, &mut out);
    }
    let calls = all(&client)?;
    if options.json {
        writeln!(out, "{:#}", json!({ "version": 1, "pending": calls }))?;
        return Ok(Exit::Done);
    }
    if calls.is_empty() {
        global.note("no call waits for you")?;
    }
    calls.iter().try_for_each(|call| write(&mut out, call))?;
    Ok(Exit::Done)
}

/// Returns every pending call in full.
fn all(client: &ControlClient) -> Result<Vec<ShownCall>, ControlError> {
    let shown = client.pending()?.into_iter().map(|call| client.show(&call.id));
    // A call that disappeared meanwhile is no longer pending.
    let shown = shown.filter(|call| !matches!(call, Err(ControlError::Failed(_))));
    shown.collect()
}

/// Shows the pending calls repeatedly: a terminal is redrawn, other output gets the changes.
fn watch(client: &ControlClient, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut before: Vec<ShownCall> = Vec::new();
    loop {
        let calls = all(client)?;
        if std::io::stdout().is_terminal() {
            write!(out, "{CLEAR}")?;
            calls.iter().try_for_each(|call| write(out, call))?;
            writeln!(out, "{FAINT}{}{FAINT:#}", waiting(calls.len()))?;
        } else {
            let came = calls.iter().filter(|call| !before.iter().any(|one| is_same(one, call)));
            came.into_iter().try_for_each(|call| write(out, call))?;
            let gone = before.iter().filter(|one| !calls.iter().any(|call| one.shown == call.shown));
            gone.into_iter().try_for_each(|call| writeln!(out, "{}  waits no more", call.call.id))?;
        }
        out.flush()?;
        before = calls;
        std::thread::sleep(WATCH_POLL);
    }
}

fn waiting(calls: usize) -> String {
    let verb = if calls == 1 { "waits" } else { "wait" };
    format!("{} {verb} for you", counted(calls, "call"))
}

/// Moves the cursor to the upper left and clears the screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

fn is_same(one: &ShownCall, other: &ShownCall) -> bool {
    one.shown == other.shown && one.call.times == other.call.times && one.call.id == other.call.id
}

fn write(out: &mut impl Write, shown: &ShownCall) -> anyhow::Result<()> {
    write_head(out, &shown.call)?;
    writeln!(out, "    {}", printable(&shown.call.input))?;
    write_reasons(out, &shown.call)?;
    tree::write(out, &shown.explanation, "    ")
}

/// Writes the id, tool, agent, age and directory of a call.
pub(super) fn write_head(out: &mut impl Write, call: &PendingCall) -> std::io::Result<()> {
    let PendingCall { id, agent, cwd, tool, age_s, times, waiting, at_prompt, .. } = call;
    let times = if *times > 1 { format!(", {times} times") } else { String::new() };
    let waits = match (waiting, at_prompt) {
        (true, _) => ", the agent waits",
        (false, true) => ", the agent's own prompt is open",
        (false, false) => "",
    };
    let (agent, tool, cwd) = (printable(agent), printable(tool), printable(cwd));
    let age = age(*age_s);
    writeln!(out, "{WARN}{id}{WARN:#}  {tool} of {agent}  {FAINT}{age} ago{times}{waits}, in {cwd}{FAINT:#}")
}

pub(super) fn write_reasons(out: &mut impl Write, call: &PendingCall) -> std::io::Result<()> {
    call.reasons.iter().try_for_each(|reason| writeln!(out, "    {WARN}●{WARN:#} {}", printable(reason)))
}

fn write_granted(out: &mut impl Write, call: &GrantedCall) -> anyhow::Result<()> {
    let GrantedCall { id, agent, cwd, tool, input, scope, age_s } = call;
    let scope = match scope {
        GrantScope::Once => "once".to_owned(),
        GrantScope::Session => "for its session".to_owned(),
        GrantScope::For(seconds) => format!("for {}", age(*seconds)),
        GrantScope::Always => "always".to_owned(),
    };
    let (agent, tool, cwd) = (printable(agent), printable(tool), printable(cwd));
    let age = age(*age_s);
    writeln!(out, "{WARN}{id}{WARN:#}  {tool} of {agent}, {scope}  {FAINT}{age} ago, in {cwd}{FAINT:#}")?;
    Ok(writeln!(out, "    {}", printable(input))?)
}

fn age(seconds: u64) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(seconds))
}
