//! `castellan rules export`: writes rules for Falco.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::Config;
use castellan_falco::export;

use crate::commands::rules::language::Language;
use crate::commands::rules::sources;
use crate::exit::Exit;
use crate::global::Global;
use castellan_files::{Access, NewFile};

/// Options of `castellan rules export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Files to export, in load order; default: those in force (of the home and built in)
    files: Vec<PathBuf>,

    /// Write a rule file for Falco
    #[arg(long, required = true)]
    falco: bool,

    /// Write to FILE, replacing it, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    language: Language,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let known = sources::describe(&options.files, &options.language, &layout, &config)?;
    let Some((loaded, engine)) = known else { return Ok(Exit::No) };
    let yaml = export::yaml(&loaded.described()?, engine);
    match &options.output {
        Some(file) => {
            put(file, &yaml).with_context(|| format!("`{}` cannot be written", file.display()))?;
            global.note(&format!("wrote `{}`", file.display()))?;
        }
        None => write!(anstream::stdout(), "{yaml}")?,
    }
    Ok(Exit::Done)
}

fn put(file: &Path, yaml: &str) -> std::io::Result<()> {
    // A bare name refers to the current directory.
    let file = std::path::absolute(file)?;
    NewFile::write(&file, yaml, &Access::Mode(0o644))?.put()
}
