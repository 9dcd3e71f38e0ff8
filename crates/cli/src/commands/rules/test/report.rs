//! The results of a rule test, for people and as JSON.

use std::collections::HashSet;
use std::io::Write;

use castellan_event::Call;
use castellan_rules::{Problem, Severity, Source};
use castellan_trial::{CaseFile, Failure, KnownRule, RuleCase};
use serde_json::{Value as Json, json};

use crate::commands::explain::tree;
use crate::global::Global;
use crate::output::{BAD, FAINT, GOOD, WARN, counted, printable, printable_lines};

/// A rule file with its cases.
#[derive(Debug)]
pub(super) struct Tested<'r> {
    pub(super) rules: &'r Source,
    pub(super) cases_file: Option<&'r Source>,
    pub(super) count: usize,
    pub(super) cases: Option<&'r CaseFile>,
    pub(super) failures: Vec<Failure<'r>>,
    /// Problems and gaps of the cases.
    pub(super) problems: &'r [Problem],
}

#[derive(Debug)]
pub(super) struct Report<'r> {
    pub(super) tested: Vec<Tested<'r>>,
    pub(super) known: &'r [KnownRule],
}

impl Tested<'_> {
    pub(super) fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }

    fn source(&self, problem: &Problem) -> Option<&Source> {
        [Some(self.rules), self.cases_file].into_iter().flatten().find(|source| source.name == problem.file)
    }
}

impl Report<'_> {
    /// Reports whether every case got its expected verdict and the cases have no errors.
    pub(super) fn is_good(&self) -> bool {
        self.tested.iter().all(|tested| tested.failures.is_empty() && tested.errors().next().is_none())
    }

    fn count(&self) -> usize {
        self.tested.iter().map(|tested| tested.count).sum()
    }

    fn failed(&self) -> usize {
        self.tested.iter().map(|tested| tested.failures.len()).sum()
    }

    /// Returns the rules of the tested files without cases.
    fn without_cases(&self) -> Vec<&KnownRule> {
        let cases = self.tested.iter().filter_map(|tested| tested.cases).flat_map(|cases| &cases.cases);
        let named: HashSet<&str> = cases.map(|case| case.rule.as_str()).collect();
        let is_tested = |rule: &&KnownRule| self.tested.iter().any(|tested| tested.rules.name == rule.file);
        self.known.iter().filter(is_tested).filter(|rule| !named.contains(rule.name.as_str())).collect()
    }

    pub(super) fn write(&self, out: &mut impl Write, global: &Global) -> anyhow::Result<()> {
        for tested in &self.tested {
            for problem in tested.errors() {
                let text = tested.source(problem).map(|source| source.text.as_str());
                writeln!(out, "{}\n", printable_lines(&problem.render(text)))?;
            }
            let file = tested.cases_file.map_or("", |file| file.name.as_str());
            for failure in &tested.failures {
                write_failure(out, file, failure)?;
            }
        }
        let bare = self.without_cases();
        for rule in &bare {
            let place = format!("{}:{}", rule.file, rule.line);
            writeln!(
                out,
                "{WARN}no cases{WARN:#}  {}  {FAINT}{}{FAINT:#}",
                printable(&rule.name),
                printable(&place)
            )?;
        }
        let few = |problem: &&Problem| {
            let of_bare = bare.iter().any(|rule| rule.file == problem.file && rule.line == problem.line);
            problem.severity == Severity::Warning && !of_bare
        };
        for problem in self.tested.iter().flat_map(|tested| tested.problems).filter(few) {
            let place = format!("{}:{}", problem.file, problem.line);
            writeln!(out, "{FAINT}{}: {}{FAINT:#}", printable(&place), printable(&problem.message))?;
        }
        let (files, cases) = (counted(self.tested.len(), "rule file"), counted(self.count(), "case"));
        if self.failed() > 0 {
            writeln!(out, "{BAD}{} failed{BAD:#} of {cases} in {files}", self.failed())?;
        } else if !self.is_good() {
            writeln!(out, "{BAD}something is wrong with the cases{BAD:#} in {files}")?;
        } else if !global.quiet {
            writeln!(out, "{GOOD}{cases}{GOOD:#} in {files}, each decided as it says")?;
        }
        Ok(())
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let files = self.tested.iter().map(|tested| {
            json!({
                "rules": tested.rules.name,
                "cases_file": tested.cases_file.map(|file| &file.name),
                "cases": tested.count,
                "failures": tested.failures.iter().map(json_of).collect::<Vec<_>>(),
                "problems": tested.problems.iter().map(Problem::one_line).collect::<Vec<_>>(),
            })
        });
        let bare = self.without_cases();
        let bare = bare.iter().map(|rule| json!({ "name": rule.name, "file": rule.file, "line": rule.line }));
        let answer = json!({
            "version": 1,
            "ok": self.is_good(),
            "cases": self.count(),
            "failed": self.failed(),
            "files": files.collect::<Vec<_>>(),
            "rules_without_cases": bare.collect::<Vec<_>>(),
        });
        Ok(writeln!(out, "{answer:#}")?)
    }
}

/// Describes the call of a case in one line.
pub(super) fn subject(case: &RuleCase) -> String {
    let input = &case.case.call.input;
    let command = input.get("command").and_then(Json::as_str).map(str::to_owned);
    format!("{} {}", case.case.call.tool, command.unwrap_or_else(|| Json::Object(input.clone()).to_string()))
}

/// Describes the expected and the actual result in one line.
pub(super) fn reported(failure: &Failure<'_>) -> String {
    format!("{} by `{}` is expected, but {}", failure.case.verdict, failure.case.rule, failure.wrong)
}

/// Writes the facts of a failed call.
pub(super) fn write_found(out: &mut impl Write, failure: &Failure<'_>, indent: &str) -> anyhow::Result<()> {
    let Some(judged) = &failure.judged else { return Ok(()) };
    let Call { command, input_text, .. } = &judged.call;
    writeln!(out, "{indent}{}", tree::line(command.as_deref().unwrap_or(input_text)))?;
    tree::write(out, &judged.explanation(), indent)
}

fn write_failure(out: &mut impl Write, file: &str, failure: &Failure<'_>) -> anyhow::Result<()> {
    let place = format!("{file}:{}", failure.case.line);
    writeln!(out, "{BAD}{}{BAD:#}  {}", printable(&place), printable(&reported(failure)))?;
    write_found(out, failure, "  ")?;
    Ok(writeln!(out)?)
}

fn json_of(failure: &Failure<'_>) -> Json {
    let case = failure.case;
    json!({
        "line": case.line,
        "rule": case.rule,
        "expected": case.verdict.as_str(),
        "tool": case.case.call.tool,
        "input": case.case.call.input,
        "verdict": failure.judged.as_ref().map(|judged| judged.decision.verdict.as_str()),
        "by": failure.judged.as_ref().map(|judged| judged.by()),
        "wrong": failure.wrong.to_string(),
    })
}
