//! `castellan bench accuracy`: judges labelled calls by rules in a simulated world, and counts the results.

mod report;

use std::io::Write;
use std::path::PathBuf;

use castellan_daemon::{Config, compile};
use castellan_policy::Profile;
use castellan_rules::Severity;
use castellan_trial::{Accuracy, Trial, WrongLine, read_labelled};

use self::report::Report;
use crate::case_files;
use crate::commands::rules::write_problems;
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::LABELLED_FILE_BYTES_MAX;
use crate::output::{WARNING, printable};
use crate::text_file;
use crate::values;

/// Options of `castellan bench accuracy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Files of labelled calls, one JSON object per line
    #[arg(required = true, value_name = "CASES.jsonl")]
    files: Vec<PathBuf>,

    /// Folder of rule files to judge by; default: the shipped rules. The built-in rules always apply
    #[arg(long, value_name = "DIR")]
    rules: Option<PathBuf>,

    /// Profile to judge by; default: `standard`. The configuration of the home is ignored
    #[arg(long, value_parser = values::profile())]
    profile: Option<Profile>,

    /// Judge as in an unattended run, without a person to ask
    #[arg(long)]
    unattended: bool,

    /// Also show the families
    #[arg(long)]
    families: bool,

    /// Show each call with a wrong verdict
    #[arg(long)]
    misses: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let profile = options.profile.unwrap_or(Profile::Standard);
    let sources = match &options.rules {
        Some(folder) => case_files::of_folder(folder)?,
        None => case_files::with_shipped(&[]),
    };
    let config = Config::default().with_profile(profile);
    let compiled = compile(&sources, &config);
    if compiled.error().is_some() {
        let errors: Vec<_> =
            compiled.problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
        write_problems(&mut anstream::stderr(), &sources, &errors)?;
        return Ok(Exit::No);
    }
    let (mut calls, mut wrong) = (Vec::new(), Vec::new());
    for file in &options.files {
        let text = text_file::read_text(file, LABELLED_FILE_BYTES_MAX)?;
        let (read, mistakes) = read_labelled(&file.display().to_string(), &text);
        calls.extend(read);
        wrong.extend(mistakes);
    }
    let trial = Trial::new(&compiled.policy);
    let trial = if options.unattended { trial.unattended() } else { trial };
    let accuracy = Accuracy::measure(trial, &calls);
    wrong.extend(accuracy.no_calls.iter().map(|no_call| WrongLine {
        file: no_call.labelled.file.clone(),
        line: no_call.labelled.line,
        why: no_call.why.clone(),
    }));
    let report = Report { accuracy: &accuracy, wrong: &wrong, profile, unattended: options.unattended };
    let mut out = anstream::stdout();
    if options.json {
        report.write_json(&mut out)?;
    } else {
        for mistake in &wrong {
            writeln!(anstream::stderr(), "{WARNING} left out: {}", printable(&mistake.to_string()))?;
        }
        report.write(&mut out, options.families, options.misses, global.verbose)?;
    }
    Ok(if wrong.is_empty() { Exit::Done } else { Exit::Incomplete })
}
