//! `castellan rules test`: tests rules with the cases beside them. All rules together judge a case, in a simulated
//! world; the state of this machine has no effect.

mod junit;
mod report;

use std::path::PathBuf;

use anyhow::bail;
use castellan_daemon::{Config, FileSet, Layout, compile};
use castellan_policy::Profile;
use castellan_rules::{Severity, Source};
use castellan_trial::{CaseFile, KnownRule, Trial, failures, gaps, known_rules, shipped_cases};

use self::report::{Report, Tested};
use crate::case_files;
use crate::commands::rules::write_problems;
use crate::exit::Exit;
use crate::global::Global;
use crate::text_file;
use crate::values;

/// Options of `castellan rules test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Rule files or folders; the cases of `mine.yaml` are in `mine_cases.yaml` beside it. Default: your own rules in
    /// the home
    paths: Vec<PathBuf>,

    /// Test the shipped rules
    #[arg(long, conflicts_with = "paths")]
    shipped: bool,

    /// Judge only by this profile; default: the home's configuration for your own rules, otherwise `standard`
    #[arg(long, value_parser = values::profile())]
    profile: Option<Profile>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Also write the results as JUnit XML, for CI
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The tested rules, and the rules and configuration that judge the cases.
struct Subject {
    /// The rule files with their cases.
    files: Vec<(Source, Option<Source>)>,
    /// All rules that apply.
    all: Vec<Source>,
    config: Config,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let subject = subject(global, options)?;
    let compiled = compile(&subject.all, &subject.config);
    if compiled.error().is_some() {
        let errors: Vec<_> =
            compiled.problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
        write_problems(&mut anstream::stderr(), &subject.all, &errors)?;
        return Ok(Exit::No);
    }
    let known = known_rules(&subject.all, &subject.config);
    let read: Vec<(&Source, Option<&Source>, Option<CaseFile>, Vec<_>)> =
        subject.files.iter().map(|(rules, cases)| read(rules, cases.as_ref(), &known)).collect();
    let trial = Trial::new(&compiled.policy);
    let tested = read.iter().map(|(rules, cases_file, cases, problems)| Tested {
        rules,
        cases_file: *cases_file,
        count: cases.as_ref().map_or(0, |cases| cases.cases.len()),
        cases: cases.as_ref(),
        failures: cases.as_ref().map(|cases| failures(trial, cases)).unwrap_or_default(),
        problems,
    });
    let report = Report { tested: tested.collect(), known: &known };
    if let Some(file) = &options.junit {
        text_file::write_text(file, &junit::text(&report)?)?;
    }
    let mut out = anstream::stdout();
    if options.json {
        report.write_json(&mut out)?
    } else {
        report.write(&mut out, global)?
    }
    Ok(if report.is_good() { Exit::Done } else { Exit::No })
}

/// Reads the cases of a rule file with their problems and gaps.
fn read<'s>(
    rules: &'s Source,
    cases_file: Option<&'s Source>,
    known: &[KnownRule],
) -> (&'s Source, Option<&'s Source>, Option<CaseFile>, Vec<castellan_rules::Problem>) {
    let Some(file) = cases_file else { return (rules, None, None, Vec::new()) };
    match CaseFile::read(file) {
        Ok(cases) => {
            let gaps = gaps(known, rules, file, &cases);
            (rules, cases_file, Some(cases), gaps)
        }
        Err(problems) => (rules, cases_file, None, problems),
    }
}

fn subject(global: &Global, options: &Options) -> anyhow::Result<Subject> {
    let with_profile = |config: Config| match options.profile {
        Some(profile) => config.with_profile(profile),
        None => config,
    };
    if options.shipped {
        let files = shipped_cases().into_iter().map(|(rules, cases)| (rules, Some(cases))).collect();
        let all = case_files::with_shipped(&[]);
        return Ok(Subject { files, all, config: with_profile(Config::default()) });
    }
    if options.paths.is_empty() {
        return of_home(&global.layout()?, with_profile);
    }
    let rules = case_files::named(&options.paths)?;
    let all = case_files::with_shipped(&rules);
    Ok(Subject { files: with_cases(rules)?, all, config: with_profile(Config::default()) })
}

/// Returns the user's rules. The shipped rules of the home apply too.
fn of_home(layout: &Layout, with_profile: impl Fn(Config) -> Config) -> anyhow::Result<Subject> {
    if !layout.rules_user().is_dir() {
        bail!("there are no rule files yet: run `castellan install`, name files, or use `--shipped`");
    }
    let all = FileSet::read(layout)?.rules;
    let own = layout.rules_user();
    let is_own = |source: &&Source| std::path::Path::new(&source.name).starts_with(&own);
    let files = with_cases(all.iter().filter(is_own).cloned().collect())?;
    Ok(Subject { files, all, config: with_profile(Config::of_home(layout)?) })
}

fn with_cases(rules: Vec<Source>) -> anyhow::Result<Vec<(Source, Option<Source>)>> {
    rules
        .into_iter()
        .map(|rules| {
            let cases = case_files::beside(&rules.name)?;
            Ok((rules, cases))
        })
        .collect()
}
