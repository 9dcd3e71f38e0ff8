//! The policy of a home and of a workspace as this process sees it, for judging and listing without a daemon.

use std::path::Path;

use anyhow::bail;
use castellan_daemon::{
    Config, Here, Layout, PolicyOrigin, compile, is_as_shipped, load_policy, shipped_rules,
};
use castellan_event::{Layer, Mode};
use castellan_policy::{Policy, Standing};
use castellan_rules as rules;

/// A policy and what it was made of.
#[derive(Debug)]
pub(crate) struct LoadedPolicy {
    pub(crate) policy: Policy,
    pub(crate) source: Source,
    /// Hash of the policy without a workspace's own files: what the daemon tells of its own.
    pub(crate) home_hash: String,
    /// What a person has said of the workspace.
    pub(crate) standing: Standing,
    /// The mode, where the workspace's own files say one.
    pub(crate) mode: Option<Mode>,
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

/// Loads the policy that counts in a directory: that of the home, or the one that a home would get, with the workspace's own files if a
/// person trusts them.
pub(crate) fn load(layout: &Layout, config: &Config, directory: &Path) -> anyhow::Result<LoadedPolicy> {
    let Here { standing, project } = Here::find(layout, directory).map_err(anyhow::Error::msg)?;
    let (policy, source) = of_home(layout, config)?;
    let home_hash = policy.hash().to_owned();
    let Some(project) = project else {
        return Ok(LoadedPolicy { policy, source, home_hash, standing, mode: None });
    };
    let config = Config::with_project(layout, Some(&project))?;
    let mode = config.mode_said_by(Layer::Project).map(|(mode, _)| mode);
    let (policy, source) = of_home(layout, &config)?;
    Ok(LoadedPolicy { policy, source, home_hash, standing, mode })
}

/// The same without any workspace.
pub(crate) fn of_home(layout: &Layout, config: &Config) -> anyhow::Result<(Policy, Source)> {
    if !layout.rules_shipped().exists() {
        return Ok((shipped(config)?, Source::Shipped));
    }
    let loaded = load_policy(layout, config);
    let source = match loaded.origin {
        PolicyOrigin::Current => Source::Files,
        PolicyOrigin::LastGood(why) | PolicyOrigin::Missing(why) => Source::NotTheFiles(why),
    };
    Ok((loaded.policy, source))
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
