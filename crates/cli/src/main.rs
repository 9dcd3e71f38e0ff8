//! L6: `castellan`, the command for people and scripts: it installs, controls the daemon over the control socket,
//! judges single calls and shows the log. Each subcommand is a file of `commands/`.
//!
//! The command reads the environment (`HOME`, `XDG_*`) and stores the values as absolute paths, because a person starts
//! the command; hook and daemon read none. This crate must not know how a call is judged or the format of an agent's
//! JSON.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod agent_files;
mod ask;
mod asked_call;
mod case_files;
mod check;
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
mod native;
mod output;
mod pager;
mod plan_file;
mod platform;
mod policy;
mod presence;
mod progress;
mod protection;
mod random;
mod registration;
mod removed_hooks;
mod replace;
mod run;
mod sandbox;
mod service;
mod signals;
mod starting;
mod system;
mod text_file;
mod times;
mod values;
mod variables;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::exit::Exit;
use crate::global::Global;

/// The daemon is a process of this program. Its calls allocate many small texts.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Runtime security for coding agents: judges every tool call by your rules and records it.
#[derive(Debug, clap::Parser)]
#[command(name = "castellan", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: commands::Command,
}

impl Arguments {
    /// Returns the command line definition for completions, man pages and `--help`.
    pub(crate) fn definition() -> clap::Command {
        Arguments::command().after_help(exit::help())
    }
}

/// Runs as a helper of the daemon, which the daemon alone starts: no word for people.
fn read_programs() -> ExitCode {
    castellan_daemon::serve_programs().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Becomes a Falco of the daemon. Falco's log gets the reason if it cannot be started.
fn become_falco() -> ExitCode {
    let not = castellan_daemon::become_falco(std::env::args_os().skip(2));
    let _ = writeln!(std::io::stderr(), "Falco does not start: {not}");
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == castellan_daemon::READER_COMMAND) {
        return read_programs();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == castellan_daemon::FALCO_COMMAND) {
        return become_falco();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == run::BEGIN) {
        return run::begin(std::env::args_os().skip(2));
    }
    castellan_daemon::set_reader();
    let matches = Arguments::definition().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    arguments.global.color.write_global();
    let begun = arguments.global.begin();
    match begun.and_then(|()| commands::run(&arguments.global, &arguments.command)) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_closed_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            // If standard error is closed, the exit code still reports the failure.
            let _ = writeln!(anstream::stderr(), "{} {}", output::ERROR, output::message(&error));
            Exit::of(&error).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_programs::{Program, find};

    use super::*;

    /// Options of every command.
    const GLOBAL: &[&str] = &["--home", "--quiet", "--verbose", "--color", "--help", "--version"];

    /// Adds the subcommands and options that the model of castellan does not have.
    fn missing(command: &clap::Command, model: &Program, path: &str, found: &mut Vec<String>) {
        for option in command.get_arguments().filter_map(clap::Arg::get_long) {
            let option = format!("--{option}");
            let has = model.options.iter().any(|known| known.flags.contains(&option.as_str()));
            if !has && !GLOBAL.contains(&option.as_str()) {
                found.push(format!("{path} {option}"));
            }
        }
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            match model.subs.iter().find(|model| model.names.contains(&sub.get_name())) {
                Some(model) => missing(sub, model, &path, found),
                None => found.push(path),
            }
        }
    }

    /// castellan asks about a command of its own that its model does not have.
    #[test]
    fn the_model_of_castellan_has_each_of_its_commands() {
        let mut found = Vec::new();
        missing(&Arguments::definition(), find("castellan").unwrap(), "castellan", &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}
