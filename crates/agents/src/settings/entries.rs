//! The hooks of a parsed settings text: `hooks` → event → groups → handlers. This module must not know which hooks are
//! castellan's.

use std::collections::HashSet;

use jsonc_parser::ast::{Array, Object, Value};
use serde_json::Value as Json;

use super::source::{Source, Spot};
use super::{HOOK_NAME, SettingsProblem, property, wrong_shape};
use crate::dotenv::NOT_SET;

/// The relevant parts of a settings text.
pub(crate) struct Tree<'a, 't> {
    /// The whole file; `None` when it is empty.
    pub(crate) root: Option<&'a Object<'t>>,
    /// Its key `hooks`.
    pub(crate) hooks: Option<&'a Object<'t>>,
}

/// A handler.
pub(crate) struct Entry<'a, 't> {
    pub(crate) event: &'a str,
    pub(crate) groups: &'a Array<'t>,
    pub(crate) group_index: usize,
    pub(crate) group: &'a Object<'t>,
    pub(crate) handlers: &'a Array<'t>,
    pub(crate) handler_index: usize,
    pub(crate) handler: Json,
}

impl<'a, 't> Tree<'a, 't> {
    /// Finds the parts. The error names a part of the wrong shape.
    pub(crate) fn of(source: &'a Source<'t>) -> Result<Tree<'a, 't>, SettingsProblem> {
        let Some(value) = &source.root else {
            return Ok(Tree { root: None, hooks: None });
        };
        let root = value.as_object().ok_or_else(|| wrong_shape("", "an object"))?;
        let hooks = match property(root, "hooks", "hooks")? {
            Some(value) => Some(value.as_object().ok_or_else(|| wrong_shape("hooks", "an object"))?),
            None => None,
        };
        let tree = Tree { root: Some(root), hooks };
        let mut names = HashSet::new();
        for event in hooks.iter().flat_map(|hooks| &hooks.properties) {
            let name = event.name.as_str();
            let path = || format!("hooks.{name}");
            if !names.insert(name) {
                return Err(wrong_shape(&path(), "a key that stands once"));
            }
            event.value.as_array().ok_or_else(|| wrong_shape(&path(), "a list"))?;
        }
        Ok(tree)
    }

    /// Returns the groups of an event.
    pub(crate) fn event(&self, name: &str) -> Result<Option<&'a Array<'t>>, SettingsProblem> {
        let path = format!("hooks.{name}");
        let Some(value) = self.hooks.map(|hooks| property(hooks, name, &path)).transpose()?.flatten() else {
            return Ok(None);
        };
        value.as_array().map(Some).ok_or_else(|| wrong_shape(&path, "a list"))
    }

    /// Lists the handlers, in the order of the text. Groups of another shape are empty.
    pub(crate) fn entries(&self) -> Vec<Entry<'a, 't>> {
        let events = self.hooks.iter().flat_map(|hooks| &hooks.properties);
        let groups = events.filter_map(|event| Some((event.name.as_str(), event.value.as_array()?)));
        groups.flat_map(|(event, groups)| entries_of(event, groups)).collect()
    }

    /// Returns the path from a handler's group outwards to the root.
    pub(crate) fn way_to(&self, entry: &Entry<'_, '_>) -> Vec<(Spot, usize)> {
        let index = |object: &Object<'_>, name: &str| {
            object.properties.iter().position(|property| property.name.as_str() == name)
        };
        let mut way = vec![(Spot::array(entry.groups), entry.group_index)];
        let outer = [(self.hooks, entry.event), (self.root, "hooks")];
        way.extend(outer.into_iter().filter_map(|(object, name)| {
            let object = object?;
            Some((Spot::object(object), index(object, name)?))
        }));
        way
    }
}

impl Entry<'_, '_> {
    /// Returns the whole group as a value.
    pub(crate) fn group_json(&self) -> Json {
        Value::Object(self.group.clone()).into()
    }

