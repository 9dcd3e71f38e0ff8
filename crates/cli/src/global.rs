//! [`Global`]: the options that every subcommand has.

use std::cell::OnceCell;
use std::io::{self, Write};
use std::path::PathBuf;

use anstream::ColorChoice;
use anyhow::Context;
use castellan_daemon::{ControlClient, ControlError, Layout};
use castellan_wire::Home;

use crate::ask;
use crate::directories::Directories;
use crate::output::{self, NOTE, Prefix, WARNING};
use crate::system::{self, Copies};
use crate::values;

/// Options of every subcommand.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// Store all files of castellan under DIR; default: the XDG directories, or the system's home for this user
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,

    /// Print only the requested result
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print all details, without truncation
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,

    /// Colour the output; `auto` does so on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true, value_parser = values::one_of(COLORS))]
    pub(crate) color: ColorChoice,

    /// Copies of the files of a daemon with another user, once a command has looked at them.
    #[arg(skip)]
    copies: OnceCell<Option<Copies>>,
}

const COLORS: &[(&str, ColorChoice)] =
    &[("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

impl Global {
    /// Returns the absolute home, and true if it is the default home of its own user.
    pub(crate) fn home(&self) -> anyhow::Result<(PathBuf, bool)> {
        match &self.home {
            Some(dir) => {
                Ok((std::path::absolute(dir).with_context(|| format!("`{}`", dir.display()))?, false))
            }
            None => match Home::guarded_by_system(rustix::process::geteuid().as_raw()) {
                Some(home) => Ok((home.dir().to_owned(), false)),
                None => Ok((Directories::of_environment()?.data.join("castellan"), true)),
            },
        }
    }

    /// Gives up root's rights for a home of the system: its files are those of the daemon's user, and no file of that user
    /// may be read or written with more rights.
    pub(crate) fn begin(&self) -> anyhow::Result<()> {
        match self.home.as_deref().and_then(Home::new) {
            Some(home) => system::become_daemon(&home),
            None => Ok(()),
        }
    }

    /// Returns the command line of another command for the same home, quoted for a shell.
    pub(crate) fn command(&self, words: &[&str]) -> String {
        let words = words.iter().map(|word| output::quoted(word));
        let home =
            self.home.as_ref().map(|dir| format!("--home {}", output::quoted(&dir.display().to_string())));
        let whole: Vec<String> = std::iter::once("castellan".to_owned()).chain(home).chain(words).collect();
        whole.join(" ")
    }

    /// Returns the layout of the home itself. A user whom the system guards cannot read its files.
    pub(crate) fn layout_itself(&self) -> anyhow::Result<Layout> {
        Ok(Layout::read(&self.home()?.0)?)
    }

    /// Returns the layout of the home. A user whom the system guards gets copies of its files.
    pub(crate) fn layout(&self) -> anyhow::Result<Layout> {
        let layout = self.layout_itself()?;
        if !Copies::are_needed(&layout) {
            return Ok(layout);
        }
        // Without a daemon there are none, and the command says that the daemon does not run.
        let copies = self.copies.get_or_init(|| match Copies::of(&layout) {
            Ok(copies) => Some(copies),
            Err(error) => {
                // The reason that the daemon gives. What cannot be read then is named in its place.
                if let Some(ControlError::Failed(why)) = error.downcast_ref::<ControlError>() {
                    let text = format!("the daemon sends no copies of its files: {why}");
                    let _ = output::write_messages(&mut anstream::stderr(), WARNING, &[&text]);
                }
                None
            }
        });
        Ok(copies.as_ref().map_or(layout.clone(), |copies| copies.layout(&layout)))
    }

    /// Notes that the home has no files yet, so the shown values are the defaults.
    pub(crate) fn note_defaults(&self) -> anyhow::Result<()> {
        if !self.layout()?.config_file().exists() {
            self.message(NOTE, "there is no home yet: these are the shipped defaults")?;
        }
        Ok(())
    }

    pub(crate) fn client(&self) -> anyhow::Result<ControlClient> {
        Ok(ControlClient::with_person(Layout::read(&self.home()?.0)?.home().clone(), ask::known))
    }

    /// Writes a line about the work done, which is not part of the requested result. `--quiet` suppresses it.
    pub(crate) fn note(&self, text: &str) -> io::Result<()> {
        if self.quiet { Ok(()) } else { writeln!(anstream::stdout(), "{}", output::printable_lines(text)) }
    }

    /// Writes a message beside the requested result. `--quiet` suppresses it.
    pub(crate) fn message(&self, prefix: Prefix, text: &str) -> io::Result<()> {
        if self.quiet { Ok(()) } else { output::write_messages(&mut anstream::stdout(), prefix, &[text]) }
    }
}
