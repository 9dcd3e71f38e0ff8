//! [`merge`]: the layers' files → the effective value of every key, with its origin. Only this module combines layers.
//! It must not know the effect of a value.
//!
//! A lower layer can only tighten. For a key whose words have an order, the strictest word applies. An absent key in
//! the user's file has its default, so the user's layer sets every such key. A profile presets its layer's absent keys.

use std::sync::Arc;

use castellan_event::{AccessLevel, Layer, Verdict};
use castellan_policy::Profile;

use super::keys::{KEYS, Key, Kind, Merge, key};
use super::text::{Said, Value, default_of};

/// The parsed file of a layer.
#[derive(Debug, Clone)]
pub(crate) struct Spoken {
    pub(crate) layer: Layer,
    /// The file's name.
    pub(crate) file: Arc<str>,
    pub(crate) said: Vec<Said>,
}

/// A value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    /// The value; for a list of patterns, an element of it.
    pub value: Value,
    /// The layer that sets it.
    pub layer: Layer,
    /// The file and line that set it; `None` for a default.
    pub at: Option<(Arc<str>, usize)>,
    /// True if it is preset by the profile at that place.
    pub is_preset: bool,
}

/// A key with its effective and its overridden values.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// The effective value, or the elements of a list, those of the highest layer first.
    pub counts: Vec<Sourced>,
    /// The values of files and profiles without effect.
    pub overruled: Vec<Sourced>,
    /// The file and line of the organisation's lock, if the key is locked.
    pub locked: Option<(Arc<str>, usize)>,
}

/// The effective value of every key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settled(Vec<Setting>);

impl Settled {
    /// Returns every key, in the order of the table.
    pub fn settings(&self) -> &[Setting] {
        &self.0
    }

    /// Returns the effective value or elements of a key.
    pub(crate) fn counts(&self, name: &str) -> &[Sourced] {
        self.0.iter().find(|setting| setting.key.name == name).map_or(&[], |setting| &setting.counts)
    }

    /// Returns the value that a layer sets for a key, effective or not; for a list, its first element.
    pub(crate) fn said_by(&self, layer: Layer, name: &str) -> Option<&Sourced> {
        let setting = self.0.iter().find(|setting| setting.key.name == name)?;
        setting.counts.iter().chain(&setting.overruled).find(|sourced| sourced.layer == layer)
    }

