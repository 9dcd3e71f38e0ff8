//! `castellan mode`: shows the mode or changes it, now and for every later start. Loosening needs a person.

use std::io::Write;

use castellan_event::Mode;

use crate::exit::Exit;
use crate::global::Global;
use crate::values;

/// Options of `castellan mode`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// enforce: decisions are carried out; monitor: calls are judged, recorded and left to the agent; passthrough: calls
    /// are recorded only
    #[arg(value_parser = values::mode())]
    mode: Option<Mode>,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let before = client.status()?.mode;
    match options.mode {
        None => writeln!(anstream::stdout(), "{before}")?,
        Some(mode) => {
            // The same mode too: it may not have been kept for the next start.
            client.set_mode(mode.as_str())?;
            // The organisation's may be a stricter one.
            let now = client.status()?.mode;
            global.note(&match now == before {
                true => format!("the mode is {now} already"),
                false => format!("the mode is {now} now; it was {before}"),
            })?;
        }
    }
    Ok(Exit::Done)
}
