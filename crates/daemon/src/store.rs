//! The policy of a home without its daemon, for judging one call, for listing and for diagnosis. If the current files
//! do not all load, the applied set is used. Without one, everything but reading is denied.

use castellan_policy::Policy;
use castellan_rules::{Problem, Source};

use crate::applied;
use crate::compile::compile;
use crate::config::Config;
use crate::file_set::{FileSetError, read_rules};
use crate::layout::Layout;

/// A policy and its origin.
#[derive(Debug)]
pub struct Loaded {
    /// The policy for calls.
    pub policy: Policy,
    /// Origin of the policy.
    pub origin: PolicyOrigin,
    /// Errors and warnings in the current rule files.
    pub problems: Vec<Problem>,
    /// The current rule files, for rendering problems.
    pub sources: Vec<Source>,
}

/// Files from which a policy was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyOrigin {
    /// The requested files: for [`load`] the current files, for a daemon the last applied ones.
    Current,
    /// The last set that loaded, with the reason why the current one did not.
    LastGood(String),
    /// No files, with the reason.
    Missing(String),
}

impl PolicyOrigin {
    /// The word in the status.
    pub fn as_str(&self) -> &'static str {
        match self {
            PolicyOrigin::Current => "current",
            PolicyOrigin::LastGood(_) => "last_good",
            PolicyOrigin::Missing(_) => "missing",
        }
    }
}

/// Loads the current rule files of a home, applied or not. Does not fail: a missing policy is the strictest policy.
pub fn load(layout: &Layout, config: &Config) -> Loaded {
    let sources = match read_rules(layout) {
        Ok(sources) => sources,
        Err(error) => {
            let loaded = fallback(layout, error.to_string());
            let problems = match error {
                FileSetError::NotText(problem) => vec![*problem],
                FileSetError::Config(_) | FileSetError::Rules(..) => Vec::new(),
            };
            return Loaded { problems, ..loaded };
        }
    };
    let compiled = compile(&sources, config);
    match compiled.error() {
        Some(why) => Loaded { problems: compiled.problems, sources, ..fallback(layout, why) },
        None => Loaded {
            policy: compiled.policy,
            origin: PolicyOrigin::Current,
            problems: compiled.problems,
            sources,
        },
    }
}

/// Loads the applied set, else an empty result.
fn fallback(layout: &Layout, why: String) -> Loaded {
    let applied = applied::read(layout).ok().and_then(|set| set.compile(layout).ok());
    let (policy, origin) = match applied.filter(|(_, compiled)| compiled.error().is_none()) {
        Some((_, compiled)) => (compiled.policy, PolicyOrigin::LastGood(why)),
        None => (Policy::missing(why.clone()), PolicyOrigin::Missing(why)),
    };
    Loaded { policy, origin, problems: Vec::new(), sources: Vec::new() }
}
