//! `castellan pending`: the pending calls with their findings and effects, or the grants. A person at a terminal gets a
//! screen to approve and refuse calls.

pub(super) mod consent;
mod screen;
mod state;
mod view;
pub(super) mod whole;

use std::io::Write;
use std::time::Duration;

use castellan_daemon::{ControlClient, ControlError, GrantScope, GrantedCall, PendingCall, ShownCall};
use humantime::format_duration;
use serde_json::json;

use super::explain::tree;
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::WATCH_POLL;
use crate::output::{self, FAINT, WARN, age, printable};
use crate::presence;

/// Options of `castellan pending`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print lines at a terminal, too, instead of the screen
    #[arg(long)]
    plain: bool,

    /// Keep printing new pending calls until interrupted, if there is no screen
    #[arg(long, conflicts_with = "json")]
    watch: bool,

    /// Show the grants instead; revoke one with `castellan refuse`
    #[arg(long, conflicts_with = "watch")]
    granted: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    if is_for_screen(options) && screen::is_possible() {
        let layout = global.layout()?;
        // A guarded agent gets lines: it must not wait for keys.
        if !presence::is_within_agent(layout.home()) {
            return screen::run(layout.home());
        }
    }
    let client = global.client()?;
    let mut out = anstream::stdout();
    if options.granted {
        let calls = client.granted()?;
        if options.json {
            output::write_json(&mut out, &json!({ "version": 1, "granted": calls }))?;
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
        output::write_json(&mut out, &json!({ "version": 2, "pending": calls }))?;
        return Ok(Exit::Done);
    }
    if calls.is_empty() {
        global.note("no call waits for you")?;
    }
    calls.iter().try_for_each(|call| write(&mut out, call))?;
    Ok(Exit::Done)
}

/// Reports whether the options allow a screen.
fn is_for_screen(options: &Options) -> bool {
    !(options.json || options.plain || options.granted)
}

/// Returns every pending call in full.
fn all(client: &ControlClient) -> Result<Vec<ShownCall>, ControlError> {
    let shown = client.pending()?.into_iter().map(|call| client.show(&call.id));
    // A call that disappeared meanwhile is no longer pending.
    let shown = shown.filter(|call| !matches!(call, Err(ControlError::Failed(_))));
    shown.collect()
}

/// Prints the changes of the pending calls repeatedly.
fn watch(client: &ControlClient, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut before: Vec<ShownCall> = Vec::new();
    loop {
        let calls = all(client)?;
        let came = calls.iter().filter(|call| !before.iter().any(|one| is_same(one, call)));
        came.into_iter().try_for_each(|call| write(out, call))?;
        let gone = before.iter().filter(|one| !calls.iter().any(|call| one.shown == call.shown));
        gone.into_iter().try_for_each(|call| writeln!(out, "{}  waits no more", call.call.id))?;
        out.flush()?;
        before = calls;
        std::thread::sleep(WATCH_POLL);
    }
}

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
fn write_head(out: &mut impl Write, call: &PendingCall) -> std::io::Result<()> {
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

fn write_reasons(out: &mut impl Write, call: &PendingCall) -> std::io::Result<()> {
    call.reasons.iter().try_for_each(|reason| writeln!(out, "    {WARN}●{WARN:#} {}", printable(reason)))?;
    let Some(class) = &call.class else { return Ok(()) };
    writeln!(out, "    {FAINT}a grant for the session covers all such calls: {}{FAINT:#}", printable(class))
}

fn write_granted(out: &mut impl Write, call: &GrantedCall) -> anyhow::Result<()> {
    let GrantedCall { id, agent, cwd, tool, input, scope, age_s, class } = call;
    let scope = match scope {
        GrantScope::Once => "once".to_owned(),
        GrantScope::Session => "for its session".to_owned(),
        GrantScope::For(seconds) => format!("for {}", format_duration(Duration::from_secs(*seconds))),
        GrantScope::Always => "always".to_owned(),
    };
    let (agent, tool, cwd) = (printable(agent), printable(tool), printable(cwd));
    let age = age(*age_s);
    writeln!(out, "{WARN}{id}{WARN:#}  {tool} of {agent}, {scope}  {FAINT}{age} ago, in {cwd}{FAINT:#}")?;
    writeln!(out, "    {}", printable(input))?;
    let Some(class) = class else { return Ok(()) };
    Ok(writeln!(out, "    {FAINT}and all such calls: {}{FAINT:#}", printable(class))?)
}
