//! Rules against the cases beside them: whether each case is decided as it says, and whether the cases say enough. It must not
//! know where files lie.

use std::collections::HashMap;

use castellan_daemon::{Config, organisation_rules};
use castellan_event::{Decision, FIELDS, Verdict};
use castellan_rules::{Options, Problem, Source, load};

use crate::case_file::{CODE, CaseFile, RuleCase, Shows};
use crate::limits::{CASES_PER_RULE_MIN, MESSAGE_BYTES_MAX, SHOWN_PER_RULE_MIN};
use crate::trial::{Judged, Trial};

/// A rule, as far as its cases must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRule {
    /// Its name.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// Its line there, from 1.
    pub line: usize,
    /// Its message, as it is written.
    pub message: String,
}

/// A case that was not decided as it says.
#[derive(Debug)]
pub struct Failure<'c> {
    /// The case.
    pub case: &'c RuleCase,
    /// What is wrong.
    pub wrong: Wrong,
    /// What was found of its call, if it is one.
    pub judged: Option<Box<Judged>>,
}

/// What is wrong with a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// No agent would report the call so: why.
    NoCall(String),
    /// Another verdict, by these rules.
    Verdict(Verdict, Vec<String>),
    /// The verdict is right, but these rules decide.
    Rule(Vec<String>),
}

/// The rules of a configuration: castellan's own, the organisation's, and those of the files.
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

/// Judges every case of a file. Returns those that are not decided as they say.
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
        None => wrong(case, &judged.decision)?,
    };
    Some(Failure { case, wrong, judged: Some(Box::new(judged)) })
}

/// A rule that lets pass has nothing to say of a call that it only resembles.
fn wrong(case: &RuleCase, decision: &Decision) -> Option<Wrong> {
    let by = deciding_rules(decision);
    if decision.verdict != case.verdict {
        return Some(Wrong::Verdict(decision.verdict, by));
    }
    let is_named = decision.verdict == Verdict::Defer
        || case.shows == Shows::LookAlike
        || case.shows == Shows::Instead
        || by.contains(&case.rule);
    (!is_named).then_some(Wrong::Rule(by))
}

/// The rules of the strictest findings. Which of them comes first depends on the order of the files, and decides nothing. A
/// finding of no rule is named by its code.
fn deciding_rules(decision: &Decision) -> Vec<String> {
    let strictest =
        decision.findings.iter().filter(|finding| finding.verdict == decision.verdict && finding.counts());
    let name = |rule: &str, code: &str| if rule.is_empty() { format!("({code})") } else { rule.to_owned() };
    strictest.map(|finding| name(&finding.rule, finding.code.as_str())).collect()
}

/// What a rule file and its cases lack: rules without enough cases, cases of rules that are none, alternatives that no message
/// names, messages that are too long. `rules`: all that are known, in other files too.
pub fn gaps(rules: &[KnownRule], file: &Source, cases_file: &Source, cases: &CaseFile) -> Vec<Problem> {
    let mut gaps = Vec::new();
    let mut counts: HashMap<&str, Counts> = HashMap::new();
    for case in &cases.cases {
        counts.entry(&case.rule).or_default().add(case);
        if let Some(gap) = gap(rules, case) {
            gaps.push(Problem::beside(cases_file, CODE, &case.span, &gap));
        }
    }
    for rule in rules.iter().filter(|rule| rule.file == file.name) {
        let span = line_span(&file.text, rule.line);
        let counts = counts.get(rule.name.as_str()).copied().unwrap_or_default();
        let lacks = counts.lacks(cases.version);
        let lacks = lacks.map(|lacks| format!("`{}` has {lacks}", rule.name));
        let bytes = rule.message.len();
        let is_long = bytes > MESSAGE_BYTES_MAX;
        let long = is_long.then(|| {
            format!(
                "the message of `{}` has {bytes} bytes: agents cut what is over {MESSAGE_BYTES_MAX}",
                rule.name
            )
        });
        gaps.extend(lacks.chain(long).map(|gap| Problem::beside(file, CODE, &span, &gap)));
    }
    gaps
}

/// What is wrong with a case, whatever is decided.
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

/// How many cases a rule has.
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

    /// What there are too few of.
    fn lacks(self, version: u32) -> impl Iterator<Item = String> {
        let shown = if version >= 2 { SHOWN_PER_RULE_MIN } else { 0 };
        let counts = [
            ("cases that match", self.matching, CASES_PER_RULE_MIN),
            ("cases that do not match", self.resembling, CASES_PER_RULE_MIN),
            ("disguises", self.disguises, shown),
            ("look-alikes", self.look_alikes, shown),
        ];
        let few = counts.into_iter().filter(|(_, count, least)| count < least);
        few.map(|(what, count, least)| format!("{count} {what}, not {least}"))
    }
}

/// The bytes of a line, from 1.
fn line_span(text: &str, line: usize) -> std::ops::Range<usize> {
    let start = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    start..start + length
}
