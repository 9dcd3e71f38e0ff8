//! `castellan completions`: prints the completions of a shell.

use std::io::Write;

use clap_complete::Shell;

use crate::Arguments;
use crate::exit::Exit;

/// Options of `castellan completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Shell that will read them
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    // Into memory first: the generator panics on a closed pipe.
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::definition(), "castellan", &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(Exit::Done)
}
