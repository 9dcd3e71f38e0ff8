//! Exceptions of a rule: conditions under which the rule does not fire, as a table of fields, operators and values.
//! They are read here; `exceptions.rs` checks them and writes them as condition text.

use std::collections::HashSet;

use crate::item::reader::Reader;
use crate::problem::Fault;
use crate::source::{Node, NodeKind};
use crate::text::{Place, Text};

#[derive(Debug, Clone)]
pub(crate) struct Exception {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) fields: Option<Values>,
    pub(crate) comps: Option<Values>,
    pub(crate) values: Vec<Values>,
}

/// A text, or a list of texts.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    One(Text),
    Many(Vec<Values>),
}

/// Reads `exceptions`. Appended exceptions may omit the fields of an earlier one.
pub(super) fn read(reader: &mut Reader<'_, '_, '_>, appended: bool) -> Option<Vec<Exception>> {
    let node = reader.value("exceptions")?;
    let NodeKind::List(nodes) = &node.kind else {
        reader.fail(node.place, "`exceptions` must be a list".to_owned());
        return None;
    };
    let exceptions: Vec<_> = nodes.iter().filter_map(|node| read_one(reader, node, appended)).collect();
    let mut names = HashSet::new();
    for exception in &exceptions {
        if !names.insert(&exception.name) {
            let message = format!("the exception `{}` is defined twice", exception.name);
            reader.warning(Fault::new("LOAD_EXCEPTION_NAME_NOT_UNIQUE", exception.place, message));
        }
    }
    Some(exceptions)
}

fn read_one(reader: &mut Reader<'_, '_, '_>, node: &Node, appended: bool) -> Option<Exception> {
    if !matches!(node.kind, NodeKind::Map(_)) {
        reader.fail(node.place, "an exception must be a map with `name` and `fields`".to_owned());
        return None;
    }
    let name = node.entry("name").and_then(|entry| entry.value.scalar());
    if name.is_none_or(|name| name.as_str().is_empty()) {
        reader.fail(node.place, "an exception must have a `name`".to_owned());
    }
    let place = node.entry("name").map_or(node.place, |entry| entry.value.place);
    let fields = node.entry("fields").and_then(|entry| read_values(reader, &entry.value));
    if fields.is_none() && !appended {
        reader.fail(place, "an exception must have `fields`".to_owned());
    }
    let comps = node.entry("comps").and_then(|entry| read_values(reader, &entry.value));
    let values = match node.entry("values").map(|entry| (&entry.value.kind, entry.value.place)) {
        Some((NodeKind::List(nodes), _)) => {
            nodes.iter().filter_map(|node| read_values(reader, node)).collect()
        }
        Some((NodeKind::Null, _)) | None => Vec::new(),
        Some((NodeKind::Scalar(_) | NodeKind::Map(_), place)) => {
            reader.fail(place, "`values` of an exception must be a list".to_owned());
            Vec::new()
        }
    };
    if appended && values.is_empty() {
        let message = "an appended exception without values changes nothing";
        reader.warning(Fault::new("LOAD_APPEND_NO_VALUES", place, message));
    }
    Some(Exception { name: name?.as_str().to_owned(), place, fields, comps, values })
}

fn read_values(reader: &mut Reader<'_, '_, '_>, node: &Node) -> Option<Values> {
    match &node.kind {
        NodeKind::Scalar(text) => Some(Values::One(text.clone())),
        NodeKind::List(nodes) => {
            Some(Values::Many(nodes.iter().filter_map(|node| read_values(reader, node)).collect()))
        }
        NodeKind::Null => None,
        NodeKind::Map(_) => {
            reader.fail(node.place, "expected a text or a list of texts".to_owned());
            None
        }
    }
}
