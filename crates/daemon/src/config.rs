//! [`Config`]: `config.toml`, strictly read: an unknown key is an error, because a misspelt setting is one that is not in
//! force.

mod decision_keys;
mod rules_table;

use std::path::{Path, PathBuf};

use castellan_audit as audit;
use castellan_event::Mode;
use castellan_policy::{Settings, Tags};
use castellan_rules as rules;
use serde::Deserialize;

use self::decision_keys::{DecisionKeys, HooksTable, LevelTable};
use self::rules_table::RulesTable;
use crate::files::{read_limited, write_private};
use crate::limits::CONFIG_BYTES_MAX;

pub use self::rules_table::Reload;

/// The configuration that a new home gets.
pub(crate) const DEFAULT_TEXT: &str = include_str!("default_config.toml");

/// Settings of one home.
#[derive(Debug, Clone)]
pub struct Config {
    /// How decisions are carried out when the daemon starts.
    pub mode: Mode,
    /// Settings of the decision.
    pub settings: Settings,
    /// Options of the rule loader.
    pub rule_options: rules::Options,
    /// When edited rule files come into force.
    pub reload: Reload,
    /// Sizes and times of the log.
    pub log: audit::Config,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("`{0}`: {1}: make it readable and writable for this user")]
    Io(PathBuf, std::io::Error),
    /// The file is not a configuration. The message names line and column.
    #[error("`{0}`:{1}; mend the file, or remove it and run `castellan install` for the default one")]
    Malformed(PathBuf, String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    default: Option<String>,
    #[serde(default)]
    opaque: Option<String>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    presence: Option<String>,
    #[serde(default)]
    ask_wait: Option<u32>,
    #[serde(default)]
    notify: Option<bool>,
    #[serde(default)]
    level: LevelTable,
    #[serde(default)]
    on_ungoverned: Option<String>,
    #[serde(default)]
    hooks: HooksTable,
    #[serde(default)]
    rules: RulesTable,
    #[serde(default)]
    tags: TagsTable,
    #[serde(default)]
    log: LogTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagsTable {
    deny: Option<String>,
    ask: Option<String>,
    review: Option<String>,
    allow: Option<String>,
    seen: Option<String>,
    mark: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogTable {
    routine_segment_mib: Option<u32>,
    routine_segments: Option<u32>,
    notable_days: Option<u32>,
    notable_mib: Option<u32>,
    fsync: Option<bool>,
}

impl Config {
    /// Reads a file; a missing one gives the defaults.
    pub fn read(file: &Path) -> Result<Config, ConfigError> {
        let text = Config::read_text(file)?;
        Config::parse(&text).map_err(|message| ConfigError::Malformed(file.to_owned(), message))
    }

    /// Reads a file's text; the default text where there is none.
    pub(crate) fn read_text(file: &Path) -> Result<String, ConfigError> {
        match read_limited(file, CONFIG_BYTES_MAX) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(DEFAULT_TEXT.to_owned()),
            read => read.map_err(|error| ConfigError::Io(file.to_owned(), error)),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Config, String> {
        let file: File = toml::from_str(text).map_err(|error| one_line(&error, text))?;
        if file.version != 1 {
            return Err(format!("`version` is {}, this castellan reads 1", file.version));
        }
        let mode = file.mode.as_deref().unwrap_or("enforce").parse().map_err(|e| format!("`mode`: {e}"))?;
        let File {
            profile,
            default,
            opaque,
            deny,
            ask,
            allow,
            presence,
            ask_wait,
            notify,
            level,
            on_ungoverned,
            hooks,
            tags,
            ..
        } = file;
        let decision = DecisionKeys {
            profile,
            default,
            opaque,
            deny,
            ask,
            allow,
            presence,
            ask_wait,
            notify,
            level,
            on_ungoverned,
            hooks,
        };
        let (rule_options, reload) = file.rules.into_options()?;
        Ok(Config {
            mode,
            settings: Settings { tags: tags.into_tags()?, ..decision.into_settings()? },
            rule_options,
            reload,
            log: file.log.into_config(),
        })
    }
}

/// The configuration of [`DEFAULT_TEXT`]; a test holds the two together.
impl Default for Config {
    fn default() -> Config {
        Config {
            mode: Mode::Enforce,
            settings: Settings::default(),
            rule_options: rules::Options::default(),
            reload: Reload::default(),
            log: audit::Config::default(),
        }
    }
}

/// `line:column: message`, where the parser's own text has several lines.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}: {}", error.message().replace('\n', "; "))
}

/// Changes the mode in a configuration file, and nothing else in it.
pub fn write_mode(file: &Path, mode: Mode) -> Result<(), ConfigError> {
    let text = Config::read_text(file)?;
    let changed =
        with_mode(&text, mode).map_err(|message| ConfigError::Malformed(file.to_owned(), message))?;
    write_private(file, changed.as_bytes()).map_err(|error| ConfigError::Io(file.to_owned(), error))
}

/// Changes the mode in a configuration's text, and nothing else in it.
pub(crate) fn with_mode(text: &str, mode: Mode) -> Result<String, String> {
    let mut document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.to_string().trim_end().to_owned())?;
    let decor = document.get("mode").and_then(|item| item.as_value()).map(|value| value.decor().clone());
    let mut value = toml_edit::Value::from(mode.as_str());
    if let Some(decor) = decor {
        *value.decor_mut() = decor;
    }
    document.insert("mode", toml_edit::Item::Value(value));
    Ok(document.to_string())
}

impl TagsTable {
    /// What the table means, or which of its keys is wrong. An empty tag would be on no rule, or as the beginning of marks
    /// on every rule; of two equal ones, one would not count.
    fn into_tags(self) -> Result<Tags, String> {
        let default = Tags::default();
        let tags = Tags {
            deny: self.deny.unwrap_or(default.deny),
            ask: self.ask.unwrap_or(default.ask),
            review: self.review.unwrap_or(default.review),
            allow: self.allow.unwrap_or(default.allow),
            seen: self.seen.unwrap_or(default.seen),
            mark: self.mark.unwrap_or(default.mark),
        };
        let Tags { deny, ask, review, allow, seen, mark } = &tags;
        let mut rest: &[(&str, &String)] = &[
            ("deny", deny),
            ("ask", ask),
            ("review", review),
            ("allow", allow),
            ("seen", seen),
            ("mark", mark),
        ];
        while let Some(((key, tag), others)) = rest.split_first() {
            if tag.is_empty() {
                return Err(format!("`tags.{key}` is empty: name a tag, or leave the key out"));
            }
            if let Some((other, _)) = others.iter().find(|(_, other)| other == tag) {
                return Err(format!("`tags.{key}` and `tags.{other}` are both `{tag}`: give each its own"));
            }
            rest = others;
        }
        Ok(tags)
    }
}

impl LogTable {
    fn into_config(self) -> audit::Config {
        let mib = |value: u32| u64::from(value.max(1)) * 1024 * 1024;
        let default = audit::Config::default();
        audit::Config {
            routine_segment_bytes: self.routine_segment_mib.map_or(default.routine_segment_bytes, mib),
            routine_segments: self.routine_segments.unwrap_or(default.routine_segments),
            notable_days: self.notable_days.unwrap_or(default.notable_days),
            notable_bytes: self.notable_mib.map_or(default.notable_bytes, mib),
            fsync: self.fsync.unwrap_or(default.fsync),
            ..default
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Mode, &str>) {
        match (Config::parse(text), expected) {
            (Ok(config), Ok(mode)) => assert_eq!(config.mode, mode, "{text}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{message} lacks {part}"),
            (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn the_default_text_says_what_the_defaults_are() {
        let (text, code) = (Config::parse(DEFAULT_TEXT).unwrap(), Config::default());
        assert_eq!(format!("{text:?}"), format!("{code:?}"));
    }

    #[test]
    fn changing_the_mode_keeps_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, "# mine\nversion = 1\nmode = \"enforce\" # tight\n[log]\nfsync = true\n")
            .unwrap();
        write_mode(&file, Mode::Monitor).unwrap();
        let expected = "# mine\nversion = 1\nmode = \"monitor\" # tight\n[log]\nfsync = true\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    }

    #[test]
    fn a_misspelt_setting_is_an_error() {
        check(DEFAULT_TEXT, Ok(Mode::Enforce));
        check("version = 1\nmode = \"monitor\"", Ok(Mode::Monitor));
        check("version = 1\nmode = \"enforced\"", Err("`enforced` is none of passthrough, monitor, enforce"));
        check("version = 1\nmod = \"monitor\"", Err("unknown field `mod`"));
        check("version = 2", Err("this castellan reads 1"));
        check("mode = \"monitor\"", Err("missing field `version`"));
        check("version = 1\ndefault = \"deny\"", Err("none of defer, allow"));
        check("version = 1\n[log]\nfsync = 3", Err("invalid type"));
        for key in ["deny", "ask", "review", "allow", "seen", "mark"] {
            let empty = format!("`tags.{key}` is empty");
            check(&format!("version = 1\n[tags]\n{key} = \"\""), Err(empty.as_str()));
            check(&format!("version = 1\n[tags]\n{key} = \"mine\""), Ok(Mode::Enforce));
        }
        check("version = 1\non_ungoverned = \"stop\"\n[hooks]\ntrusted = [\"/x\"]", Ok(Mode::Enforce));
        check("version = 1\non_ungoverned = \"kill\"", Err("`kill` is none of record, notify, stop"));
        check("version = 1\n[hooks]\ntrust = []", Err("unknown field `trust`"));
        check("version = 1\n[hooks]\ntrusted = [\"\"]", Err("`hooks.trusted` holds an empty command"));
        check(
            "version = 1\n[tags]\nask = \"x\"\nmark = \"x\"",
            Err("`tags.ask` and `tags.mark` are both `x`: give each its own"),
        );
        // With what a key that is left out means, too.
        check(
            "version = 1\n[tags]\nallow = \"coding_agent_deny\"",
            Err("`tags.deny` and `tags.allow` are both `coding_agent_deny`"),
        );
        check(
            "version = 1\n[rules]\nmatching = \"last\"",
            Err("`rules.matching`: `last` is none of all, first"),
        );
    }
}
