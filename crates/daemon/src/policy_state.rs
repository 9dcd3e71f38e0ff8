//! The policy in force and where it came from: loaded at start, loaded again on request, never with a gap.

use std::sync::{Mutex, PoisonError};

use castellan_policy::Policy;
use castellan_rules::Problem;

use crate::config::Config;
use crate::judge::Judge;
use crate::layout::Layout;
use crate::store::{self, PolicyOrigin};

/// What `castellan status` says about the policy.
#[derive(Debug)]
pub(crate) struct PolicyState {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    origin: PolicyOrigin,
    problems: Vec<String>,
}

impl PolicyState {
    /// Loads the policy at start.
    pub(crate) fn load(layout: &Layout, config: &Config, mut problems: Vec<String>) -> (PolicyState, Policy) {
        let loaded = store::load(layout, config);
        store::keep_if_good(layout, &loaded);
        problems.extend(loaded.problems.iter().map(Problem::one_line));
        (PolicyState { inner: Mutex::new(Inner { origin: loaded.origin, problems }) }, loaded.policy)
    }

    /// Loads the files as they are now. A set that does not load changes nothing but the status.
    pub(crate) fn reload(&self, layout: &Layout, config: &Config, judge: &Judge) -> Result<(), String> {
        let loaded = store::load(layout, config);
        store::keep_if_good(layout, &loaded);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.problems = loaded.problems.iter().map(Problem::one_line).collect();
        match loaded.origin {
            PolicyOrigin::Current => {
                inner.origin = PolicyOrigin::Current;
                judge.set_policy(loaded.policy);
                Ok(())
            }
            PolicyOrigin::LastGood(why) | PolicyOrigin::Missing(why) => {
                // The policy in force stays; it is the last good one, or there never was any.
                if inner.origin == PolicyOrigin::Current {
                    inner.origin = PolicyOrigin::LastGood(why.clone());
                }
                Err(why)
            }
        }
    }

    /// A word for the origin, and every problem in a line.
    pub(crate) fn report(&self) -> (String, Vec<String>) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (word, why) = match &inner.origin {
            PolicyOrigin::Current => ("current", None),
            PolicyOrigin::LastGood(why) => ("last_good", Some(why)),
            PolicyOrigin::Missing(why) => ("missing", Some(why)),
        };
        let mut problems = inner.problems.clone();
        if let Some(why) = why.filter(|why| !inner.problems.contains(why)) {
            problems.insert(0, why.clone());
        }
        (word.to_owned(), problems)
    }
}
