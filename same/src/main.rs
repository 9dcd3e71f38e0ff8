//! `castellan-same [--texts] [--recorded FOLDER] FILE...`: prints a line of JSON for each known call, with rows,
//! decisions, records and counted work. `cargo xtask same` runs it in two versions and compares the lines. A field of a
//! line keeps its name when code is renamed.
//!
//! `inputs` collects the calls, `judged` prints a call, `texts` prints bytes for agents and people. No module may
//! depend on which result is right.

mod inputs;
mod judged;
mod texts;

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::inputs::Sources;
use crate::judged::Policies;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-same: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let (mut with_texts, mut sources) = (false, Sources::default());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--texts" => with_texts = true,
            "--recorded" => sources.recorded = arguments.next().map(PathBuf::from),
            file => sources.labelled.push(file.into()),
        }
    }
    let policies = Policies::compiled()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for input in inputs::all(&sources)? {
        writeln!(out, "{}", judged::line(&input, &policies, with_texts))?;
    }
    if with_texts {
        for line in texts::lines() {
            writeln!(out, "{line}")?;
        }
    }
    Ok(out.flush()?)
}