    /// Returns the keys whose effective value is milder than in `other`, or differs if the values have no order. A list
    /// of rules that tighten is milder without one of them, a list of rules that loosen with another one.
    pub(crate) fn milder_than(&self, other: &Settled) -> Vec<&'static str> {
        let is_milder = |setting: &&Setting| {
            let (here, there) = (setting.counts.as_slice(), other.counts(setting.key.name));
            let values = |counts: &[Sourced]| counts.iter().map(|one| one.value.clone()).collect::<Vec<_>>();
            match (setting.key.merge, here.first(), there.first()) {
                (Merge::Strictest, Some(here), Some(there)) => {
                    rank(setting.key, here) < rank(setting.key, there)
                }
                (Merge::Own, ..) => false,
                (Merge::United, ..) => !has_all(here, there),
                (Merge::Lifting, ..) => !has_all(there, here),
                (Merge::Strictest | Merge::Highest, ..) => values(here) != values(there),
            }
        };
        self.0.iter().filter(is_milder).map(|setting| setting.key.name).collect()
    }

    /// Explains why a layer's value for a key has no effect, if a higher layer sets a stricter value or locks the key.
    pub(crate) fn held_above(&self, layer: Layer, name: &str) -> Option<String> {
        let setting = self.0.iter().find(|setting| setting.key.name == name)?;
        match setting.key.merge {
            Merge::Strictest | Merge::Highest => {}
            Merge::Lifting => return self.in_vain_of(setting).into_iter().next(),
            // All values apply.
            Merge::United | Merge::Own => return None,
        }
        let counts = setting.counts.first().filter(|sourced| sourced.layer < layer)?;
        let own = self.said_by(layer, name).filter(|own| own.value != counts.value)?;
        let place = counts.at.as_ref().map(|(file, line)| format!(": `{file}`:{line}")).unwrap_or_default();
        Some(format!(
            "`{name} = {}` would have no effect: the {} sets {}{place}",
            own.value, counts.layer, counts.value
        ))
    }

    /// Returns a line for each value without effect because its key is locked.
    pub(crate) fn ignored(&self) -> Vec<String> {
        self.0
            .iter()
            .filter(|setting| setting.locked.is_some())
            .flat_map(|setting| self.in_vain_of(setting))
            .collect()
    }

    /// Returns a line for each value that a locked key or a stricter value of the organisation overrides.
    pub(crate) fn in_vain(&self) -> Vec<String> {
        self.0.iter().flat_map(|setting| self.in_vain_of(setting)).collect()
    }

    fn in_vain_of(&self, setting: &Setting) -> Vec<String> {
        let at = |at: &(Arc<str>, usize)| format!("`{}`:{}", at.0, at.1);
        let says = |sourced: &Sourced| {
            let place = sourced.at.as_ref().filter(|_| sourced.layer == Layer::Organisation)?;
            Some(format!("sets {} ({})", sourced.value, at(place)))
        };
        let locked = setting.locked.as_ref().map(|lock| format!("locked it ({})", at(lock)));
        let blocking =
            || Some(format!("blocks calls beside foreign hooks ({})", at(self.blocks_hooks()?.at.as_ref()?)));
        let is_of_hooks = setting.key.name == TRUSTED_HOOKS;
        let why =
            locked.or_else(|| if is_of_hooks { blocking() } else { setting.counts.first().and_then(says) });
        let Some(why) = why else { return Vec::new() };
        // A value equal to an effective value is not reported.
        let counts = |sourced: &&Sourced| setting.counts.iter().any(|other| other.value == sourced.value);
        let below = setting.overruled.iter().filter(|sourced| sourced.layer > Layer::Organisation);
        let named = below.filter(|sourced| !sourced.is_preset && !counts(sourced));
        let line =
            |place| format!("{}: `{}` has no effect: the organisation {why}", at(place), setting.key.name);
        named.filter_map(|sourced| sourced.at.as_ref()).map(line).collect()
    }

    /// Returns the organisation's value that bars sessions with foreign hooks, if it sets one.
    fn blocks_hooks(&self) -> Option<&Sourced> {
        self.said_by(Layer::Organisation, BLOCKS_HOOKS)
            .filter(|sourced| sourced.value.word() == Some(flag(true)))
    }
}

/// Merges the files of the layers. An absent user's file contributes the defaults.
pub(crate) fn merge(spoken: &[Spoken]) -> Settled {
    let locks = locks(spoken);
    let layers: Vec<Vec<(&'static Key, Sourced)>> =
        Layer::ALL.iter().map(|layer| values_of_layer(*layer, spoken, &locks)).collect();
    // If the organisation bars foreign hooks, only the organisation can trust a hook.
    let of_organisation = layers.first().into_iter().flatten();
    let blocks = |(key, sourced): &(&'static Key, Sourced)| {
        key.name == BLOCKS_HOOKS && sourced.value.word() == Some(flag(true))
    };
    let blocks_hooks = of_organisation.clone().any(blocks);
    let setting = |key: &'static Key| {
        let locked = locks.iter().find(|(locked, _)| *locked == key.name).map(|(_, at)| at.clone());
        let of = |layer: &Vec<(&'static Key, Sourced)>| -> Vec<Sourced> {
            layer.iter().filter(|(of, _)| of.name == key.name).map(|(_, sourced)| sourced.clone()).collect()
        };
        let is_waiting = locked.is_some() || (blocks_hooks && key.name == TRUSTED_HOOKS);
        let (counts, overruled) = settle(key, layers.iter().map(of).collect(), is_waiting);
        Setting { key, counts, overruled, locked }
    };
    Settled(KEYS.iter().map(setting).collect())
}

