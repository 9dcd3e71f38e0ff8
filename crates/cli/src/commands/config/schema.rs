//! `castellan config schema`: the table of keys, for editors and for the reference in the documentation.

use std::io::Write;

use castellan_daemon::{json_schema, markdown};

use crate::exit::Exit;

/// Options of `castellan config schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print a Markdown table instead
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    if options.markdown {
        write!(out, "{}", markdown())?;
    } else {
        writeln!(out, "{:#}", json_schema())?;
    }
    Ok(Exit::Done)
}
