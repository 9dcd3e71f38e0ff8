//! `castellan mode`: shows the mode or changes it permanently. A milder mode requires a person.

use std::io::Write;

use castellan_event::Mode;

use crate::exit::Exit;
use crate::global::Global;
use crate::values;

/// Options of `castellan mode`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// enforce: apply decisions; monitor: judge and record calls, but leave them to the agent; passthrough: only record
    /// calls
    #[arg(value_parser = values::mode())]
    mode: Option<Mode>,
}

/// The key of the configuration that the mode changes.
pub(crate) const KEY: &str = "mode";

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    match options.mode {
        None => {
            writeln!(anstream::stdout(), "{}", global.client()?.status()?.mode)?;
            Ok(Exit::Done)
        }
        Some(mode) => change(global, mode),
    }
}

/// Changes the mode, live and in the configuration.
pub(crate) fn change(global: &Global, mode: Mode) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let before = client.status()?.mode;
    // Sent even if unchanged: the mode may not be stored for the next start.
    client.set_mode(mode.as_str())?;
    // The organisation's mode may be stricter.
    let now = client.status()?.mode;
    global.note(&match now == before {
        true => format!("the mode is {now} already"),
        false => format!("the mode is {now} now; it was {before}"),
    })?;
    Ok(Exit::Done)
}
