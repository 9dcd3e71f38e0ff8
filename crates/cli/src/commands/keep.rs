//! `castellan keep`: settles a call whose changes a person keeps. Its checkpoint goes.

use std::io::Write;

use serde_json::json;

use super::undo::named::checkpoint_of;
use super::undo::shown;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::WARNING;
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
    let mut text = Vec::new();
    let question = if client.checkpoints()?.iter().any(|one| one.id == id) {
        shown::write(&mut text, &client.diff(&id)?, true)?;
        "Keep these changes? The call can then not be undone."
    } else {
        global.message(WARNING, "castellan has no checkpoint of this call, so it cannot show the changes")?;
        "Keep all changes of this call? Read them first."
    };
    let is_shown = options.json || text.is_empty() || ask::show(&String::from_utf8_lossy(&text))?;
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
