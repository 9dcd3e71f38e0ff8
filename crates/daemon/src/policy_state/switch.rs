//! Changes one key of the user's configuration in force. The effective values of all keys show whether the change
//! loosens anything. Independent of the permission to loosen.

use castellan_event::Layer;
use castellan_policy::Presence;

use super::{Cause, PolicyState, REMEDY};
use crate::config::{KEYS, KeyEdit, Kind, write_edit};
use crate::file_set::FileSet;
use crate::judge::Judge;
use crate::layers::Layers;

/// A change that is ready to be put in force.
#[derive(Debug)]
pub(crate) struct Switch {
    key: String,
    edit: KeyEdit,
    set: Layers,
    /// Hash of the set that it changes.
    of: String,
    /// A person must agree to it.
    pub(crate) needs_person: bool,
    /// The user presence setting after the change.
    pub(crate) presence: Presence,
}

/// Reports whether a key takes words of castellan's own only. Any other value is a text of the client, which a person
/// reads later at each question: an agent must not write it.
fn is_of_words(key: &str) -> bool {
    KEYS.iter().any(|known| known.name == key && matches!(known.kind, Kind::Word(_) | Kind::Flag))
}

impl PolicyState {
    /// Computes a change of the set in force. The error gives the reason why it is impossible.
    pub(crate) fn prepare_switch(&self, key: &str, edit: &KeyEdit) -> Result<Switch, String> {
        let before = self.set().ok_or_else(|| format!("nothing is in force: {REMEDY}"))?;
        let config = edit.applied_to(&before.user.config, key).map_err(|error| error.to_string())?;
        let user = FileSet { config, rules: before.user.rules.clone() };
        let set = Layers { user, ..Layers::clone(&before) };
        let config = |layers: &Layers| layers.config(&self.layout).map_err(|error| error.to_string());
        let (now, then) = (config(&before)?, config(&set)?);
        let gives_value = match edit {
            KeyEdit::Set(_) | KeyEdit::Add(_) => true,
            KeyEdit::Unset | KeyEdit::Remove(_) => false,
        };
        if let Some(why) = then.settled.held_above(Layer::User, key).filter(|_| gives_value) {
            return Err(why);
        }
        Ok(Switch {
            key: key.to_owned(),
            edit: edit.clone(),
            of: before.hash(),
            needs_person: then.needs_person(&now) || (gives_value && !is_of_words(key)),
            presence: then.settings.presence,
            set,
        })
    }

    /// Puts the change in force, and stores it in the applied set and in the user's file, so that later applies keep
    /// it. `shown` is the hash of the set that a person saw, if a person saw one.
    pub(crate) fn switch(
        &self,
        judge: &Judge,
        switch: Switch,
        shown: Option<&str>,
        peer: (u32, u32),
    ) -> Result<(), String> {
        let Switch { key, edit, set, of, needs_person: _, presence: _ } = switch;
        {
            let _changing = self.changing();
            if self.in_force().hash != of || shown.is_some_and(|shown| shown != of) {
                return Err("something else was put in force meanwhile: try again".to_owned());
            }
            let what = format!("{key} {edit}");
            self.put(judge, set, Cause { action: "switch", what: &what, peer })?;
        }
        write_edit(&self.layout.config_file(), &key, &edit)
            .map_err(|error| format!("it is in force, but `config.toml` does not say so: {error}"))
    }
}
