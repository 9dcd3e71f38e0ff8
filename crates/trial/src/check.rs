//! Checks rules against the cases beside them: each case gets its expected verdict, and each rule has enough cases.
//! Must not depend on where files are stored.

use std::collections::HashMap;
use std::fmt;

use castellan_daemon::{Config, organisation_rules};
use castellan_event::{FIELDS, Verdict};
use castellan_rules::{Options, Problem, Severity, Source, load};

use crate::case_file::{CODE, CaseFile, RuleCase, Shows};
use crate::limits::{CASES_PER_RULE_MIN, MESSAGE_BYTES_MAX, SHOWN_PER_RULE_MIN};
use crate::trial::{Judged, Trial};

/// The properties of a rule that its cases need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRule {
    /// The name.
    pub name: String,
    /// The name of the rule's file.
    pub file: String,
    /// The line in the file, from 1.
    pub line: usize,
    /// The message, unexpanded.
    pub message: String,
}

/// A case with an unexpected decision.
#[derive(Debug)]
pub struct Failure<'c> {
    /// The case.
    pub case: &'c RuleCase,
    /// The error.
    pub wrong: Wrong,
    /// The analysis of the call, if an agent would report such a call.
    pub judged: Option<Box<Judged>>,
}

/// An error in a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// No agent would report the call so; with the reason.
    NoCall(String),
    /// Another verdict, by these rules.
    Verdict(Verdict, Vec<String>),
    /// The verdict is right, but these rules decide.
    Rule(Vec<String>),
    /// Where the machine has a sandbox, the call runs in it, or does not.
    Contained(bool),
}

/// Returns the rules of a configuration: castellan's own, the organisation's, and those of `files`.
pub fn known_rules(files: &[Source], config: &Config) -> Vec<KnownRule> {
    let options = |options: &Options| Options { describe: true, ..options.clone() };
    let layers = [
        (organisation_rules(), options(&Options::default())),
        (config.organisation_rules.clone(), options(&Options::default())),
        (files.to_vec(), options(&config.rule_options)),
    ];
    let mut known = Vec::new();
    for (sources, options) in &layers {
        let loaded = load(sources, FIELDS, options);
        let described = loaded.description.unwrap_or_default().rules;
        let rules = loaded.rules.rules().iter().zip(described);
        known.extend(rules.map(|(rule, described)| KnownRule {
            name: rule.name.clone(),
            file: rule.file.to_string(),
            line: rule.line,
            message: described.output,
        }));
    }
    known
}

/// Judges every case of a file. Returns the cases with an unexpected decision.
pub fn failures<'c>(trial: Trial<'_>, cases: &'c CaseFile) -> Vec<Failure<'c>> {
    cases.cases.iter().filter_map(|case| failure(trial, case)).collect()
}

fn failure<'c>(trial: Trial<'_>, case: &'c RuleCase) -> Option<Failure<'c>> {
    let judged = match trial.judge(&case.case) {
        Ok(judged) => judged,
        Err(why) => return Some(Failure { case, wrong: Wrong::NoCall(why), judged: None }),
    };
    let wrong = match judged.call.problems.first() {
        Some(problem) => Wrong::NoCall(problem.to_string()),
        None => wrong(case, &judged)?,
    };
    Some(Failure { case, wrong, judged: Some(Box::new(judged)) })
}

/// A call that only resembles the rule's subject has no finding of that rule, so the rule is not compared.
fn wrong(case: &RuleCase, judged: &Judged) -> Option<Wrong> {
    let (verdict, by) = (judged.decision.verdict, judged.by());
    if verdict != case.verdict {
        return Some(Wrong::Verdict(verdict, by));
    }
    let resembles = verdict == Verdict::Defer || matches!(case.shows, Shows::LookAlike | Shows::Instead);
    let is_named = resembles || by.contains(&case.rule);
    if !is_named {
        return Some(Wrong::Rule(by));
    }
    let is_contained = judged.contained.is_some();
    case.contained.filter(|expected| *expected != is_contained).map(|_| Wrong::Contained(is_contained))
}

