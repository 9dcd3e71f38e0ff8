//! [`Layers`]: the files of every layer, and the only way to compile them into policy. It must not know whether the
//! files are on disk now or were put in force before.

use std::path::{Path, PathBuf};

use castellan_event::{Layer, sha256_hex};

use crate::compile::{Compiled, compile};
use crate::config::{Config, ConfigError, LayerText};
use crate::engine::{self, CheckedEngine};
use crate::file_set::{FileSet, PROJECT_FOLDER};
use crate::layout::Layout;
use crate::limits::ENGINE_VALIDATION_TIME;
use crate::trial::Trial;

/// The files that apply together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// The organisation's files, if there are any.
    pub organisation: Option<FileSet>,
    /// The user's files.
    pub user: FileSet,
    /// The files of a trusted workspace, if there are any.
    pub project: Option<FileSet>,
    /// The shipped rules that are only observed so far.
    pub trial: Trial,
}

/// Compiled files: the configuration and the policy.
pub(crate) type Loaded = (Config, Compiled);

impl Layers {
    /// Returns the hex SHA-256 over every layer's files. If there are only the user's, it equals [`FileSet::hash`].
    pub fn hash(&self) -> String {
        let Layers { organisation, user, project, trial } = self;
        if organisation.is_none() && project.is_none() && trial.rules.is_empty() {
            return user.hash();
        }
        // Zeros have the length of every hash, but are the hash of no file set.
        let sets = [organisation.as_ref(), Some(user), project.as_ref()];
        let hashes = sets.map(|set| set.map_or("0".repeat(HASH_CHARS), FileSet::hash));
        let on_trial = trial.rules.iter().map(|(name, since)| format!("{}:{name} {since}\n", name.len()));
        sha256_hex(hashes.into_iter().chain(on_trial).collect::<String>())
    }

    /// Merges the configurations, without compiling the user's rules.
    pub fn config(&self, layout: &Layout) -> Result<Config, ConfigError> {
        let mut config =
            config(self.organisation.as_ref(), &self.user.config, self.project.as_ref(), layout)?;
        config.packs.trial.clone_from(&self.trial.rules);
        Ok(config)
    }

    /// Compiles everything. Returns an error if a configuration is invalid; [`Compiled::error`] reports invalid rules.
    pub fn compile(&self, layout: &Layout) -> Result<(Config, Compiled), ConfigError> {
        let config = self.config(layout)?;
        let compiled = compile(&self.user.rules, &config);
        Ok((config, compiled))
    }

    /// Compiles everything for use: an error in any file makes the whole set unusable.
    pub(crate) fn load(&self, layout: &Layout) -> Result<Loaded, String> {
        let (config, compiled) = self.compile(layout).map_err(|error| error.to_string())?;
        match compiled.error() {
            Some(why) => Err(why),
            None if config.settings.engine.is_falco() => {
                let policy = engine::judged_by_falco(compiled.policy, compiled.exported.as_ref());
                Ok((config, Compiled { policy, ..compiled }))
            }
            None => Ok((config, compiled)),
        }
    }

    /// Has Falco load these rules, if it is their engine, in a process below this one. `None`: castellan tests them itself. The
    /// errors are lines for a person: each rejected rule with its reason, or the reason why Falco could not be asked. Nothing
    /// changes. The daemon does the same again before it puts new rules in force.
    pub fn check_engine(&self, layout: &Layout) -> Result<Option<CheckedEngine>, Vec<String>> {
        let (config, compiled) = self.compile(layout).map_err(|error| vec![error.to_string()])?;
        if let Some(why) = compiled.error() {
            return Err(vec![why]);
        }
        let settings = &config.settings.engine;
        if !settings.is_falco() {
            return Ok(None);
        }
        if let Some(why) = engine::refusal(layout.home().system_user().is_some()) {
            return Err(vec![format!("{why}: use the engine `native`")]);
        }
        let rules =
            compiled.exported.ok_or_else(|| vec!["the rules cannot be written for Falco".to_owned()])?;
        let limit = engine::Limit::of(ENGINE_VALIDATION_TIME);
        engine::check(settings, &rules, config.rule_options.engine, limit).map(Some)
    }
}

/// Characters of a hash.
const HASH_CHARS: usize = 64;

/// Merges the texts of the layers.
pub(crate) fn config(
    organisation: Option<&FileSet>,
    user: &str,
    project: Option<&FileSet>,
    layout: &Layout,
) -> Result<Config, ConfigError> {
    let files: [PathBuf; 3] = [
        layout.organisation().dir.join("config.toml"),
        layout.config_file(),
        Path::new(PROJECT_FOLDER).join("config.toml"),
    ];
    let [organisation_file, user_file, project_file] = &files;
    let mut texts = Vec::new();
    if let Some(set) = organisation {
        texts.push(LayerText { layer: Layer::Organisation, file: organisation_file, text: &set.config });
    }
    texts.push(LayerText { layer: Layer::User, file: user_file, text: user });
    if let Some(set) = project {
        texts.push(LayerText { layer: Layer::Project, file: project_file, text: &set.config });
    }
    let rules = |set: Option<&FileSet>| set.map(|set| set.rules.clone()).unwrap_or_default();
    let config = Config::of(&texts)?;
    Ok(Config { organisation_rules: rules(organisation), project_rules: rules(project), ..config })
}

#[cfg(test)]
mod tests;
