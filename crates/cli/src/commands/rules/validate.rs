//! `castellan rules validate`: reports the errors in rule files, each with its line and a remedy.

use std::io::Write;
use std::path::{Path, PathBuf};

use castellan_daemon::{Config, Layout, compile};
use castellan_falco::load_result;
use castellan_rules::{Problem, Severity, Source};

use crate::case_files;
use crate::commands::rules::language::Language;
use crate::commands::rules::{sources, write_problems};
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, BAD, GOOD, WARN};
use crate::policy;

/// Options of `castellan rules validate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Files to check, in load order; default: those in force (of the home and built in)
    files: Vec<PathBuf>,

    /// Report only problems that Falco reports too, without castellan's own advice
    #[arg(long)]
    no_lints: bool,

    /// Exit with code 1 for warnings too
    #[arg(long)]
    deny_warnings: bool,

    /// Print JSON like `falco --validate`
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    language: Language,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let mut reading = options.language.read(&config)?;
    reading.options.lints = !options.no_lints;
    let layers = sources::named_or_in_force(&options.files, &layout, &config)?;
    let loaded = sources::load(layers, &reading);
    let (mut sources, mut problems) = (loaded.sources.clone(), loaded.problems());
    if options.files.is_empty() {
        problems.retain(|problem| !policy::is_shipped_warning(problem, &sources));
    }
    if !loaded.has_errors() && options.language.is_own() {
        let (case_files, wrong) = of_cases(&options.files, &loaded.sources, &layout, &config)?;
        sources.extend(case_files);
        problems.extend(wrong);
    }
    if options.json {
        writeln!(anstream::stdout(), "{:#}", load_result::json(&sources, &problems))?;
    } else {
        write(global, &sources, &problems)?;
    }
    let is_error = |problem: &Problem| problem.severity == Severity::Error;
    let refused = problems.iter().any(is_error) || (options.deny_warnings && !problems.is_empty());
    Ok(if refused { Exit::No } else { Exit::Done })
}

/// Returns the problems of the cases beside rule files. Named files are judged together with the shipped ones; without
/// names, the user's files of the home are checked.
fn of_cases(
    named: &[PathBuf],
    loaded: &[Source],
    layout: &Layout,
    config: &Config,
) -> anyhow::Result<(Vec<Source>, Vec<Problem>)> {
    let below = |folder: PathBuf| {
        let is_below = move |source: &&Source| Path::new(&source.name).starts_with(&folder);
        loaded.iter().filter(is_below).cloned().collect::<Vec<Source>>()
    };
    let (files, all) = match named {
        [] => {
            let own = below(layout.rules_user());
            let all = below(layout.rules_shipped()).into_iter().chain(own.iter().cloned()).collect();
            (own, all)
        }
        _ => (loaded.to_vec(), case_files::with_shipped(loaded)),
    };
    let compiled = compile(&all, config);
    // Files that do not load together with the shipped rules may still be valid by themselves.
    if compiled.error().is_some() {
        return Ok((Vec::new(), Vec::new()));
    }
    case_files::problems(&files, &all, config, &compiled.policy)
}

fn write(global: &Global, sources: &[Source], problems: &[Problem]) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    write_problems(&mut out, sources, problems)?;
    let found = |severity, what| {
        let count = problems.iter().filter(|problem| problem.severity == severity).count();
        (count, output::counted(count, what))
    };
    let ((errors, shown_errors), (warnings, shown_warnings)) =
        (found(Severity::Error, "error"), found(Severity::Warning, "warning"));
    let files = output::counted(sources.len(), "file");
    if errors > 0 {
        writeln!(out, "{BAD}{shown_errors}{BAD:#}, {shown_warnings} in {files}")?;
    } else if warnings > 0 {
        writeln!(out, "{WARN}{shown_warnings}{WARN:#} in {files}")?;
    } else if !global.quiet {
        writeln!(out, "{GOOD}no problems{GOOD:#} in {files}")?;
    }
    Ok(())
}
