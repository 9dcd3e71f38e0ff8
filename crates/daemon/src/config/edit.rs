//! Changes one key of a `config.toml` and leaves the rest untouched. It must not know the meaning of the value.

use std::ops::Range;
use std::path::Path;

use castellan_event::Mode;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::keys::{Key, Kind, former_name};
use super::{Config, ConfigError};
use castellan_files::write_private;

mod lists;

/// The reason why a key in a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// The text, the changed text or the value is no TOML.
    #[error("{0}")]
    NotToml(String),
    /// A table's name has another value.
    #[error("`{0}` must be a table")]
    NotTable(String),
    /// The key of a list has another value, of this type.
    #[error("`{0}` is a list, and this is a value of the type {1}")]
    NotList(String, &'static str),
}

/// A change of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyEdit {
    /// Sets it to this value, in TOML.
    Set(String),
    /// Removes it.
    Unset,
    /// Adds a text to its list, unless the list has it.
    Add(String),
    /// Removes a text from its list.
    Remove(String),
}

impl KeyEdit {
    /// Sets a key to a word.
    pub fn word(word: &str) -> KeyEdit {
        KeyEdit::Set(Value::from(word).to_string())
    }

    /// Sets a key to a value as a person types it: TOML, but a word or a text needs no quotes.
    pub fn typed(key: &Key, given: &str) -> KeyEdit {
        let is_text = matches!(key.kind, Kind::Word(_) | Kind::Text);
        match given.trim().parse::<Value>() {
            Ok(value) if !is_text || value.is_str() => KeyEdit::Set(value.decorated("", "").to_string()),
            _ => KeyEdit::word(given),
        }
    }

    /// Returns the change that brings the key in the text of a configuration back.
    pub fn reverse(&self, text: &str, key: &str) -> Result<KeyEdit, EditError> {
        let whole: toml::Table = toml::from_str(text).map_err(not_toml)?;
        let name = name_in(text, key)?;
        let (table, name) =
            name.split_once('.').map_or((None, name.as_str()), |(table, name)| (Some(table), name));
        let table = table.map_or(Some(&whole), |table| whole.get(table)?.as_table());
        Ok(match self {
            KeyEdit::Add(element) => KeyEdit::Remove(element.clone()),
            KeyEdit::Remove(element) => KeyEdit::Add(element.clone()),
            KeyEdit::Set(_) | KeyEdit::Unset => match table.and_then(|table| table.get(name)) {
                Some(before) => KeyEdit::Set(before.to_string()),
                None => KeyEdit::Unset,
            },
        })
    }

    /// Returns the text of a configuration after the change. Comments and layout stay, except those of what the change
    /// removes.
    pub fn applied_to(&self, text: &str, key: &str) -> Result<String, EditError> {
        let key = &name_in(text, key)?;
        let changed = match self {
            KeyEdit::Set(value) => set(text, key, value.parse().map_err(not_toml)?),
            KeyEdit::Unset => unset(text, key),
            KeyEdit::Add(element) => lists::add(text, key, element),
            KeyEdit::Remove(element) => lists::remove(text, key, element),
        }?;
        // A layout that castellan does not know may not survive the change.
        parsed(&changed)?;
        Ok(changed)
    }
}

/// Writes the change without its key, for the log: `120`, `add Bash(ls)`.
impl std::fmt::Display for KeyEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyEdit::Set(value) => f.write_str(unquoted(value)),
            KeyEdit::Unset => f.write_str("unset"),
            KeyEdit::Add(element) => write!(f, "add {element}"),
            KeyEdit::Remove(element) => write!(f, "remove {element}"),
        }
    }
}

/// Returns a TOML text without its quotes, if it means the same without them.
fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    inner.filter(|inner| !inner.contains(['"', '\\'])).unwrap_or(value)
}

/// Changes the mode in a configuration file.
pub fn write_mode(file: &Path, mode: Mode) -> Result<(), ConfigError> {
    write_edit(file, "mode", &KeyEdit::word(mode.as_str()))
}

/// Changes a key in a configuration file.
pub(crate) fn write_edit(file: &Path, key: &str, edit: &KeyEdit) -> Result<(), ConfigError> {
    let malformed = |error: EditError| ConfigError::Malformed(file.to_owned(), error.to_string());
    let text = Config::read_text(file)?;
    let changed = edit.applied_to(&text, key).map_err(malformed)?;
    if changed == text {
        return Ok(());
    }
    write_private(file, changed.as_bytes()).map_err(|error| ConfigError::Io(file.to_owned(), error))
}

