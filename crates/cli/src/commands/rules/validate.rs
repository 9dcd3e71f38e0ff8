//! `castellan rules validate`: what is wrong in rule files, each with its line and a remedy.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::{Config, load_policy};
use castellan_event::FIELDS;
use castellan_rules::{self as rules, Problem, Severity, Source};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, BAD, GOOD, WARN};

/// Options of `castellan rules validate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Files to look at, in the order in which they load; without any, those of the home
    files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::read(&layout.config_file())?;
    let (sources, problems) = if options.files.is_empty() {
        layout
            .rules_shipped()
            .metadata()
            .context("there are no rule files yet: run `castellan install`, or name files")?;
        let loaded = load_policy(&layout, &config);
        (loaded.sources, loaded.problems)
    } else {
        let sources = options.files.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<_>>>()?;
        let loaded = rules::load(&sources, FIELDS, &config.rule_options);
        (sources, loaded.problems)
    };
    let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    if options.json {
        let problems: Vec<Json> = problems.iter().map(json_of).collect();
        writeln!(anstream::stdout(), "{:#}", json!({ "ok": !has_errors, "problems": problems }))?;
    } else {
        write(global, &sources, &problems)?;
    }
    Ok(if has_errors { Exit::No } else { Exit::Done })
}

fn read(file: &Path) -> anyhow::Result<Source> {
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    Ok(Source { name: file.display().to_string(), text })
}

fn write(global: &Global, sources: &[Source], problems: &[Problem]) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    for problem in problems {
        let source = sources.iter().find(|source| source.name == problem.file);
        let rendered = output::printable_lines(&problem.render(source.map(|source| source.text.as_str())));
        writeln!(out, "{rendered}\n")?;
    }
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

fn json_of(problem: &Problem) -> Json {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    json!({
        "severity": severity,
        "code": problem.code,
        "message": problem.message,
        "item": problem.item,
        "help": problem.help,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
    })
}