/// Reports whether each of the values, with its layer, is among `others`.
fn has_all(others: &[Sourced], values: &[Sourced]) -> bool {
    let has = |value: &Sourced| others.iter().any(|one| one.layer == value.layer && one.value == value.value);
    values.iter().all(has)
}

/// Splits a key's values, the highest layer first, into effective and overridden ones. `is_waiting`: no lower one
/// loosens.
fn settle(key: &Key, layers: Vec<Vec<Sourced>>, is_waiting: bool) -> (Vec<Sourced>, Vec<Sourced>) {
    let all: Vec<Sourced> = layers.into_iter().flatten().collect();
    let of_organisation = |sourced: &Sourced| sourced.layer == Layer::Organisation;
    match key.merge {
        Merge::Own => (Vec::new(), Vec::new()),
        Merge::United => (all, Vec::new()),
        Merge::Lifting => all.into_iter().partition(|sourced| !is_waiting || of_organisation(sourced)),
        Merge::Strictest => {
            let strictest = all.iter().map(|sourced| rank(key, sourced)).max();
            one(all, |sourced| Some(rank(key, sourced)) == strictest)
        }
        Merge::Highest => {
            let highest = all.iter().find(|sourced| !is_waiting || of_organisation(sourced));
            let highest = highest.map(|sourced| sourced.layer);
            all.into_iter().partition(|sourced| Some(sourced.layer) == highest)
        }
    }
}

/// Returns the first match, and all other values.
fn one(mut all: Vec<Sourced>, is_meant: impl Fn(&Sourced) -> bool) -> (Vec<Sourced>, Vec<Sourced>) {
    let Some(at) = all.iter().position(is_meant) else { return (Vec::new(), all) };
    (vec![all.remove(at)], all)
}

/// Returns the strictness of a word.
fn rank(key: &Key, sourced: &Sourced) -> usize {
    let (Kind::Word(words), Value::Word(word)) = (key.kind, &sourced.value) else { return 0 };
    words.iter().position(|known| known == word).unwrap_or_default()
}

/// Returns the keys that the organisation has locked, with the places of the locks.
fn locks(spoken: &[Spoken]) -> Vec<(String, (Arc<str>, usize))> {
    let organisation = spoken.iter().filter(|file| file.layer == Layer::Organisation);
    let lock = |file: &Spoken, said: &Said| {
        let name = said.value.text().filter(|_| said.key.name == "locked")?;
        Some((name.to_owned(), (file.file.clone(), said.line)))
    };
    organisation.flat_map(|file| file.said.iter().filter_map(move |said| lock(file, said))).collect()
}

/// Returns all values of a layer: those of its file, the presets of its profile, and defaults. The user's layer gets
/// the defaults of all absent keys, the organisation's only those of its locked keys.
fn values_of_layer(
    layer: Layer,
    spoken: &[Spoken],
    locks: &[(String, (Arc<str>, usize))],
) -> Vec<(&'static Key, Sourced)> {
    let file = spoken.iter().find(|file| file.layer == layer);
    let sourced = |file: &Spoken, said: &Said| Sourced {
        value: said.value.clone(),
        layer,
        at: Some((file.file.clone(), said.line)),
        is_preset: false,
    };
    let mut says: Vec<(&'static Key, Sourced)> =
        file.iter().flat_map(|file| file.said.iter().map(|said| (said.key, sourced(file, said)))).collect();
    let is_locked = |key: &Key| {
        // A lock includes the key's variant for sessions without a person.
        let name = key.name.strip_prefix("headless_").unwrap_or(key.name);
        locks.iter().any(|(locked, _)| locked == name)
    };
    for key in KEYS.iter() {
        let fills = match layer {
            Layer::Organisation => is_locked(key),
            Layer::User => true,
            Layer::Project => false,
        };
        if fills
            && !has(&says, key.name)
            && let Some(value) = default_of(key)
        {
            says.push((key, Sourced { value, layer, at: None, is_preset: false }));
        }
    }
    // A locked key that a profile presets has the value of the default profile, if the layer has no profile.
    let held: Vec<&'static Key> = match layer {
        Layer::Organisation => KEYS.iter().filter(|key| is_locked(key) && !has(&says, key.name)).collect(),
        Layer::User | Layer::Project => Vec::new(),
    };
    preset(layer, &mut says);
    for key in held {
        if !has(&says, key.name)
            && let Some(word) = preset_word(Profile::Standard, key)
        {
            says.push((key, Sourced { value: Value::Word(word), layer, at: None, is_preset: true }));
        }
    }
    says
}

