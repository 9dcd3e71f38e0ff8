//! `castellan refuse`: a call that waits is not to happen, and what was granted of it is taken back.

use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan refuse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id, as `castellan pending` shows it
    id: String,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    global.client()?.refuse(&options.id)?;
    global.note("refused: it waits no more, and is not granted")?;
    Ok(Exit::Done)
}
