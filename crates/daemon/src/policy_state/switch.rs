//! Changes keys of the user's configuration in force. The effective values of all keys show whether the change
//! loosens anything. Independent of the permission to loosen.

use castellan_event::Layer;
use castellan_policy::Presence;

use super::{Cause, NotPut, PolicyState, REMEDY};
use crate::config::{KEYS, KeyEdit, Kind, write_edit};
use crate::file_set::FileSet;
use crate::judge::Judge;
use crate::layers::Layers;

/// A change that is ready to be put in force.
#[derive(Debug)]
pub(crate) struct Switch {
    edits: Vec<(String, KeyEdit)>,
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

fn gives_value(edit: &KeyEdit) -> bool {
    match edit {
        KeyEdit::Set(_) | KeyEdit::Add(_) => true,
        KeyEdit::Unset | KeyEdit::Remove(_) => false,
    }
}

/// Returns changes as a text for the record.
pub(crate) fn listed(edits: &[(String, KeyEdit)]) -> String {
    edits.iter().map(|(key, edit)| format!("{key} {edit}")).collect::<Vec<_>>().join(", ")
}

impl PolicyState {
    /// Computes a change of the set in force. The error gives the reason why it is impossible.
    pub(crate) fn prepare_switch(&self, edits: &[(String, KeyEdit)]) -> Result<Switch, String> {
        let before = self.set().ok_or_else(|| format!("nothing is in force: {REMEDY}"))?;
        let mut config = before.user.config.clone();
        for (key, edit) in edits {
            config = edit.applied_to(&config, key).map_err(|error| error.to_string())?;
        }
        let user = FileSet { config, rules: before.user.rules.clone() };
        let set = Layers { user, ..Layers::clone(&before) };
        let config = |layers: &Layers| layers.config(&self.layout).map_err(|error| error.to_string());
        let (now, then) = (config(&before)?, config(&set)?);
        let mut given = edits.iter().filter(|(_, edit)| gives_value(edit)).map(|(key, _)| key.as_str());
        if let Some(why) = given.clone().find_map(|key| then.settled.held_above(Layer::User, key)) {
            return Err(why);
        }
        Ok(Switch {
            edits: edits.to_vec(),
            of: before.hash(),
            needs_person: then.needs_person(&now) || given.any(|key| !is_of_words(key)),
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
    ) -> Result<(), NotPut> {
        let Switch { edits, set, of, needs_person: _, presence: _ } = switch;
        {
            let _changing = self.changing();
            if self.in_force().hash != of || shown.is_some_and(|shown| shown != of) {
                return Err("something else was put in force meanwhile: try again".to_owned().into());
            }
            let what = listed(&edits);
            self.put(judge, set, Cause { action: "switch", what: &what, peer })?;
        }
        let file = self.layout.config_file();
        edits
            .iter()
            .try_for_each(|(key, edit)| write_edit(&file, key, edit))
            .map_err(|error| format!("it is in force, but `config.toml` does not say so: {error}").into())
    }
}
