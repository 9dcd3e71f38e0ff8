//! Runs many texts of one shell, and reduces those with unpredicted commands. This module must not know how texts run.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::draws::{Draws, smaller_draws, smaller_text};
use super::grammar::Grammar;
use super::judged::{Count, Judged, judge};
use super::shells::{Runner, Tried};

/// Failures of one session that are reduced. Reducing one takes up to 300 runs.
const REDUCED_MAX: usize = 12;

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
    /// The source of the text: a seed.
    pub(crate) source: String,
    /// The text, reduced.
    pub(crate) text: String,
    /// The commands that ran and were not found, and those that were found.
    pub(crate) told: String,
}

impl Session {
    /// Runs the random texts of these seeds.
    pub(crate) fn generated(runner: &Runner, tried: &Tried, seeds: Range<u64>) -> Session {
        let mut session = Session::default();
        let grammar = Grammar::of(tried.letter);
        let text_of = |draws: &mut Draws| grammar.text(draws, &mut BTreeSet::new());
        let is_wrong = |text: &str| judge(runner, tried, text).wrong.is_some();
        for seed in seeds {
            let mut draws = Draws::random(seed);
            let text = text_of(&mut draws);
            let judged = session.add(judge(runner, tried, &text), &format!("seed {seed}"), &text);
            if judged.wrong.is_some() {
                let reduced = || {
                    let draws = smaller_draws(draws.taken(), |draws| is_wrong(&text_of(draws)));
                    text_of(&mut Draws::given(&draws))
                };
                session.fail(runner, tried, &format!("seed {seed}"), &text, reduced);
            }
        }
        session
    }

    /// Runs hand-written texts.
    pub(crate) fn written(runner: &Runner, tried: &Tried, texts: &[String]) -> Session {
        let mut session = Session::default();
        for text in texts {
            let judged = session.add(judge(runner, tried, text), "written", text);
            if judged.count.executed == 0 {
                session.idle.push(text.clone());
            }
            if judged.wrong.is_some() {
                let reduced = || smaller_text(text, |text| judge(runner, tried, text).wrong.is_some());
                session.fail(runner, tried, "written", text, reduced);
            }
        }
        session
    }

    fn add(&mut self, judged: Judged, source: &str, text: &str) -> Judged {
        self.count += judged.count;
        if let Some(told) = &judged.hidden {
            let (source, text) = (source.to_owned(), text.to_owned());
            self.hidden.push(Failure { source, text, told: told.clone() });
        }
        judged
    }

    /// Adds a failure that happens again. Some texts are not deterministic.
    fn fail(
        &mut self,
        runner: &Runner,
        tried: &Tried,
        source: &str,
        text: &str,
        reduced: impl Fn() -> String,
    ) {
        let Judged { count, wrong: Some(told), .. } = judge(runner, tried, text) else {
            self.unsteady += 1;
            return;
        };
        let mut failure = Failure { source: source.to_owned(), text: text.to_owned(), told };
        if self.failures.len() < REDUCED_MAX && count.late == 0 {
            let small = reduced();
            if let Some(told) = judge(runner, tried, &small).wrong {
                (failure.text, failure.told) = (small, told);
            }
        }
        self.failures.push(failure);
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
        write!(f, "--- {}\n{}\n    {}", self.source, self.text, self.told)
    }
}
