//! [`Budgets`]: the limits of tokens for one start and for one session, and the comparison with what was spent.

use std::fmt;

use castellan_agents::Tokens;

use crate::limits::{OBSERVER_INVOCATION_TOKENS, OBSERVER_SESSION_TOKENS};

/// The budget that a sum is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Budget {
    Invocation,
    Session,
}

/// The limits, in tokens; `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Budgets {
    pub(crate) invocation: Option<u64>,
    pub(crate) session: Option<u64>,
}

/// The tokens that count against each budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spent {
    /// Input, output and cache creation of this start.
    pub(crate) invocation: u64,
    /// Input and output of all starts of the session.
    pub(crate) session: u64,
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Budget::Invocation => "invocation",
            Budget::Session => "session",
        })
    }
}

impl Spent {
    /// Returns what counts against each budget; `before` is what earlier starts of the session spent.
    pub(crate) fn of(tokens: Tokens, before: u64) -> Spent {
        let both = both(tokens);
        Spent { invocation: both.saturating_add(tokens.cache_creation), session: before.saturating_add(both) }
    }

    fn of_budget(self, budget: Budget) -> u64 {
        match budget {
            Budget::Invocation => self.invocation,
            Budget::Session => self.session,
        }
    }
}

/// Returns input and output: the tokens that count for a session.
pub(crate) fn both(tokens: Tokens) -> u64 {
    tokens.input.saturating_add(tokens.output)
}

impl Budgets {
    /// Returns the limits from the options. An observer always has both. A limit is at least one token.
    pub(crate) fn new(invocation: Option<u64>, session: Option<u64>, is_observer: bool) -> Budgets {
        let of = |given: Option<u64>, default| {
            given.or(is_observer.then_some(default)).map(|tokens: u64| tokens.max(1))
        };
        Budgets {
            invocation: of(invocation, OBSERVER_INVOCATION_TOKENS),
            session: of(session, OBSERVER_SESSION_TOKENS),
        }
    }

    pub(crate) fn is_some(self) -> bool {
        self.invocation.is_some() || self.session.is_some()
    }

    fn limit(self, budget: Budget) -> Option<u64> {
        match budget {
            Budget::Invocation => self.invocation,
            Budget::Session => self.session,
        }
    }

    /// Returns the budget that is exceeded: more tokens than the limit.
    pub(crate) fn exceeded(self, spent: Spent) -> Option<Budget> {
        let is_over =
            |budget: &Budget| self.limit(*budget).is_some_and(|limit| spent.of_budget(*budget) > limit);
        [Budget::Invocation, Budget::Session].into_iter().find(is_over)
    }

    /// Returns the budgets of which four fifths are spent.
    pub(crate) fn nearly(self, spent: Spent) -> impl Iterator<Item = Budget> {
        let is_near = move |budget: &Budget| {
            let limit = self.limit(*budget).map(u128::from);
            limit.is_some_and(|limit| u128::from(spent.of_budget(*budget)) * 5 >= limit * 4)
        };
        [Budget::Invocation, Budget::Session].into_iter().filter(is_near)
    }

    /// Returns one budget, spent and limit, for people.
    pub(crate) fn shown(self, budget: Budget, spent: Spent) -> String {
        let limit = self.limit(budget).map_or("no limit".to_owned(), |limit| limit.to_string());
        format!("{budget} {} of {limit}", spent.of_budget(budget))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(invocation: u64, session: u64) -> Spent {
        Spent { invocation, session }
    }

    #[test]
    fn observers_have_limits_and_no_limit_is_below_one() {
        let check = |given: (Option<u64>, Option<u64>), is_observer, expected: (Option<u64>, Option<u64>)| {
            let budgets = Budgets::new(given.0, given.1, is_observer);
            assert_eq!((budgets.invocation, budgets.session), expected, "{given:?}");
        };
        check((None, None), false, (None, None));
        check((None, None), true, (Some(50_000), Some(500_000)));
        check((Some(7), None), true, (Some(7), Some(500_000)));
        check((Some(0), Some(0)), false, (Some(1), Some(1)));
        check((None, Some(9)), false, (None, Some(9)));
    }

    #[test]
    fn only_more_than_the_limit_exceeds_it() {
        let budgets = Budgets { invocation: Some(100), session: Some(200) };
        let check = |spent: Spent, exceeded: Option<Budget>, near: &[Budget]| {
            assert_eq!(budgets.exceeded(spent), exceeded, "{spent:?}");
            assert_eq!(budgets.nearly(spent).collect::<Vec<_>>(), near, "{spent:?}");
        };
        check(spent(79, 0), None, &[]);
        check(spent(80, 160), None, &[Budget::Invocation, Budget::Session]);
        check(spent(100, 200), None, &[Budget::Invocation, Budget::Session]);
        check(spent(101, 0), Some(Budget::Invocation), &[Budget::Invocation]);
        check(spent(0, 201), Some(Budget::Session), &[Budget::Session]);
        check(spent(u64::MAX, u64::MAX), Some(Budget::Invocation), &[Budget::Invocation, Budget::Session]);
        assert_eq!(Budgets::default().exceeded(spent(u64::MAX, u64::MAX)), None);
    }

    #[test]
    fn cache_creation_counts_for_the_start_and_not_for_the_session() {
        let tokens = Tokens { input: 1, output: 20, cache_creation: 300 };
        assert_eq!(Spent::of(tokens, 4000), spent(321, 4021));
    }
}
