//! `castellan rules`: looks at rule files, their cases and the language. Changes nothing; a new rule is
//! a new file.

mod describe;
mod eval;
mod export;
mod fields;
mod import;
mod language;
mod list;
mod new;
mod sources;
mod test;
mod validate;

use std::io::{self, Write};

use castellan_rules::{Problem, Source};

use crate::exit::Exit;
use crate::global::Global;
use crate::output;

/// What can be looked at.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Find what is wrong in rule files
    Validate(validate::Options),
    /// Hold rules against the cases beside them
    Test(test::Options),
    /// Make a rule with cases of a recorded call or a command
    New(new::Options),
    /// Make rules of an agent's own permission rules
    Import(import::Options),
    /// List the rules that are loaded
    List(list::Options),
    /// Show what a rule compiles to, and what it is made of
    Describe(describe::Options),
    /// Try rules on events, and print the alerts
    Eval(eval::Options),
    /// Write rules for a real Falco
    Export(export::Options),
    /// List the fields that a rule can name
    Fields(fields::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Validate(options) => validate::run(global, options),
        Command::Test(options) => test::run(global, options),
        Command::New(options) => new::run(global, options),
        Command::Import(options) => import::run(global, options),
        Command::List(options) => list::run(global, options),
        Command::Describe(options) => describe::run(global, options),
        Command::Eval(options) => eval::run(global, options),
        Command::Export(options) => export::run(global, options),
        Command::Fields(options) => fields::run(options),
    }
}

/// Writes problems, each with its source line and a caret.
pub(crate) fn write_problems(
    out: &mut impl Write,
    sources: &[Source],
    problems: &[Problem],
) -> io::Result<()> {
    for problem in problems {
        let source = sources.iter().find(|source| source.name == problem.file);
        let rendered = output::printable_lines(&problem.render(source.map(|source| source.text.as_str())));
        writeln!(out, "{rendered}\n")?;
    }
    Ok(())
}
