//! Runs many texts of one shell, and reduces those with unpredicted commands. This module must not know how texts run.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::draws::{smaller_draws, smaller_text};
use super::grammar::Grammar;
use super::judged::{Count, Judged, judge};
use super::shells::{Runner, Tried};

/// The results of some texts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) count: Count,
    pub(crate) failures: Vec<Failure>,
    /// Texts in which only a hole covers a command.
    pub(crate) hidden: Vec<Failure>,
    /// Hand-written texts that run no command: an error in the text.
    pub(crate) idle: Vec<String>,
    /// Texts that failed only once.
    pub(crate) unsteady: usize,
}

/// A text whose commands were not all found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The number of a random text, or `written`.
    pub(crate) source: String,
    /// The text, reduced.
    pub(crate) text: String,
    /// The commands that ran.
    pub(crate) ran: Vec<String>,
    /// All that was found.
    pub(crate) found: String,
}

/// A shell, and the place for its runs.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) tried: &'a Tried,
    /// Failures that are reduced. Reducing one takes up to 300 runs.
    pub(crate) reduced_max: usize,
    /// The seed of the random texts.
    pub(crate) seed: u32,
}

impl Trial<'_> {
    /// Runs random texts, numbered from the first of the grammar on.
    pub(crate) fn random(&self, numbers: Range<usize>) -> Session {
        let mut session = Session::default();
        let grammar = Grammar::of(self.tried.letter);
        for (draws, number) in
            grammar.texts(self.seed, numbers.end).into_iter().skip(numbers.start).zip(numbers)
        {
            let text = grammar.text(&draws);
            let source = format!("random text {number}");
            let judged = session.add(self.judge(&text), &source, &text);
            if !judged.missing.is_empty() {
                let is_wrong = |draws: &[u32]| !self.judge(&grammar.text(draws)).missing.is_empty();
                self.fail(&mut session, source, &text, || {
                    grammar.text(&smaller_draws(draws.clone(), is_wrong))
                });
            }
        }
        session
    }

    /// Runs hand-written texts.
    pub(crate) fn written(&self, texts: &[String]) -> Session {
        let mut session = Session::default();
        for text in texts {
            let judged = session.add(self.judge(text), "written", text);
            if judged.count.executed == 0 && judged.count.late == 0 {
                session.idle.push(text.clone());
            }
            if let Some(first) = judged.missing.first() {
                let is_wrong = |text: &str| self.judge(text).missing.contains(first);
                self.fail(&mut session, "written".to_owned(), text, || smaller_text(text, is_wrong));
            }
        }
        session
    }

    fn judge(&self, text: &str) -> Judged {
        judge(self.runner, self.tried, text)
    }

    /// Adds a failure that happens again. Some texts are not deterministic.
    fn fail(&self, session: &mut Session, source: String, text: &str, reduced: impl Fn() -> String) {
        let again = self.judge(text);
        if again.missing.is_empty() {
            session.unsteady += 1;
            return;
        }
        let mut failure = Failure { source, text: text.to_owned(), ran: again.missing, found: again.found };
        if session.failures.len() < self.reduced_max && again.count.late == 0 {
            let small = reduced();
            let judged = self.judge(&small);
            if !judged.missing.is_empty() {
                failure = Failure { text: small, ran: judged.missing, found: judged.found, ..failure };
            }
        }
        session.failures.push(failure);
    }
}

impl Session {
    fn add(&mut self, judged: Judged, source: &str, text: &str) -> Judged {
        self.count += judged.count;
        if !judged.hidden.is_empty() {
            let (source, text) = (source.to_owned(), text.to_owned());
            let (ran, found) = (judged.hidden.clone(), judged.found.clone());
            self.hidden.push(Failure { source, text, ran, found });
        }
        judged
    }

    pub(crate) fn join(&mut self, other: Session) {
        self.count += other.count;
        self.failures.extend(other.failures);
        self.hidden.extend(other.hidden);
        self.idle.extend(other.idle);
        self.unsteady += other.unsteady;
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ran = self.ran.join(", ");
        write!(f, "--- {}\n{}\n    ran   {ran}\n    found {}", self.source, self.text, self.found)
    }
}
