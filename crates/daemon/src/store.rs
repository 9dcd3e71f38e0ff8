//! The policy of a home without its daemon: for judging one call, for listing and for finding what is wrong. A set of
//! files that does not load whole is not used: the applied one is; without one, everything but reading is denied.

use castellan_policy::Policy;
use castellan_rules::{Problem, Source};

use crate::applied;
use crate::compile::compile;
use crate::config::Config;
use crate::file_set::{FileSetError, read_rules};
use crate::layout::Layout;

/// A policy and where it comes from.
#[derive(Debug)]
pub struct Loaded {
    /// What calls are judged by.
    pub policy: Policy,
    /// Which files it was made of.
    pub origin: PolicyOrigin,
    /// What was found in the rule files as they are now, errors and warnings.
    pub problems: Vec<Problem>,
    /// The rule files as they are now, for rendering problems.
    pub sources: Vec<Source>,
}

/// Which files a policy was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyOrigin {
    /// Those that were asked for: of [`load`], the files as they are now; of a daemon, those last applied.
    Current,
    /// The last set that loaded; why the current one did not.
    LastGood(String),
    /// None: why.
    Missing(String),
}

impl PolicyOrigin {
    /// The word of the status.
    pub fn as_str(&self) -> &'static str {
        match self {
            PolicyOrigin::Current => "current",
            PolicyOrigin::LastGood(_) => "last_good",
            PolicyOrigin::Missing(_) => "missing",
        }
    }
}

/// Loads the rule files of a home as they are now, applied or not. Does not fail, because no policy is a policy too: the
/// strictest.
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

/// The applied set, else nothing.
fn fallback(layout: &Layout, why: String) -> Loaded {
    let applied = applied::read(layout).ok().and_then(|set| set.compile(layout).ok());
    let (policy, origin) = match applied.filter(|(_, compiled)| compiled.error().is_none()) {
        Some((_, compiled)) => (compiled.policy, PolicyOrigin::LastGood(why)),
        None => (Policy::missing(why.clone()), PolicyOrigin::Missing(why)),
    };
    Loaded { policy, origin, problems: Vec::new(), sources: Vec::new() }
}
