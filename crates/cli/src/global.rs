//! [`Global`]: the options that every subcommand has.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use castellan_daemon::{ControlClient, Layout};

use crate::ask;
use crate::directories::Directories;
use crate::output;

/// Options of every subcommand.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// Keep everything below DIR; without it in the XDG directories
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,

    /// Say nothing but what was asked for
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say more: nothing is cut or left out
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

impl Global {
    /// Returns the absolute home, and whether it is the default one.
    pub(crate) fn home(&self) -> anyhow::Result<(PathBuf, bool)> {
        match &self.home {
            Some(dir) => {
                Ok((std::path::absolute(dir).with_context(|| format!("`{}`", dir.display()))?, false))
            }
            None => Ok((Directories::of_environment()?.data.join("castellan"), true)),
        }
    }

    /// Returns the option by which another command names the same home.
    pub(crate) fn home_option(&self) -> Option<String> {
        self.home.as_ref().map(|dir| format!("--home {}", dir.display()))
    }

    /// Reads the layout of the home.
    pub(crate) fn layout(&self) -> anyhow::Result<Layout> {
        Ok(Layout::read(&self.home()?.0)?)
    }

    /// Says so where the home has no files yet: what was shown is what castellan would write there.
    pub(crate) fn note_defaults(&self) -> anyhow::Result<()> {
        if !self.layout()?.config_file().exists() {
            self.note("note: there is no home yet: these are the defaults that castellan ships")?;
        }
        Ok(())
    }

    /// Returns a client for the daemon of the home.
    pub(crate) fn client(&self) -> anyhow::Result<ControlClient> {
        Ok(ControlClient::with_person(self.layout()?.home().clone(), ask::known))
    }

    /// Writes a line that is not the answer to what was asked, such as what was done.
    pub(crate) fn note(&self, text: &str) -> io::Result<()> {
        if self.quiet { Ok(()) } else { writeln!(anstream::stdout(), "{}", output::printable_lines(text)) }
    }
}
