//! `castellan completions`: prints shell completions.

use std::io::Write;

use clap_complete::Shell;

use crate::Arguments;
use crate::exit::Exit;

/// Options of `castellan completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Shell to print completions for
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    // Generated in memory first: the generator panics on a closed pipe.
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::definition(), "castellan", &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(Exit::Done)
}
