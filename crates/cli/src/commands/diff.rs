//! `castellan diff`: the changes of files since a call. An agent gets no contents.

use super::undo::named::checkpoint_of;
use super::undo::shown;
use crate::exit::Exit;
use crate::global::Global;
use crate::output;

/// Options of `castellan diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id such as `K7`, the number of a log record, or the id of an undo
    id: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let id = checkpoint_of(global, &options.id)?;
    let found = global.client()?.diff(&id)?;
    let mut out = anstream::stdout();
    if options.json {
        output::write_json(&mut out, &serde_json::to_value(&found)?)?;
    } else if found.count == 0 && found.unseen.count == 0 {
        global.note("the files are as they were before the call")?;
    } else {
        shown::write(&mut out, &found, true)?;
    }
    Ok(Exit::Done)
}
