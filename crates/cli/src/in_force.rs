//! [`InForce`]: the configuration and rules in force, to judge without the daemon. This module must not know the use.

use anyhow::{Context, bail};
use castellan_daemon::{AppliedError, Compiled, Config, FileSet, Layout, compile, read_applied};
use castellan_policy::{Policy, SandboxMode, Settings};
use castellan_rules::Source;

use crate::case_files;

/// The files in force.
#[derive(Debug)]
pub(crate) struct InForce {
    pub(crate) config: Config,
    pub(crate) rules: Vec<Source>,
    /// Hash of the applied set; `None` if nothing was ever applied.
    pub(crate) hash: Option<String>,
}

impl InForce {
    /// Reads the applied set; if none was ever applied, the files of the home, or the shipped ones without a home.
    pub(crate) fn read(layout: &Layout) -> anyhow::Result<InForce> {
        match read_applied(layout) {
            Ok(layers) => {
                let config = layers.config(layout)?;
                Ok(InForce { config, hash: Some(layers.hash()), rules: layers.user.rules })
            }
            Err(AppliedError::None) => {
                let config = Config::of_home(layout)?;
                let is_home = layout.rules_shipped().is_dir();
                let rules =
                    if is_home { FileSet::read(layout)?.rules } else { case_files::with_shipped(&[]) };
                Ok(InForce { config, rules, hash: None })
            }
            Err(error @ AppliedError::Unreadable(..)) => {
                Err(error).context("run `castellan apply`, which puts the files on disk in force")
            }
        }
    }

    /// Returns the policy with one more pattern in the user's `allow` list; `None` if it is no pattern.
    pub(crate) fn allowing_also(&self, pattern: &str) -> Option<Policy> {
        let operators = self.config.settings.operators.allowing_also(pattern).ok()?;
        let settings = Settings { operators, ..self.config.settings.clone() };
        Some(compile(&self.rules, &Config { settings, ..self.config.clone() }).policy)
    }

    pub(crate) fn compile(&self) -> anyhow::Result<Compiled> {
        let compiled = compile(&self.rules, &self.config);
        if let Some(why) = compiled.error() {
            bail!("the rules in force do not load: {why}");
        }
        Ok(compiled)
    }
}

/// Reports whether the settings in force require a sandbox for each call. Without valid settings every call is denied anyway.
pub(crate) fn requires_sandbox(layout: &Layout) -> bool {
    InForce::read(layout).is_ok_and(|in_force| in_force.config.settings.sandbox.mode == SandboxMode::Require)
}
