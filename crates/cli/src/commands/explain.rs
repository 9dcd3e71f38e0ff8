//! `castellan explain`: what one call would do, as the rules see it: commands and their effects, what was not understood, and
//! which rules fired on what.

mod tree;

use castellan_daemon::Config;
use castellan_event::rows;

use crate::asked_call::AskedCall;
use crate::exit::Exit;
use crate::global::Global;
use tree::Explained;

/// Options of `castellan explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    call: AskedCall,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let judged = options.call.judge(&layout, &config)?;
    // A decision that could not be completed has asked for what cannot be answered: there are no rows then.
    let rows = rows(&judged.call, &judged.facts, &judged.session, &judged.answers).unwrap_or_default();
    let explained =
        Explained { call: &judged.call, facts: &judged.facts, rows: &rows, decision: &judged.decision };
    let mut out = anstream::stdout();
    if options.json {
        explained.write_json(&mut out)?;
    } else {
        explained.write(&mut out)?;
    }
    Ok(Exit::Done)
}
