//! Values of a plan's file with their types. A value of another type is an error with its place.

use crate::error::{Fault, PlanError};
use crate::limits::TEXT_BYTES_MAX;
use crate::text::shortened;
use crate::yaml::{At, Entry, Node, NodeKind};

/// A map of a plan's file.
pub(super) struct Map<'n> {
    entries: &'n [Entry],
    pub(super) at: At,
}

impl<'n> Map<'n> {
    /// `name` is the key or entry in messages.
    pub(super) fn of(node: &'n Node, name: &str) -> Result<Map<'n>, PlanError> {
        let NodeKind::Map(entries) = &node.kind else {
            return Err(wrong(node, name, "a map of keys and values"));
        };
        Ok(Map { entries, at: node.at })
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Rejects every other key.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), PlanError> {
        match self.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                Err(entry.at.error(Fault::Unknown { key: shortened(&entry.key), known }))
            }
        }
    }

    /// Returns the text of a key; `None` without the key.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'n str>, PlanError> {
        self.get(key).map(|node| text(node, key, TEXT_BYTES_MAX)).transpose()
    }

    /// Returns the number of a key; `None` without the key.
    pub(super) fn number(&self, key: &str) -> Result<Option<u64>, PlanError> {
        self.get(key).map(|node| number(node, key)).transpose()
    }

    /// Returns the list of a key; `None` without the key.
    pub(super) fn list(&self, key: &str) -> Result<Option<&'n [Node]>, PlanError> {
        self.get(key).map(|node| list(node, key)).transpose()
    }
}

/// Returns a text of at most `max` bytes. A word without quotes is one too.
pub(super) fn text<'n>(node: &'n Node, name: &str, max: usize) -> Result<&'n str, PlanError> {
    let (NodeKind::Plain(text) | NodeKind::Text(text)) = &node.kind else {
        return Err(wrong(node, name, "a text"));
    };
    if text.len() > max {
        return Err(node.at.error(Fault::Long { at: name.to_owned(), bytes: text.len() }));
    }
    Ok(text)
}

/// Returns a list.
pub(super) fn list<'n>(node: &'n Node, name: &str) -> Result<&'n [Node], PlanError> {
    let NodeKind::List(nodes) = &node.kind else {
        return Err(wrong(node, name, "a list; `[]` permits nothing"));
    };
    Ok(nodes)
}

fn number(node: &Node, name: &str) -> Result<u64, PlanError> {
    let digits = match &node.kind {
        // Rust's number parser accepts a sign.
        NodeKind::Plain(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        NodeKind::Null | NodeKind::Plain(_) | NodeKind::Text(_) | NodeKind::List(_) | NodeKind::Map(_) => {
            None
        }
    };
    digits.ok_or_else(|| wrong(node, name, "a whole number from 0 on, without quotes"))
}

fn wrong(node: &Node, name: &str, wanted: &'static str) -> PlanError {
    let found = match &node.kind {
        NodeKind::Null => "empty",
        NodeKind::Plain(_) => "a word",
        NodeKind::Text(_) => "a text",
        NodeKind::List(_) => "a list",
        NodeKind::Map(_) => "a map",
    };
    node.at.error(Fault::Type { at: name.to_owned(), found, wanted })
}
