//! `castellan status`: one screen that answers whether castellan protects, by what, since when, under which mode and profile,
//! which agents, what it decided today, and what needs a person. A prompt and a status line have the same answer in few words.

mod json;
mod line;
mod needs;
mod screen;
mod short;
mod today;

use std::io::Write;

use castellan_agents::AgentId;
use serde_json::Value as Json;

use crate::exit::Exit;
use crate::global::Global;
use crate::limits::{PROMPT_TIME, STATUS_TIME};
use crate::output;
use crate::protection::Protection;

/// Options of `castellan status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print a few words for a shell prompt; the exit code is 0
    #[arg(long, conflicts_with_all = ["json", "line"])]
    prompt: bool,

    /// Print a few words for Claude Code's status line, whose JSON is on standard input; the exit code is 0
    #[arg(long, conflicts_with = "json")]
    line: bool,
}

/// Returns the status as JSON.
pub(crate) fn report(global: &Global) -> anyhow::Result<Json> {
    json::of(&Protection::of(global, &AgentId::ALL, STATUS_TIME)?)
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    if options.prompt || options.line {
        let agents = if options.line { &[AgentId::CLAUDE][..] } else { &AgentId::ALL };
        if options.line {
            line::enter_directory();
        }
        // A prompt has no place for an error.
        let words = Protection::of(global, agents, PROMPT_TIME).map(|protection| short::words(&protection));
        if let Some(words) = words.unwrap_or_else(|_| Some(short::UNPROTECTED.to_owned())) {
            writeln!(out, "{words}")?;
        }
        return Ok(Exit::Done);
    }
    let protection = Protection::of(global, &AgentId::ALL, STATUS_TIME)?;
    if options.json {
        output::write_json(&mut out, &json::of(&protection)?)?;
    } else {
        screen::write(&mut out, global, &protection)?;
    }
    Ok(protection.answer().exit())
}