    /// Returns the handler in a short form for people: the command, if no other key decides what runs.
    pub(crate) fn shown(&self) -> String {
        let is_command = self.handler.get("type").is_none_or(|kind| kind == "command");
        if !is_command || self.handler.get("shell").is_some() {
            return self.handler.to_string();
        }
        match (self.handler.get("command").and_then(Json::as_str), self.handler.get("args")) {
            (Some(command), None) => command.to_owned(),
            (Some(command), Some(args)) => format!("{command} {args}"),
            (None, _) => self.handler.to_string(),
        }
    }
}

/// Returns the switch `disableAllHooks` of a settings object if it switches all hooks off. If the key is repeated, each
/// value applies. Every value that is true in JavaScript applies (measured on Qwen Code 0.24.4).
pub(crate) fn disable_all_hooks(root: &Object<'_>) -> Option<&'static str> {
    values(root, "disableAllHooks").any(|value| !is_falsy(value)).then_some("disableAllHooks: true")
}

/// Returns the first of these variables that the settings set.
pub(crate) fn off_variable(root: &Object<'_>, names: &[&'static str]) -> Option<&'static str> {
    let is_set = |value: &Value<'_>| {
        let text = value.as_string_lit();
        text.map_or(!is_falsy(value), |text| !NOT_SET.contains(&&*text.value))
    };
    let sets = |name: &&'static str| {
        let mut tables = values(root, "env").filter_map(Value::as_object);
        tables.any(|table| values(table, name).any(is_set))
    };
    names.iter().copied().find(sets)
}

/// Returns the switch of `hooksConfig`, which can name hooks; a hook without a name has its command as name. Gemini CLI
/// replaces `$NAME` by environment variables, so such a name may match any hook. A text as `enabled` means false, and
/// `hooks` that are not an object replace the user's hooks (both measured on Gemini CLI 0.61.0).
pub(crate) fn hooks_config(root: &Object<'_>) -> Option<&'static str> {
    if values(root, "hooks").any(|value| value.as_object().is_none()) {
        return Some("hooks: no object");
    }
    let configs: Vec<_> = values(root, "hooksConfig").filter_map(Value::as_object).collect();
    let mut enabled = configs.iter().flat_map(|config| values(config, "enabled"));
    if enabled.any(|value| !matches!(value, Value::BooleanLit(lit) if lit.value)) {
        return Some("hooksConfig.enabled: false");
    }
    let disabled = configs.iter().flat_map(|config| values(config, "disabled"));
    // A text matches every hook whose name it contains.
    let mut names = disabled.flat_map(|value| match value {
        Value::Array(list) => list.elements.iter().filter_map(Value::as_string_lit).collect(),
        Value::StringLit(name) => vec![name],
        Value::BooleanLit(_) | Value::NumberLit(_) | Value::Object(_) | Value::NullKeyword(_) => Vec::new(),
    });
    let is_ours = |name: &str| name.contains(HOOK_NAME) || name.contains('$');
    names.any(|name| is_ours(&name.value)).then_some("hooksConfig.disabled: [castellan's hook]")
}

/// Reports whether a value is false in JavaScript.
fn is_falsy(value: &Value<'_>) -> bool {
    match value {
        Value::BooleanLit(lit) => !lit.value,
        Value::NumberLit(lit) => lit.value.parse() == Ok(0.0),
        Value::StringLit(lit) => lit.value.is_empty(),
        Value::NullKeyword(_) => true,
        Value::Object(_) | Value::Array(_) => false,
    }
}

fn values<'o, 't>(object: &'o Object<'t>, key: &'static str) -> impl Iterator<Item = &'o Value<'t>> {
    object
        .properties
        .iter()
        .filter(move |property| property.name.as_str() == key)
        .map(|property| &property.value)
}

fn entries_of<'a, 't>(event: &'a str, groups: &'a Array<'t>) -> Vec<Entry<'a, 't>> {
    let mut entries = Vec::new();
    for (group_index, group) in groups.elements.iter().enumerate() {
        let Some(group) = group.as_object() else { continue };
        let lists = group.properties.iter().filter(|property| property.name.as_str() == "hooks");
        for handlers in lists.filter_map(|list| list.value.as_array()) {
            for (handler_index, handler) in handlers.elements.iter().enumerate() {
                let handler = handler.clone().into();
                entries.push(Entry { event, groups, group_index, group, handlers, handler_index, handler });
            }
        }
    }
    entries
}
