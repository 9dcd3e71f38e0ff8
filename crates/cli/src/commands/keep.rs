//! `castellan keep`: settles the changes of a call that a person has seen. Its checkpoint goes.

use std::io::Write;

use castellan_daemon::KeepReport;
use serde_json::json;

use super::undo::named::checkpoint_of;
use super::undo::shown;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{WARNING, counted};
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
    presence::require_before(|| client.keep("", Vec::new()).map(drop))?;
    let id = checkpoint_of(global, &options.id)?;
    let found = client.diff(&id)?;
    let mut text = Vec::new();
    shown::write(&mut text, &found, true)?;
    let is_shown = options.json || ask::show(&String::from_utf8_lossy(&text))?;
    if !is_shown || !options.yes && !ask::is_agreed("Keep these changes? The call can then not be undone.")? {
        global.note("nothing was changed")?;
        return Ok(Exit::No);
    }
    let seen = found.differences.into_iter().map(|one| one.seen).filter(|seen| !seen.is_empty()).collect();
    let report = client.keep(&id, seen)?;
    if options.json {
        writeln!(anstream::stdout(), "{:#}", json!({ "kept": options.id, "report": report }))?;
    } else {
        tell(global, &report)?;
    }
    Ok(if report.changed > 0 { Exit::Incomplete } else { Exit::Done })
}

fn tell(global: &Global, KeepReport { unseen, changed }: &KeepReport) -> anyhow::Result<()> {
    if *changed > 0 {
        let files = counted(*changed, "file");
        let text = format!("{files} changed after you saw the differences: look again");
        global.message(WARNING, &text)?;
    } else {
        global.note("the changes are kept")?;
    }
    if let Some(text) = shown::unseen(unseen) {
        global.message(WARNING, &text)?;
    }
    Ok(())
}
