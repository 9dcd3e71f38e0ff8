//! [`Spending`]: the sum of the tokens that an agent reported in one start, from its stream and its transcripts. Both may
//! report the same response. It must not know limits.

use std::collections::{BTreeMap, HashMap, VecDeque};

use castellan_agents::{Tokens, UsageReport};

use crate::limits::RESPONSES_KEPT;

/// The reported tokens of one start.
#[derive(Debug, Default)]
pub(crate) struct Spending {
    main: Responses,
    subagents: Responses,
    /// The sum of the turns of the main conversation.
    turns: Tokens,
    /// By the thread's id.
    threads: BTreeMap<String, Thread>,
}

/// Responses by their ids.
#[derive(Debug, Default)]
struct Responses {
    known: HashMap<String, Tokens>,
    /// The order in which they became known. A forgotten response counts again if it is reported again.
    order: VecDeque<String>,
    sum: Tokens,
}

/// The usage of a thread, which earlier starts of the agent may have begun.
#[derive(Debug, Default)]
struct Thread {
    before: Tokens,
    now: Tokens,
}

impl Spending {
    /// Adds a report of the thread.
    pub(crate) fn add(&mut self, thread: &str, report: &UsageReport) {
        match report {
            UsageReport::Response { id, is_subagent: false, tokens } => self.main.add(id, *tokens),
            UsageReport::Response { id, is_subagent: true, tokens } => self.subagents.add(id, *tokens),
            UsageReport::Turn(tokens) => self.turns = self.turns.plus(*tokens),
            UsageReport::Thread(tokens) => {
                let thread = self.threads.entry(thread.to_owned()).or_default();
                thread.now = thread.now.max(*tokens);
            }
        }
    }

    /// Adds a report that is older than this start. Only the usage of a thread contains older tokens.
    pub(crate) fn add_before(&mut self, thread: &str, report: &UsageReport) {
        if let UsageReport::Thread(tokens) = report {
            let thread = self.threads.entry(thread.to_owned()).or_default();
            thread.before = thread.before.max(*tokens);
        }
    }

    /// Returns all tokens of this start.
    pub(crate) fn total(&self) -> Tokens {
        let threads = self.threads.values().map(|thread| thread.now.minus(thread.before));
        let main = self.main.sum.max(self.turns);
        threads.fold(main.plus(self.subagents.sum), Tokens::plus)
    }
}

impl Responses {
    fn add(&mut self, id: &str, tokens: Tokens) {
        let before = match self.known.get_mut(id) {
            Some(known) => {
                let before = *known;
                *known = before.max(tokens);
                before
            }
            None => {
                self.known.insert(id.to_owned(), tokens);
                self.order.push_back(id.to_owned());
                Tokens::default()
            }
        };
        self.sum = self.sum.plus(before.max(tokens).minus(before));
        if self.order.len() > RESPONSES_KEPT {
            self.order.pop_front().map(|oldest| self.known.remove(&oldest));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(input: u64, output: u64, cache_creation: u64) -> Tokens {
        Tokens { input, output, cache_creation }
    }

    fn response(id: &str, is_subagent: bool, tokens: Tokens) -> UsageReport {
        UsageReport::Response { id: id.to_owned(), is_subagent, tokens }
    }

    #[test]
    fn a_response_counts_once_with_its_largest_numbers() {
        let mut spending = Spending::default();
        spending.add("t", &response("a", false, tokens(10, 1, 5)));
        spending.add("t", &response("a", false, tokens(10, 1, 5)));
        spending.add("t", &response("a", false, tokens(10, 40, 5)));
        spending.add("t", &response("a", false, tokens(9, 3, 0)));
        assert_eq!(spending.total(), tokens(10, 40, 5));
        spending.add("t", &response("b", true, tokens(1, 2, 3)));
        assert_eq!(spending.total(), tokens(11, 42, 8));
    }

    #[test]
    fn a_turn_raises_the_sum_of_its_responses_and_not_of_subagents() {
        let mut spending = Spending::default();
        spending.add("t", &response("a", false, tokens(10, 1, 0)));
        spending.add("t", &response("s", true, tokens(7, 7, 0)));
        spending.add("t", &UsageReport::Turn(tokens(10, 40, 0)));
        assert_eq!(spending.total(), tokens(17, 47, 0));
        spending.add("t", &UsageReport::Turn(tokens(1, 1, 0)));
        assert_eq!(spending.total(), tokens(18, 48, 0));
    }

    #[test]
    fn a_thread_counts_from_this_start_on() {
        let mut spending = Spending::default();
        spending.add_before("t", &UsageReport::Thread(tokens(100, 10, 0)));
        assert_eq!(spending.total(), Tokens::default());
        spending.add("t", &UsageReport::Thread(tokens(150, 20, 0)));
        spending.add("u", &UsageReport::Thread(tokens(5, 5, 0)));
        spending.add_before("t", &response("old", false, tokens(9, 9, 9)));
        assert_eq!(spending.total(), tokens(55, 15, 0));
    }

    #[test]
    fn sums_stay_at_the_largest_number() {
        let mut spending = Spending::default();
        spending.add("t", &response("a", false, tokens(u64::MAX, 1, 0)));
        spending.add("t", &response("b", false, tokens(u64::MAX, 1, 0)));
        assert_eq!(spending.total().input, u64::MAX);
    }

    #[test]
    fn forgotten_responses_stay_in_the_sum() {
        let mut spending = Spending::default();
        let count = RESPONSES_KEPT + 10;
        for id in 0..count {
            spending.add("t", &response(&id.to_string(), false, tokens(1, 0, 0)));
        }
        assert_eq!(spending.main.known.len(), RESPONSES_KEPT);
        assert_eq!(spending.total().input, u64::try_from(count).unwrap());
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_the_largest_reports(reports in prop::collection::vec((0u8..5, any::<bool>(), 0u64..1000, 0u64..1000), 0..40)) {
            let mut spending = Spending::default();
            let mut expected: BTreeMap<(u8, bool), Tokens> = BTreeMap::new();
            for (id, is_subagent, input, output) in reports {
                let reported = tokens(input, output, 0);
                spending.add("t", &response(&id.to_string(), is_subagent, reported));
                let known = expected.entry((id, is_subagent)).or_default();
                *known = known.max(reported);
            }
            let sum = expected.into_values().fold(Tokens::default(), Tokens::plus);
            prop_assert_eq!(spending.total(), sum);
        }
    }
}
