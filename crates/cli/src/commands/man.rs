//! `castellan man`: writes the man pages of every subcommand.

use std::path::PathBuf;

use anyhow::Context;

use crate::Arguments;
use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Directory to write to; created if missing
    dir: PathBuf,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let dir = &options.dir;
    let at = || format!("`{}`", dir.display());
    std::fs::create_dir_all(dir).with_context(at)?;
    clap_mangen::generate_to(Arguments::definition(), dir).with_context(at)?;
    global.note(&format!("man pages are in {}", dir.display()))?;
    Ok(Exit::Done)
}
