//! The policy of a home as this process sees it, for judging and listing without a daemon.

use anyhow::bail;
use castellan_daemon::{Config, Layout, PolicyOrigin, compile, is_as_shipped, load_policy, shipped_rules};
use castellan_policy::Policy;
use castellan_rules as rules;

/// A policy and what it was made of.
#[derive(Debug)]
pub(crate) struct LoadedPolicy {
    pub(crate) policy: Policy,
    pub(crate) source: Source,
}

/// What a policy was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The rule files as they are.
    Files,
    /// The rules that castellan ships, for a home that does not exist yet.
    Shipped,
    /// The last good set or nothing, and why.
    NotTheFiles(String),
}

/// Loads the policy of a home; of one that does not exist, the policy that it would get.
pub(crate) fn load(layout: &Layout, config: &Config) -> anyhow::Result<LoadedPolicy> {
    if !layout.rules_shipped().exists() {
        return Ok(LoadedPolicy { policy: shipped(config)?, source: Source::Shipped });
    }
    let loaded = load_policy(layout, config);
    let source = match loaded.origin {
        PolicyOrigin::Current => Source::Files,
        PolicyOrigin::LastGood(why) | PolicyOrigin::Missing(why) => Source::NotTheFiles(why),
    };
    Ok(LoadedPolicy { policy: loaded.policy, source })
}

fn shipped(config: &Config) -> anyhow::Result<Policy> {
    let source =
        |(name, text): &(&str, &str)| rules::Source { name: (*name).to_owned(), text: (*text).to_owned() };
    let sources: Vec<rules::Source> = shipped_rules().iter().map(source).collect();
    let compiled = compile(&sources, config);
    match compiled.error() {
        Some(why) => bail!("the shipped rules do not load, which is a bug of castellan: {why}"),
        None => Ok(compiled.policy),
    }
}

/// Whether a warning is about a rule file as castellan ships it: no user has written it, nor can mend it.
pub(crate) fn is_shipped_warning(problem: &rules::Problem, sources: &[rules::Source]) -> bool {
    let source = sources.iter().find(|source| source.name == problem.file);
    problem.severity == rules::Severity::Warning && source.is_some_and(is_as_shipped)
}