/// Returns the name by which a text calls a key: its present or its former one.
fn name_in(text: &str, key: &str) -> Result<String, EditError> {
    let table = parsed(text)?;
    let former = former_name(key).filter(|former| find(table.get_ref(), former).is_some());
    Ok(former.unwrap_or(key).to_owned())
}

fn set(text: &str, key: &str, value: Value) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse().map_err(not_toml)?;
    match key.split_once('.') {
        None => put(document.as_table_mut(), key, value),
        Some((table, name)) => {
            let table_item = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
            let inner =
                table_item.as_table_like_mut().ok_or_else(|| EditError::NotTable(table.to_owned()))?;
            put(inner, name, value);
        }
    }
    Ok(document.to_string())
}

fn put(table: &mut dyn TableLike, name: &str, mut value: Value) {
    let is_same = |before: &Value| match (before.as_str(), value.as_str()) {
        // Compares without regard to the kind of quotes.
        (Some(before), Some(value)) => before == value,
        _ => before.to_string().trim() == value.to_string().trim(),
    };
    if table.get(name).and_then(Item::as_value).is_some_and(is_same) {
        return;
    }
    if let Some(before) = table.get_mut(name).and_then(Item::as_value_mut) {
        // Assigned in place: an insert would drop the comment above the key.
        *value.decor_mut() = before.decor().clone();
        *before = value;
        return;
    }
    // A list of tables has another layout.
    table.remove(name);
    table.insert(name, Item::Value(value));
}

/// Removes a key with its line, and keeps the comments above it.
fn unset(text: &str, key: &str) -> Result<String, EditError> {
    let table = parsed(text)?;
    let Some((name, value)) = find(table.get_ref(), key) else { return Ok(text.to_owned()) };
    let lines = lines_around(text, &(name.start..value.span().end));
    let before = text.get(lines.start..name.start).unwrap_or_default().trim();
    let after = text.get(value.span().end..lines.end).unwrap_or_default().trim();
    let is_alone = before.trim_end_matches('.') == key.rsplit_once('.').map_or("", |(table, _)| table)
        || before.is_empty();
    if is_alone && is_blank(after) {
        return Ok(without(text, &lines));
    }
    // A key of an inline table, or a list of tables.
    let mut document: DocumentMut = text.parse().map_err(not_toml)?;
    match key.split_once('.') {
        None => drop(document.remove(key)),
        Some((table, name)) => {
            let inner = document.get_mut(table).and_then(Item::as_table_like_mut);
            drop(inner.and_then(|inner| inner.remove(name)));
        }
    }
    Ok(document.to_string())
}

fn parsed(text: &str) -> Result<Spanned<DeTable<'_>>, EditError> {
    DeTable::parse(text).map_err(not_toml)
}

/// Returns the place of a key's name, and its value.
fn find<'t>(table: &'t DeTable<'t>, key: &str) -> Option<(Range<usize>, &'t Spanned<DeValue<'t>>)> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let (name, value) = table.iter().find(|(name, _)| name.get_ref() == first)?;
    match (rest, value.get_ref()) {
        (None, _) => Some((name.span(), value)),
        (Some(rest), DeValue::Table(below)) => find(below, rest),
        (Some(_), _) => None,
    }
}

/// Returns the whole lines of a place.
fn lines_around(text: &str, place: &Range<usize>) -> Range<usize> {
    let start = text.get(..place.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end = text.get(place.end..).and_then(|after| after.find('\n'));
    start..end.map_or(text.len(), |at| place.end + at + 1)
}

fn without(text: &str, place: &Range<usize>) -> String {
    with(text, place, "")
}

fn with(text: &str, place: &Range<usize>, new: &str) -> String {
    let (before, after) = (text.get(..place.start), text.get(place.end..));
    [before.unwrap_or_default(), new, after.unwrap_or_default()].concat()
}

/// Reports whether the rest of a line holds at most a comment.
fn is_blank(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

fn not_toml(error: impl std::fmt::Display) -> EditError {
    EditError::NotToml(error.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests;
