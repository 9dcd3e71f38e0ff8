//! `castellan refuse`: refuses a pending call and revokes its grant.

use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan refuse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id from `castellan pending`
    id: String,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    global.client()?.refuse(&options.id)?;
    global.note("refused: it waits no more, and is not granted")?;
    Ok(Exit::Done)
}
