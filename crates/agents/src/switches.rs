//! The switches that switch an agent's hooks off. A repository's own settings can switch off the user's hooks (measured
//! on Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0). This module must not know how to prevent that.

use toml_edit::{DocumentMut, Item};

use crate::agent::AgentId;
use crate::settings::switch_of;
use crate::spec::SwitchFamily;

/// Names of Codex's feature for hooks; the second is the old name.
pub(crate) const HOOK_FEATURES: [&str; 2] = ["hooks", "codex_hooks"];

/// Returns the switch in a settings text that switches hooks off; `None` without one, or if the text does not parse.
pub fn switches_off(agent: AgentId, text: &str) -> Option<&'static str> {
    match agent.spec().families.switch {
        SwitchFamily::DisableAllHooks | SwitchFamily::HooksConfig => switch_of(agent, text),
        SwitchFamily::Feature => feature_switch(text),
    }
}

/// Reports whether a settings text says that hooks are on, so that it wins over a text that switches them off.
pub fn switches_on(agent: AgentId, text: &str) -> bool {
    match agent.spec().families.switch {
        SwitchFamily::DisableAllHooks => {
            let settings = serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
            settings.get("disableAllHooks") == Some(&serde_json::Value::Bool(false))
        }
        SwitchFamily::HooksConfig | SwitchFamily::Feature => false,
    }
}

/// Returns the profiles of a configuration that switch hooks off when chosen.
pub(crate) fn off_profiles(agent: AgentId, text: &str) -> Vec<String> {
    match agent.spec().families.switch {
        SwitchFamily::DisableAllHooks | SwitchFamily::HooksConfig => Vec::new(),
        SwitchFamily::Feature => {
            let config = text.parse::<DocumentMut>().unwrap_or_default();
            let profiles = config.get("profiles").and_then(Item::as_table_like);
            let all = profiles.iter().flat_map(|profiles| profiles.iter());
            all.filter(|(_, profile)| feature_of(profile).is_some())
                .map(|(name, _)| name.to_owned())
                .collect()
        }
    }
}

/// Reports whether Codex's `requirements.toml` keeps hooks on.
pub(crate) fn requires_hooks(text: &str) -> bool {
    let requirements = text.parse::<DocumentMut>().unwrap_or_default();
    requirements.get("features").and_then(|features| features.get("hooks")).and_then(Item::as_bool)
        == Some(true)
}

fn feature_switch(text: &str) -> Option<&'static str> {
    let config = text.parse::<DocumentMut>().ok()?;
    let chosen = config.get("profile").and_then(Item::as_str);
    let profile = chosen.and_then(|name| config.get("profiles")?.get(name));
    feature_of(config.as_item()).or_else(|| feature_of(profile?))
}

fn feature_of(config: &Item) -> Option<&'static str> {
    let features = config.get("features")?;
    let switches = [("hooks", "features.hooks = false"), ("codex_hooks", "features.codex_hooks = false")];
    let off = switches.iter().find(|(key, _)| features.get(key).and_then(Item::as_bool) == Some(false));
    off.map(|(_, shown)| *shown)
}
