//! Changes one word of the user's configuration in force: the profile, or the state of a pack or tier. The effective
//! values of all keys show whether the change loosens anything. Independent of the permission to loosen.

use castellan_event::Layer;

use super::{Cause, PolicyState, REMEDY};
use crate::config::{Place, key, with_word, write_word};
use crate::file_set::FileSet;
use crate::judge::Judge;
use crate::layers::Layers;

/// A change that is ready to be put in force.
#[derive(Debug)]
pub(crate) struct Switch {
    key: String,
    word: String,
    set: Layers,
    /// Hash of the set that it changes.
    of: String,
    /// Keys whose effective value becomes milder.
    pub(crate) loosens: Vec<&'static str>,
}

impl PolicyState {
    /// Computes a change of the set in force. The error gives the reason why it is impossible.
    pub(crate) fn prepare_switch(&self, name: &str, word: &str) -> Result<Switch, String> {
        if !is_switch(name) {
            return Err(format!("`{name}` cannot be switched alone: edit `config.toml`, and {REMEDY}"));
        }
        let before = self.set().ok_or_else(|| format!("nothing is in force: {REMEDY}"))?;
        let user =
            FileSet { config: with_word(&before.user.config, name, word)?, rules: before.user.rules.clone() };
        let set = Layers { user, ..Layers::clone(&before) };
        let settled = |layers: &Layers| layers.config(&self.layout).map_err(|error| error.to_string());
        let (now, then) = (settled(&before)?, settled(&set)?);
        if let Some(why) = then.settled.held_above(Layer::User, name) {
            return Err(why);
        }
        let (of, loosens) = (before.hash(), then.settled.milder_than(&now.settled));
        Ok(Switch { key: name.to_owned(), word: word.to_owned(), set, of, loosens })
    }

    /// Puts the change in force, and stores it in the applied set and in the user's file, so that later applies keep
    /// it.
    pub(crate) fn switch(&self, judge: &Judge, switch: Switch, peer: (u32, u32)) -> Result<(), String> {
        let Switch { key, word, set, of, loosens: _ } = switch;
        {
            let _changing = self.changing();
            if self.in_force().hash != of {
                return Err("something else was put in force meanwhile: try again".to_owned());
            }
            let what = format!("{key} {word}");
            self.put(judge, set, Cause { action: "switch", what: &what, peer })?;
        }
        write_word(&self.layout.config_file(), &key, &word)
            .map_err(|error| format!("it is in force, but `config.toml` does not say so: {error}"))
    }
}

/// Reports whether a key can be switched alone.
fn is_switch(name: &str) -> bool {
    let is_known = key(name).is_some_and(|key| key.place == Place::Every);
    is_known && (name == "profile" || name.starts_with("packs.") || name.starts_with("tiers."))
}
