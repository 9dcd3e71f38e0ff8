//! `castellan rules`: inspects rule files, their cases and the language. Changes no file; a new rule is a new file.

mod describe;
mod eval;
mod export;
mod fields;
mod import;
mod language;
mod list;
mod new;
mod quoted;
mod sources;
mod test;
mod validate;

use std::io::{self, Write};

use castellan_rules::{Problem, Source};

use crate::exit::Exit;
use crate::global::Global;
use crate::output;

/// Subcommands of `castellan rules`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Check rule files for errors
    Validate(validate::Options),
    /// Test rules with the case files beside them
    Test(test::Options),
    /// Create a rule with cases from a recorded call or a command
    New(new::Options),
    /// Convert an agent's own permission rules to rules
    Import(import::Options),
    /// List the loaded rules
    List(list::Options),
    /// Show the compiled form and the parts of a rule
    Describe(describe::Options),
    /// Match rules against events and print the alerts
    Eval(eval::Options),
    /// Write rules for Falco
    Export(export::Options),
    /// List the fields for rule conditions
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
