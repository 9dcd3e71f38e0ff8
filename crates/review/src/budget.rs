//! [`Budget`]: the number of reviews in an hour and of tokens in a day. The caller passes the time.

use std::collections::VecDeque;

use thiserror::Error;

use crate::reviewer::Reviewed;

const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;

/// Limits of reviews, and the reviews that count.
#[derive(Debug, Clone)]
pub struct Budget {
    reviews_per_hour: usize,
    tokens_per_day: u64,
    /// Start of each review of the last hour in seconds.
    starts: VecDeque<u64>,
    /// Hours since the clock's zero, and the tokens in each. A day has 25 entries at most.
    hours: VecDeque<(u64, u64)>,
}

/// A budget that is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Spent {
    /// The reviews of the hour.
    #[error("{per_hour} reviews were made within an hour: the next one is possible in {again_s} s")]
    Reviews {
        /// The limit.
        per_hour: usize,
        /// Seconds until a review is possible again.
        again_s: u64,
    },
    /// The tokens of the day.
    #[error(
        "reviews used {used} tokens within a day, and the limit is {per_day}: raise it, or wait some hours"
    )]
    Tokens {
        /// The limit.
        per_day: u64,
        /// The tokens of the last 24 hours.
        used: u64,
    },
}

impl Budget {
    /// Returns a budget of which nothing is spent.
    pub fn new(reviews_per_hour: usize, tokens_per_day: u64) -> Budget {
        Budget { reviews_per_hour, tokens_per_day, starts: VecDeque::new(), hours: VecDeque::new() }
    }

    /// Counts a review that starts at `now_s`, in seconds of a clock that does not go back.
    ///
    /// # Errors
    /// [`Spent`] if the budget has no room for it; then nothing is counted.
    pub fn start(&mut self, now_s: u64) -> Result<(), Spent> {
        while self.starts.front().is_some_and(|start| start.saturating_add(HOUR_S) <= now_s) {
            self.starts.pop_front();
        }
        while self.hours.front().is_some_and(|(hour, _)| (hour * HOUR_S).saturating_add(DAY_S) <= now_s) {
            self.hours.pop_front();
        }
        let used = self.hours.iter().fold(0_u64, |sum, (_, tokens)| sum.saturating_add(*tokens));
        if used >= self.tokens_per_day {
            return Err(Spent::Tokens { per_day: self.tokens_per_day, used });
        }
        if self.starts.len() >= self.reviews_per_hour {
            let again = self.starts.front().map_or(HOUR_S, |start| start.saturating_add(HOUR_S) - now_s);
            return Err(Spent::Reviews { per_hour: self.reviews_per_hour, again_s: again });
        }
        self.starts.push_back(now_s);
        Ok(())
    }

    /// Counts the tokens of a review that ended at `now_s`. Where the provider reports no usage, the bytes of the
    /// request give an upper estimate.
    pub fn spend(&mut self, now_s: u64, reviewed: &Reviewed) {
        let (hour, tokens) = (now_s / HOUR_S, reviewed.tokens());
        match self.hours.back_mut() {
            Some((last, sum)) if *last >= hour => *sum = sum.saturating_add(tokens),
            Some(_) | None => self.hours.push_back((hour, tokens)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Cost;

    fn reviewed(tokens: u64) -> Reviewed {
        let cost = Some(Cost { input_tokens: tokens, output_tokens: 0 });
        Reviewed { cost, ..Reviewed::unasked("") }
    }

    #[test]
    fn reviews_of_an_hour_are_counted() {
        let mut budget = Budget::new(2, u64::MAX);
        let spent = |again_s| Err(Spent::Reviews { per_hour: 2, again_s });
        for (now_s, expected) in [
            (10, Ok(())),
            (20, Ok(())),
            (20, spent(HOUR_S - 10)),
            (HOUR_S + 9, spent(1)),
            (HOUR_S + 10, Ok(())),
            (HOUR_S + 10, spent(10)),
            (HOUR_S + 20, Ok(())),
        ] {
            assert_eq!(budget.start(now_s), expected, "{now_s}");
        }
        assert_eq!(Budget::new(0, 1).start(5), Err(Spent::Reviews { per_hour: 0, again_s: HOUR_S }));
    }

    #[test]
    fn tokens_of_a_day_are_counted() {
        let mut budget = Budget::new(usize::MAX, 100);
        budget.spend(0, &reviewed(60));
        assert_eq!(budget.start(1), Ok(()));
        budget.spend(2 * HOUR_S, &reviewed(40));
        assert_eq!(budget.start(2 * HOUR_S), Err(Spent::Tokens { per_day: 100, used: 100 }));
        assert!(budget.start(DAY_S - 1).is_err());
        assert_eq!(budget.start(DAY_S), Ok(()));
        budget.spend(DAY_S, &reviewed(u64::MAX));
        budget.spend(DAY_S, &reviewed(u64::MAX));
        assert!(budget.start(DAY_S).is_err());
        assert_eq!(budget.start(3 * DAY_S), Ok(()));
    }

    #[test]
    fn unknown_usage_is_estimated() {
        let mut budget = Budget::new(usize::MAX, 1000);
        let unknown = Reviewed { asked_bytes: 3000, ..Reviewed::unasked("") };
        budget.spend(0, &unknown);
        assert_eq!(budget.start(0), Err(Spent::Tokens { per_day: 1000, used: 1200 }));
    }
}
