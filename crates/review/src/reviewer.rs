//! [`Reviewer`]: one review from evidence to opinion. The order: screen, request, exchange, strict reader.

use std::time::{Duration, Instant};

use crate::answer::{Answer, Opinion, read_answer, visible};
use crate::error::{Fault, ReviewError};
use crate::evidence::Evidence;
use crate::limits::{ANSWER_BYTES_MAX, OUTPUT_TOKENS, TIME_MAX};
use crate::prompt::Request;
use crate::provider::{Cost, Limits, Provider, Running};
use crate::screen::suspicious;

/// A provider with limits. Reviews may run on several threads at once.
#[derive(Debug, Clone)]
pub struct Reviewer {
    provider: Provider,
    limits: Limits,
    running: Running,
}

/// The result of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// The opinion. Without one, castellan asks the user.
    pub opinion: Result<Opinion, ReviewError>,
    /// The cost, where the provider reports it.
    pub cost: Option<Cost>,
    /// The time of the review.
    pub took: Duration,
    /// The text of the model, for people: visible characters. None without an exchange.
    pub said: Option<String>,
    /// Bytes of the request; 0 if the provider was not asked.
    pub asked_bytes: usize,
}

impl Reviewed {
    /// Returns the result of a review without a question to the provider.
    pub(crate) fn unasked(reason: &str) -> Reviewed {
        let opinion = Opinion { answer: Answer::Unsure, reason: reason.to_owned() };
        Reviewed { opinion: Ok(opinion), cost: None, took: Duration::ZERO, said: None, asked_bytes: 0 }
    }

    /// Returns the answer; unsure if the review failed.
    pub fn answer(&self) -> Answer {
        self.opinion.as_ref().map_or(Answer::Unsure, |opinion| opinion.answer)
    }

    /// Returns the tokens. Without a report, castellan takes three bytes for a token and the longest answer.
    pub fn tokens(&self) -> u64 {
        match self.cost {
            Some(cost) => cost.input_tokens.saturating_add(cost.output_tokens),
            None if self.asked_bytes == 0 => 0,
            None => (self.asked_bytes as u64).div_ceil(3) + u64::from(OUTPUT_TOKENS),
        }
    }
}

impl Reviewer {
    /// Makes a reviewer. A longer time than [`TIME_MAX`] is shortened to it.
    pub fn new(provider: Provider, limits: Limits) -> Reviewer {
        let limits = Limits { time: limits.time.min(TIME_MAX), ..limits };
        Reviewer { provider, limits, running: Running::default() }
    }

    /// Returns the name of the model for a [`crate::CacheKey`].
    pub fn model(&self) -> String {
        self.provider.model()
    }

    /// Returns the reviewer's opinion. The answer is unsure, without an exchange, if there is no prompt or if the
    /// evidence is [`suspicious`].
    pub fn review(&self, evidence: &Evidence) -> Reviewed {
        if evidence.prompts.iter().all(|prompt| prompt.text.trim().is_empty()) {
            return Reviewed::unasked("there is no prompt of the user");
        }
        match suspicious(evidence) {
            Some(reason) => Reviewed::unasked(reason),
            None => self.ask(evidence),
        }
    }

    /// Asks the provider without the screen. Only the evaluation may do so: it measures the model alone.
    pub(crate) fn ask(&self, evidence: &Evidence) -> Reviewed {
        let start = Instant::now();
        let request = Request::about(evidence);
        let said = self.provider.ask(&request, &self.limits, &self.running);
        let took = start.elapsed();
        let error = |fault| ReviewError { place: self.provider.place(), fault };
        let asked_bytes = match &said {
            Err(Fault::Busy | Fault::Roots | Fault::Start(_)) => 0,
            Ok(_) | Err(_) => request.bytes(),
        };
        match said {
            Ok(said) => Reviewed {
                opinion: read_answer(&said.text).map_err(|bad| error(Fault::Answer(bad))),
                cost: said.cost,
                took,
                said: Some(visible(&said.text, ANSWER_BYTES_MAX)),
                asked_bytes,
            },
            Err(fault) => Reviewed { opinion: Err(error(fault)), cost: None, took, said: None, asked_bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Program;

    #[test]
    fn a_long_time_is_shortened() {
        let program = Program::new(vec!["/bin/true".into()], Vec::new()).unwrap();
        for (time, expected) in [(TIME_MAX, TIME_MAX), (TIME_MAX + Duration::from_millis(1), TIME_MAX)] {
            let reviewer =
                Reviewer::new(Provider::Command(program.clone()), Limits { time, output_tokens: 1 });
            assert_eq!(reviewer.limits.time, expected);
        }
    }
}