/// Returns the problems that prevent a rule file from being loaded: the errors of [`gaps`], and recommended
/// alternatives that the rules stop.
pub fn load_errors(
    trial: Trial<'_>,
    rules: &[KnownRule],
    file: &Source,
    cases_file: &Source,
    cases: &CaseFile,
) -> Vec<Problem> {
    let mut errors = gaps(rules, file, cases_file, cases);
    errors.retain(|problem| problem.severity == Severity::Error);
    let alternatives = cases.cases.iter().filter(|case| case.shows == Shows::Instead);
    for failure in alternatives.filter_map(|case| failure(trial, case)) {
        let name = &failure.case.rule;
        let why = format!("the message of `{name}` says to do this instead, but {}", failure.wrong);
        errors.push(Problem::beside(cases_file, Severity::Error, CODE, &failure.case.span, &why));
    }
    errors
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |by: &[String]| match by {
            [] => "no rule".to_owned(),
            by => by.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", "),
        };
        match self {
            Wrong::NoCall(why) => write!(f, "no agent would report the call so: {why}"),
            Wrong::Verdict(verdict, by) => write!(f, "the verdict is {verdict}, by {}", named(by)),
            Wrong::Rule(by) => write!(f, "it is decided by {}", named(by)),
            Wrong::Contained(true) => {
                f.write_str("castellan contains the call where the machine has a sandbox")
            }
            Wrong::Contained(false) => {
                f.write_str("castellan does not contain the call where the machine has a sandbox")
            }
        }
    }
}

/// Returns the gaps in a rule file and its cases: rules with too few cases, cases of unknown rules, alternatives that
/// no message names, messages that are too long. Too few cases are a warning; everything else is an error. `rules`
/// holds all known rules, also those of other files.
pub fn gaps(rules: &[KnownRule], file: &Source, cases_file: &Source, cases: &CaseFile) -> Vec<Problem> {
    let mut gaps = Vec::new();
    let mut counts: HashMap<&str, Counts> = HashMap::new();
    for case in &cases.cases {
        counts.entry(&case.rule).or_default().add(case);
        if let Some(gap) = gap(rules, case) {
            gaps.push(Problem::beside(cases_file, Severity::Error, CODE, &case.span, &gap));
        }
    }
    for rule in rules.iter().filter(|rule| rule.file == file.name) {
        let span = line_span(&file.text, rule.line);
        let counts = counts.get(rule.name.as_str()).copied().unwrap_or_default();
        let lacks = counts.lacks(cases.version);
        let lacks = lacks.map(|lacks| (Severity::Warning, format!("`{}` has {lacks}", rule.name)));
        let bytes = rule.message.len();
        let is_long = bytes > MESSAGE_BYTES_MAX;
        let long = is_long.then(|| {
            let name = &rule.name;
            let why = format!(
                "the message of `{name}` has {bytes} bytes: agents cut what is over {MESSAGE_BYTES_MAX}"
            );
            (Severity::Error, why)
        });
        let of_rule = lacks.chain(long);
        gaps.extend(of_rule.map(|(severity, gap)| Problem::beside(file, severity, CODE, &span, &gap)));
    }
    gaps
}

/// Returns the error in a case, independent of its verdict.
fn gap(rules: &[KnownRule], case: &RuleCase) -> Option<String> {
    let name = &case.rule;
    let Some(rule) = rules.iter().find(|rule| rule.name == *name) else {
        return Some(format!("there is no rule `{name}`"));
    };
    if case.shows != Shows::Instead {
        return None;
    }
    let Some(command) = case.case.call.input.get("command").and_then(|command| command.as_str()) else {
        return Some("what a message says to do instead is a command: the call has none".to_owned());
    };
    let is_named = rule.message.contains(&format!("`{command}`"));
    (!is_named).then(|| format!("the message of `{name}` does not name `{command}`, in backquotes"))
}

/// Number of cases of a rule.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    matching: usize,
    resembling: usize,
    disguises: usize,
    look_alikes: usize,
}

impl Counts {
    fn add(&mut self, case: &RuleCase) {
        let matches =
            case.verdict != Verdict::Defer && !matches!(case.shows, Shows::LookAlike | Shows::Instead);
        self.matching += usize::from(matches);
        self.resembling += usize::from(!matches);
        self.disguises += usize::from(case.shows == Shows::Disguise);
        self.look_alikes += usize::from(case.shows == Shows::LookAlike);
    }

    /// Returns the kinds of cases that are too few.
    fn lacks(self, version: u32) -> impl Iterator<Item = String> {
        let shown = if version >= 2 { SHOWN_PER_RULE_MIN } else { 0 };
        let counts = [
            ("cases that match", self.matching, CASES_PER_RULE_MIN),
            ("cases that do not match", self.resembling, CASES_PER_RULE_MIN),
            ("disguises", self.disguises, shown),
            ("look-alikes", self.look_alikes, shown),
        ];
        let few = counts.into_iter().filter(|(_, count, least)| count < least);
        few.map(|(what, count, least)| format!("{count} of at least {least} {what}"))
    }
}

/// Returns the bytes of a line; `line` counts from 1.
fn line_span(text: &str, line: usize) -> std::ops::Range<usize> {
    let start = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    start..start + length
}
