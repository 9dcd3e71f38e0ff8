//! `castellan keep`: settles a call whose changes a person keeps. Its checkpoint goes.

use std::io::Write;

use serde_json::json;

use super::undo::named::checkpoint_of;
use super::undo::shown;
use crate::exit::Exit;
use crate::global::Global;
use crate::{ask, presence};

/// Options of `castellan keep`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id such as `K7`, or the number of a log record
    id: String,

    /// Skip the question; a person must still be present
    #[arg(long, short)]
    yes: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    // No checkpoint has an empty id.
    presence::require_before(|| client.keep(""))?;
    let id = checkpoint_of(global, &options.id)?;
    let found = client.diff(&id)?;
    let mut text = Vec::new();
    shown::write(&mut text, &found, true)?;
    let is_shown = options.json || ask::show(&String::from_utf8_lossy(&text))?;
    let question = "Keep these changes? The call can then not be undone.";
    if !is_shown || !options.yes && !ask::is_agreed(question)? {
        global.note("nothing was changed")?;
        return Ok(Exit::No);
    }
    client.keep(&id)?;
    if options.json {
        writeln!(anstream::stdout(), "{:#}", json!({ "kept": options.id }))?;
    } else {
        global.note("the changes are kept")?;
    }
    Ok(Exit::Done)
}
