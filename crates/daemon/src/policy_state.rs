//! Where the policy in force came from: loaded at start, loaded again on request, never with a gap.

use std::sync::{Mutex, PoisonError};

use castellan_policy::Policy;
use castellan_rules::Problem;

use crate::config::Config;
use crate::judge::Judge;
use crate::layout::Layout;
use crate::record;
use crate::store::{self, Loaded, PolicyOrigin};

/// What `castellan status` says about the policy.
#[derive(Debug)]
pub(crate) struct PolicyState {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    origin: PolicyOrigin,
    /// Problems of the rule files, one line each.
    problems: Vec<String>,
}

impl PolicyState {
    /// Loads configuration and policy at start.
    pub(crate) fn load(layout: &Layout) -> (PolicyState, Config, Policy) {
        let (config, loaded) = store::load_home(layout);
        let problems = one_line_each(&loaded);
        let inner = Mutex::new(Inner { origin: loaded.origin, problems });
        (PolicyState { inner }, config, loaded.policy)
    }

    /// Loads the files as they are now. A set that does not load changes nothing but the status. The mode stays as it is:
    /// it is changed over the control socket, by a person.
    pub(crate) fn reload(&self, layout: &Layout, judge: &Judge) -> Result<(), String> {
        let (_config, loaded) = store::load_home(layout);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.problems = one_line_each(&loaded);
        match loaded.origin {
            PolicyOrigin::Current => {
                inner.origin = PolicyOrigin::Current;
                let (old, new) = (judge.policy().hash().to_owned(), loaded.policy.hash().to_owned());
                let record = record::control("reload", &format!("policy {old} -> {new}"), None, (0, 0));
                judge.append(&record).map_err(|error| format!("it could not be recorded: {error}"))?;
                judge.set_policy(loaded.policy);
                Ok(())
            }
            PolicyOrigin::LastGood(why) | PolicyOrigin::Missing(why) => {
                // The policy in force stays: it is the last good one, or there never was any.
                inner.origin = match inner.origin {
                    PolicyOrigin::Current | PolicyOrigin::LastGood(_) => PolicyOrigin::LastGood(why.clone()),
                    PolicyOrigin::Missing(_) => PolicyOrigin::Missing(why.clone()),
                };
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

fn one_line_each(loaded: &Loaded) -> Vec<String> {
    loaded.problems.iter().map(Problem::one_line).collect()
}