/// Adds the presets of a layer's profile. The layer's `default` and `opaque` also apply to sessions without a person.
fn preset(layer: Layer, says: &mut Vec<(&'static Key, Sourced)>) {
    let profile = says.iter().find(|(key, _)| key.name == "profile").map(|(_, sourced)| sourced.clone());
    let known = profile.as_ref().and_then(|sourced| sourced.value.word()?.parse::<Profile>().ok());
    for (said, headless) in [("default", "headless_default"), ("opaque", "headless_opaque")] {
        let denies =
            known.and_then(|profile| preset_word(profile, key(headless)?)) == Some(Verdict::Deny.as_str());
        let own = says.iter().find(|(key, _)| key.name == said).map(|(_, sourced)| sourced.clone());
        // The profile's denial for sessions without a person stays in force.
        if let (Some(own), Some(headless), false) = (own, key(headless), denies) {
            says.push((headless, Sourced { is_preset: true, ..own }));
        }
    }
    let Some((profile, known)) = profile.zip(known) else { return };
    for key in KEYS.iter() {
        if !has(says, key.name)
            && let Some(word) = preset_word(known, key)
        {
            says.push((key, Sourced { value: Value::Word(word), layer, is_preset: true, ..profile.clone() }));
        }
    }
}

fn has(says: &[(&'static Key, Sourced)], name: &str) -> bool {
    says.iter().any(|(key, _)| key.name == name)
}

/// A key that a profile presets, with its word.
pub type Preset = (&'static Key, &'static str);

/// Returns the presets of a profile.
pub fn presets(profile: Profile) -> Vec<Preset> {
    KEYS.iter().filter_map(|key| Some((key, preset_word(profile, key)?))).collect()
}

/// Returns the preset of a profile for a key.
fn preset_word(profile: Profile, key: &Key) -> Option<&'static str> {
    let settings = profile.settings();
    let word = match key.name {
        "default" => settings.default_verdict.as_str(),
        "headless_default" => settings.headless_default.as_str(),
        "opaque" => settings.opaque.as_str(),
        "headless_opaque" => settings.headless_opaque.as_str(),
        "own_opaque" => settings.own_opaque.as_str(),
        "level.session" => settings.level.map_or(OFF, AccessLevel::as_str),
        "unknown_workspace" => settings.unknown_workspace.map_or(OFF, AccessLevel::as_str),
        "level.on_insufficient" => settings.on_insufficient.as_str(),
        "unknown_tool" => settings.unknown_tool.as_str(),
        "allow_understood" => flag(settings.allow_understood),
        "tools" => flag(settings.tools),
        "on_ungoverned" => settings.ungoverned.action.as_str(),
        "ungoverned_level" => settings.ungoverned.level.map_or(OFF, AccessLevel::as_str),
        "new_mcp_server" => settings.new_server.as_str(),
        "probing" => settings.probing.as_str(),
        "boundary.mode" => settings.boundary.mode.as_str(),
        "tiers.ask" => settings.tiers.ask.as_str(),
        "tiers.review" => settings.tiers.review.as_str(),
        "review.opaque" => {
            if settings.review.opaque {
                "review"
            } else {
                "ask"
            }
        }
        BLOCKS_HOOKS => flag(settings.ungoverned.blocks_foreign_hooks),
        _ => return None,
    };
    Some(word)
}

/// The key for trusted foreign hooks, and the key that makes untrusted ones bar a session.
const TRUSTED_HOOKS: &str = "hooks.trusted";
const BLOCKS_HOOKS: &str = "blocks_foreign_hooks";

/// The word for "no level".
pub(super) const OFF: &str = "off";

fn flag(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

#[cfg(test)]
mod tests;
