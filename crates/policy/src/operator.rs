//! The operator's short rules: `deny`, `ask` and `allow` patterns such as `Bash(git push:*)`, in the form of Claude
//! Code's permission rules. They match commands and effects, not text. Does not depend on the effect of a match.
//!
//! A deny or ask pattern fires on any part of a call that can match. An allow pattern covers only parts without other
//! effects, and applies only if all patterns together cover the call.

mod condition;
mod error;
mod meet;
mod pattern;
mod subject;
mod words;

use castellan_event::{Answer, Answers, Call, CallRow, Query};

pub use self::condition::{Reach, Words, prefix_condition, quoted, short_condition};
pub use self::error::{OperatorError, ShortRuleError};
use crate::limits::{PATTERN_BYTES_MAX, PATTERNS_MAX};
use crate::operator::pattern::Pattern;

/// The operator's short rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Operator {
    deny: Vec<ShortRule>,
    ask: Vec<ShortRule>,
    allow: Vec<ShortRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShortRule {
    text: String,
    pattern: Pattern,
}

/// A short rule that fired, and the rows on which it fired.
#[derive(Debug)]
pub(crate) struct ShortMatch<'o> {
    pub(crate) rule: &'o str,
    pub(crate) rows: Vec<usize>,
}

impl Operator {
    /// Parses the three lists.
    pub fn parse(deny: &[String], ask: &[String], allow: &[String]) -> Result<Operator, OperatorError> {
        Ok(Operator { deny: list("deny", deny)?, ask: list("ask", ask)?, allow: list("allow", allow)? })
    }

    /// Adds the allow patterns of another operator.
    pub(crate) fn allow_also(&mut self, other: Operator) {
        self.allow.extend(other.allow);
    }

    /// The texts of the three lists: deny, ask, allow.
    pub(crate) fn texts(&self) -> [Vec<&str>; 3] {
        [&self.deny, &self.ask, &self.allow].map(|list| list.iter().map(|rule| rule.text.as_str()).collect())
    }

    pub(crate) fn denies(&self, call: &Call, rows: &[CallRow<'_>], answers: &Answers) -> Vec<ShortMatch<'_>> {
        matches(&self.deny, call, rows, answers)
    }

    pub(crate) fn asks(&self, call: &Call, rows: &[CallRow<'_>], answers: &Answers) -> Vec<ShortMatch<'_>> {
        matches(&self.ask, call, rows, answers)
    }

    /// Reports whether there are allow patterns.
    pub(crate) fn allows(&self) -> bool {
        !self.allow.is_empty()
    }

    /// Reports whether an allow pattern covers the row and nothing else in it happens.
    pub(crate) fn covers(&self, call: &Call, row: &CallRow<'_>, answers: &Answers) -> bool {
        let home = homes(call, answers).own;
        self.allow.iter().any(|rule| subject::is_covered(&rule.pattern, call, row, home))
    }
}

fn matches<'o>(
    list: &'o [ShortRule],
    call: &Call,
    rows: &[CallRow<'_>],
    answers: &Answers,
) -> Vec<ShortMatch<'o>> {
    let homes = homes(call, answers);
    let of = |rule: &'o ShortRule| {
        let fires = |row: &CallRow<'_>| subject::is_matched(&rule.pattern, call, row, homes);
        let rows: Vec<usize> =
            rows.iter().enumerate().filter(|(_, row)| fires(row)).map(|(at, _)| at).collect();
        (!rows.is_empty()).then_some(ShortMatch { rule: &rule.text, rows })
    };
    list.iter().filter_map(of).collect()
}

/// The homes that `~` may mean, if the analysis has queried the agent's process.
#[derive(Debug, Clone, Copy, Default)]
struct Homes<'a> {
    /// The home of the agent's user.
    own: Option<&'a str>,
    /// The home in the process's environment, which an agent's settings may change.
    named: Option<&'a str>,
}

fn homes<'a>(call: &Call, answers: &'a Answers) -> Homes<'a> {
    let Some(Answer::Process(Some(process))) = answers.get(&Query::Process { pid: call.agent.pid }) else {
        return Homes::default();
    };
    let real = |path: &'a str| (!path.is_empty()).then(|| process.real(path));
    Homes { own: real(&process.home), named: process.var("HOME").and_then(real) }
}

fn list(list: &'static str, texts: &[String]) -> Result<Vec<ShortRule>, OperatorError> {
    if texts.len() > PATTERNS_MAX {
        return Err(OperatorError::TooMany { list, count: texts.len() });
    }
    let rule = |text: &String| {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(OperatorError::TooLong { list, bytes: text.len() });
        }
        let text = text.clone();
        match Pattern::parse(&text) {
            Ok(pattern) => Ok(ShortRule { text, pattern }),
            Err(why) => Err(OperatorError::Invalid { list, text, why }),
        }
    };
    texts.iter().map(rule).collect()
}
