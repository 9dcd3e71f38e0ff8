//! [`Config`]: `config.toml`, parsed strictly. An unknown key is an error, because a misspelt setting is not in force.

mod edit;
mod keys;
mod lists;
mod meaning;
mod merge;
mod nearest;
mod schema;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_audit as audit;
use castellan_event::{Layer, Mode};
use castellan_policy::{Profile, Settings, Tags};
use castellan_rules::{self as rules, Source};

use self::merge::{Spoken, merge};
use crate::limits::CONFIG_BYTES_MAX;
use crate::packs::Packs;
use crate::shipped::DEFAULT_CONFIG;
use castellan_files::{Guard, explained, read_guarded};

pub(crate) use self::edit::write_edit;
pub use self::edit::{EditError, KeyEdit, write_mode};
pub use self::keys::{KEYS, Key, Kind, Merge, Place};
pub use self::merge::{Preset, Setting, Settled, Sourced, presets};
pub use self::schema::{json_schema, markdown};
pub use self::text::{Mistake, Value, settable_key};

/// Settings of one home.
#[derive(Debug, Clone)]
pub struct Config {
    /// The enforcement mode at the daemon's start.
    pub mode: Mode,
    /// Settings of the decision.
    pub settings: Settings,
    /// The states of the shipped packs.
    pub packs: Packs,
    /// Options of the rule loader.
    pub rule_options: rules::Options,
    /// When edited rule files take effect.
    pub reload: Reload,
    /// The agents' hooks after a deliberate stop of the service.
    pub hooks_on_stop: HooksOnStop,
    /// Sizes and times of the log.
    pub log: audit::Config,
    /// True if a copy of the record goes to the system's log.
    pub copies_log: bool,
    /// The effective value of every key, and its origin.
    pub settled: Settled,
    /// The organisation's rule files, which rank above those of every home.
    pub organisation_rules: Vec<Source>,
    /// The rule files of a trusted workspace.
    pub project_rules: Vec<Source>,
}

/// When edited rule files take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reload {
    /// After a person has applied them.
    #[default]
    Apply,
    /// Immediately, no matter which program edited them.
    Watch,
}

impl Reload {
    /// Returns the word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Reload::Apply => "apply",
            Reload::Watch => "watch",
        }
    }
}

/// The agents' hooks after a deliberate stop of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HooksOnStop {
    /// They stay, and deny every call.
    #[default]
    Keep,
    /// They are removed until the service starts.
    Remove,
}

impl HooksOnStop {
    /// Returns the word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            HooksOnStop::Keep => "keep",
            HooksOnStop::Remove => "remove",
        }
    }
}

/// The reason why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("`{0}`: {why}", why = explained(.1))]
    Io(PathBuf, std::io::Error),
    /// The file is not a configuration. The message names line and column.
    #[error("`{0}`:{1} (correct the file, or remove it)")]
    Malformed(PathBuf, String),
}

/// The text of one layer's `config.toml`.
#[derive(Debug, Clone, Copy)]
pub struct LayerText<'t> {
    /// The layer of the file.
    pub layer: Layer,
    /// The path of the file, or a name for it.
    pub file: &'t Path,
    /// The contents.
    pub text: &'t str,
}

impl Config {
    /// Parses and merges the layers' files. Returns the first mistake of the highest layer that has one.
    pub fn of(layers: &[LayerText<'_>]) -> Result<Config, ConfigError> {
        let mut spoken = Vec::new();
        for LayerText { layer, file, text } in layers {
            let said = text::read(text, *layer).map_err(|mistakes| {
                let more = match mistakes.len() {
                    0 | 1 => String::new(),
                    count => format!(" (and {} more: `castellan config check`)", count - 1),
                };
                let first = mistakes.first().map(Mistake::to_string).unwrap_or_default();
                ConfigError::Malformed((*file).to_owned(), format!("{first}{more}"))
            })?;
            spoken.push(Spoken { layer: *layer, file: Arc::from(file.display().to_string()), said });
        }
        let user = layers.iter().find(|text| text.layer == Layer::User).or(layers.first());
        meaning::config(merge(&spoken)).map_err(|why| {
            ConfigError::Malformed(
                user.map(|text| text.file.to_owned()).unwrap_or_default(),
                format!(" {why}"),
            )
        })
    }

    /// Replaces all decision settings by those of a profile. The state of each pack stays.
    pub fn with_profile(self, profile: Profile) -> Config {
        let settings = profile.settings();
        let packs = Packs { tiers: settings.tiers, ..self.packs };
        Config { settings, packs, ..self }
    }

    /// Returns every mistake in the text of a layer's file, in the order of the text.
    pub fn mistakes(text: &str, layer: Layer) -> Vec<Mistake> {
        text::read(text, layer).err().unwrap_or_default()
    }

    /// Returns each key of a layer's file that has another name now, with that name. castellan reads both names.
    pub fn former_names(text: &str, layer: Layer) -> Vec<Mistake> {
        text::former_names(text, layer)
    }

    /// Reports whether a person must agree to this configuration in the place of `before`: a value becomes milder, or
    /// the user presence check changes, which could lock the person out.
    pub fn needs_person(&self, before: &Config) -> bool {
        !self.settled.milder_than(&before.settled).is_empty()
            || self.settings.presence != before.settings.presence
    }

    /// Returns the mode that a layer's file sets, even if other layers override it, and its place: `file:line`.
    pub fn mode_said_by(&self, layer: Layer) -> Option<(Mode, String)> {
        let (mode, sourced) = meaning::mode_said_by(&self.settled, layer)?;
        let place = sourced.at.as_ref().map(|(file, line)| format!("`{file}`:{line}"));
        Some((mode, place.unwrap_or_else(|| "the default, which is locked".to_owned())))
    }

    /// Returns a line for each value without effect because the organisation has locked its key.
    pub fn ignored(&self) -> Vec<String> {
        self.settled.ignored()
    }

    /// Returns a line for each value that a locked key or a stricter value of the organisation overrides.
    pub fn in_vain(&self) -> Vec<String> {
        self.settled.in_vain()
    }

    /// Reads a user's file. Returns the default text if the file does not exist.
    pub(crate) fn read_text(file: &Path) -> Result<String, ConfigError> {
        match read_guarded(file, CONFIG_BYTES_MAX, Guard::User) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(DEFAULT_CONFIG.to_owned()),
            read => read.map_err(|error| ConfigError::Io(file.to_owned(), error)),
        }
    }

    /// Parses a user's text alone.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Result<Config, String> {
        let user = LayerText { layer: Layer::User, file: Path::new("config.toml"), text };
        Config::of(&[user]).map_err(|error| error.to_string())
    }
}

/// The configuration of a user's file without keys: the defaults of [`KEYS`].
impl Default for Config {
    fn default() -> Config {
        meaning::config(merge(&[])).unwrap_or_else(|_| Config {
            mode: Mode::Enforce,
            settings: Settings::default(),
            packs: Packs::default(),
            rule_options: Tags::default().options(),
            reload: Reload::default(),
            hooks_on_stop: HooksOnStop::default(),
            log: audit::Config::default(),
            copies_log: true,
            settled: Settled::default(),
            organisation_rules: Vec::new(),
            project_rules: Vec::new(),
        })
    }
}

/// Reads the text of any layer's configuration file, to check it for mistakes.
pub fn read_config(file: &Path) -> std::io::Result<String> {
    read_guarded(file, CONFIG_BYTES_MAX, Guard::User)
}

#[cfg(test)]
mod tests;
