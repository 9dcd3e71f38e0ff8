//! The keys of `config.toml` that say how calls are decided → [`Settings`]. A profile presets them; a key that is there
//! counts instead.

use castellan_event::{AccessLevel, Verdict};
use castellan_policy::{Operator, Profile, Settings};
use serde::Deserialize;

use crate::limits::ASK_WAIT_S_MAX;

/// The keys as they are written.
#[derive(Debug, Default)]
pub(super) struct DecisionKeys {
    pub(super) profile: Option<String>,
    pub(super) default: Option<String>,
    pub(super) opaque: Option<String>,
    pub(super) deny: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) allow: Vec<String>,
    pub(super) presence: Option<String>,
    pub(super) ask_wait: Option<u32>,
    pub(super) notify: Option<bool>,
    pub(super) level: LevelTable,
    pub(super) on_ungoverned: Option<String>,
    pub(super) hooks: HooksTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HooksTable {
    #[serde(default)]
    trusted: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelTable {
    session: Option<String>,
    on_insufficient: Option<String>,
}

/// The word for no level at all.
const OFF: &str = "off";

impl DecisionKeys {
    /// What the keys mean, or which of them is wrong.
    pub(super) fn into_settings(self) -> Result<Settings, String> {
        let profile: Profile = word("profile", self.profile.as_deref())?.unwrap_or(Profile::Standard);
        let mut settings = profile.settings();
        if let Some(default) = verdict("default", self.default.as_deref(), &[Verdict::Defer, Verdict::Allow])?
        {
            settings.default_verdict = default;
            // Where nobody is there, what the profile denies stays denied.
            if settings.headless_default != Verdict::Deny {
                settings.headless_default = default;
            }
        }
        let choices = [Verdict::Defer, Verdict::Ask, Verdict::Deny];
        if let Some(opaque) = verdict("opaque", self.opaque.as_deref(), &choices)? {
            settings.opaque = opaque;
            // As above.
            if settings.headless_opaque != Verdict::Deny {
                settings.headless_opaque = opaque;
            }
        }
        match self.level.session.as_deref() {
            Some(OFF) => settings.level = None,
            session => {
                let level: Option<AccessLevel> =
                    word("level.session", session).map_err(|error| format!("{error}, {OFF}"))?;
                settings.level = level.or(settings.level);
            }
        }
        let choices = [Verdict::Ask, Verdict::Deny];
        if let Some(short) =
            verdict("level.on_insufficient", self.level.on_insufficient.as_deref(), &choices)?
        {
            settings.on_insufficient = short;
        }
        settings.presence = word("presence", self.presence.as_deref())?.unwrap_or(settings.presence);
        if self.ask_wait.is_some_and(|wait| wait > ASK_WAIT_S_MAX) {
            return Err(format!("`ask_wait`: agents wait for at most {ASK_WAIT_S_MAX} seconds"));
        }
        settings.ask_wait_s = self.ask_wait.unwrap_or(settings.ask_wait_s);
        settings.notify = self.notify.unwrap_or(settings.notify);
        if let Some(action) = word("on_ungoverned", self.on_ungoverned.as_deref())? {
            settings.ungoverned.action = action;
        }
        if self.hooks.trusted.iter().any(|command| command.trim().is_empty()) {
            return Err("`hooks.trusted` holds an empty command".to_owned());
        }
        settings.ungoverned.trusted_hooks = self.hooks.trusted;
        settings.operator = Operator::parse(&self.deny, &self.ask, &self.allow)?;
        Ok(settings)
    }
}

fn word<T: std::str::FromStr<Err = String>>(key: &str, word: Option<&str>) -> Result<Option<T>, String> {
    word.map(|word| word.parse().map_err(|error| format!("`{key}`: {error}"))).transpose()
}

fn verdict(key: &str, word: Option<&str>, choices: &[Verdict]) -> Result<Option<Verdict>, String> {
    let Some(word) = word else { return Ok(None) };
    let known = choices.iter().copied().find(|verdict| verdict.as_str() == word);
    let words = || choices.iter().map(|verdict| verdict.as_str()).collect::<Vec<_>>().join(", ");
    known.map(Some).ok_or_else(|| format!("`{key}`: `{word}` is none of {}", words()))
}
