//! The policy of a home and a workspace, loaded in this process to judge and list without a daemon.

use std::path::Path;

use anyhow::bail;
use castellan_daemon::{
    Config, Here, Layout, PolicyOrigin, compile, is_as_shipped, load_policy, shipped_rules,
};
use castellan_event::{Layer, Mode};
use castellan_policy::{Policy, WorkspaceTrust};
use castellan_rules as rules;

/// A policy and its origin.
#[derive(Debug)]
pub(crate) struct LoadedPolicy {
    pub(crate) policy: Policy,
    pub(crate) source: Source,
    /// Hash of the policy without the workspace's own files: the daemon reports this hash.
    pub(crate) home_hash: String,
    /// The workspace trust.
    pub(crate) workspace_trust: WorkspaceTrust,
    /// The mode, if the workspace's own files set one.
    pub(crate) mode: Option<Mode>,
}

/// The origin of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The current rule files.
    Files,
    /// The shipped rules, for a home that does not exist yet.
    Shipped,
    /// The last good set or an empty one, with the reason.
    NotTheFiles(String),
}

/// Loads the policy for a directory: that of the home, or the shipped one if the home does not exist. A trusted
/// workspace adds its own files.
pub(crate) fn load(layout: &Layout, config: &Config, directory: &Path) -> anyhow::Result<LoadedPolicy> {
    let Here { workspace_trust, project } = Here::find(layout, directory)?;
    let (policy, source) = of_home(layout, config)?;
    let home_hash = policy.hash().to_owned();
    let Some(project) = project else {
        return Ok(LoadedPolicy { policy, source, home_hash, workspace_trust, mode: None });
    };
    let config = Config::with_project(layout, Some(&project))?;
    let mode = config.mode_said_by(Layer::Project).map(|(mode, _)| mode);
    let (policy, source) = of_home(layout, &config)?;
    Ok(LoadedPolicy { policy, source, home_hash, workspace_trust, mode })
}

/// Loads the policy without any workspace.
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
    let compiled = compile(&shipped_rules(), config);
    match compiled.error() {
        Some(why) => bail!("the shipped rules do not load, which is a bug of castellan: {why}"),
        None => Ok(compiled.policy),
    }
}

/// Reports whether a warning is about an unmodified shipped rule file, which no user can fix.
pub(crate) fn is_shipped_warning(problem: &rules::Problem, sources: &[rules::Source]) -> bool {
    let source = sources.iter().find(|source| source.name == problem.file);
    problem.severity == rules::Severity::Warning && source.is_some_and(is_as_shipped)
}
