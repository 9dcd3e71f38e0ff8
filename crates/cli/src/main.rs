//! L6: `castellan`, the command. It talks to people and scripts: it installs, asks the daemon over its control socket,
//! judges single calls, shows the log. Each subcommand is a file of `commands/`.
//!
//! Unlike hook and daemon it reads the environment (`HOME`, `XDG_*`), because a person starts it; what it finds there is
//! written down as absolute paths. It must not know how a call is judged or what an agent's JSON looks like.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod account;
mod agent_files;
mod ask;
mod asked_call;
mod case_files;
mod commands;
mod directories;
mod edit;
mod exit;
mod global;
mod guard;
mod history;
mod in_force;
mod launch;
mod launchers;
mod limits;
mod output;
mod policy;
mod presence;
mod progress;
mod registration;
mod text_file;
mod values;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::exit::Exit;
use crate::global::Global;

/// A gatekeeper for coding agents: it judges every tool call by your rules, and keeps the book.
#[derive(Debug, clap::Parser)]
#[command(name = "castellan", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: commands::Command,
}

impl Arguments {
    /// The command line as completions, man pages and `--help` describe it.
    pub(crate) fn definition() -> clap::Command {
        Arguments::command().after_help(exit::help())
    }
}

fn main() -> ExitCode {
    let matches = Arguments::definition().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    match commands::run(&arguments.global, &arguments.command) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_closed_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            let red = output::BAD;
            // A closed standard error leaves the exit code.
            let _ = writeln!(anstream::stderr(), "{red}castellan{red:#}: {}", output::message(&error));
            Exit::of(&error).into()
        }
    }
}
