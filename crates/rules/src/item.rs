//! The items of a rule file: YAML nodes to typed items. Each key is checked, every problem of an item is reported, and
//! an item with an error is not applied. It knows nothing of other items: `definitions.rs` applies changes.

mod exception;
mod reader;
mod rule;
mod versions;

pub(crate) use exception::{Exception, Values};
pub(crate) use rule::{RuleItem, RulePatch, RuleText};
pub(crate) use versions::{PluginVersion, Version};

use std::rc::Rc;

use crate::lex::is_identifier;
use crate::problem::{Fault, Report};
use crate::source::{Node, NodeKind};
use crate::tag_words::TagWords;
use crate::text::{Place, Text};
use reader::{APPEND_DEPRECATED, Reader};

/// A name with the place of its item's head, such as `rule: x`.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Item {
    EngineVersion(Version, Place),
    /// Each requirement must be met by one of its alternatives.
    PluginVersions(Vec<(Vec<PluginVersion>, Place)>),
    List {
        name: Name,
        items: Vec<Text>,
        change: Change,
    },
    Macro {
        name: Name,
        condition: Text,
        change: Change,
    },
    Rule {
        name: Name,
        item: RuleItem,
    },
    /// An item with errors. Its name is treated as known, so that uses of it are not reported.
    Broken {
        name: Name,
        kind: Kind,
    },
}

/// The effect of a list or macro item on an earlier item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Define,
    Append,
    /// `override` with `replace`: a definition.
    Replace,
}

/// The kinds of items with names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    List,
    Macro,
    Rule,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Macro => "macro",
            Self::Rule => "rule",
        }
    }

    /// Returns the label of an item in problems.
    pub(crate) fn label(self, name: &str) -> String {
        format!("{} '{name}'", self.as_str())
    }
}

/// Returns the nodes of the items of one YAML document.
pub(crate) fn nodes<'d>(document: &'d Node, report: &mut Report<'_>) -> &'d [Rc<Node>] {
    match &document.kind {
        NodeKind::Null => &[],
        NodeKind::List(nodes) => nodes,
        NodeKind::Scalar(_) | NodeKind::Map(_) => {
            let fault =
                Fault::new("LOAD_ERR_YAML_VALIDATE", document.place, "a rule file must be a list of items");
            report.error("", fault.help("begin each item with `- `, as in `- rule: name`"));
            &[]
        }
    }
}

/// Reads one item.
pub(crate) fn read(node: &Node, tags: &TagWords, report: &mut Report<'_>) -> Option<Item> {
    match &node.kind {
        NodeKind::Null => return None,
        NodeKind::Map(_) => {}
        NodeKind::Scalar(_) | NodeKind::List(_) => {
            let message = "an item must be a map, such as `- rule: name`";
            report.error("", Fault::new("LOAD_ERR_YAML_VALIDATE", node.place, message));
            return None;
        }
    }
    // Falco checks the kinds in this order.
    if let Some(entry) = node.entry("required_engine_version") {
        return versions::read_engine(&entry.value, report);
    }
    if let Some(entry) = node.entry("required_plugin_versions") {
        return versions::read_plugins(&entry.value, report);
    }
    let kind =
        [Kind::List, Kind::Macro, Kind::Rule].into_iter().find(|kind| node.entry(kind.as_str()).is_some());
    let Some(kind) = kind else {
        let fault = Fault::new("LOAD_UNKNOWN_ITEM", node.place, "unknown item: castellan ignores it");
        report.warning("", fault.help("write a `rule`, `macro`, `list` or a required version"));
        return None;
    };
    let mut reader = Reader::new(node, kind.as_str(), report);
    let name = reader.name()?;
    let item = match kind {
        Kind::List => read_list(&mut reader, &name),
        Kind::Macro => read_macro(&mut reader, &name),
        Kind::Rule => rule::read(&mut reader, tags).map(|item| Item::Rule { name: name.clone(), item }),
    };
    if reader.failed() { Some(Item::Broken { name, kind }) } else { item }
}

fn read_list(reader: &mut Reader<'_, '_, '_>, name: &Name) -> Option<Item> {
    reader.known_keys(&["list", "items", "append", "override"]);
    if name.text.is_empty()
        || name.text.contains(|char: char| "()\"'=,".contains(char) || char.is_whitespace())
    {
        let message = "the name of a list must not have blanks, quotes, commas, parentheses or `=`";
        reader.warning(Fault::new("LOAD_INVALID_LIST_NAME", name.place, message));
    }
    let change = read_change(reader, "items");
    let items = reader.required_strings("items");
    Some(Item::List { name: name.clone(), items: items?, change })
}

fn read_macro(reader: &mut Reader<'_, '_, '_>, name: &Name) -> Option<Item> {
    reader.known_keys(&["macro", "condition", "append", "override"]);
    if !is_identifier(&name.text) {
        let message = "the name of a macro must have only letters, digits and `_`, and start with a letter";
        reader.warning(Fault::new("LOAD_INVALID_MACRO_NAME", name.place, message));
    }
    let change = read_change(reader, "condition");
    let condition = reader.required_text("condition");
    Some(Item::Macro { name: name.clone(), condition: condition?, change })
}

/// Reads `append: true`, or `override` of the one key that can be overridden.
fn read_change(reader: &mut Reader<'_, '_, '_>, key: &'static str) -> Change {
    let append = reader.boolean("append").unwrap_or(false);
    if append {
        reader.warn_at("append", "LOAD_DEPRECATED_ITEM", APPEND_DEPRECATED);
    }
    let overrides = reader.overrides(&[(key, true)]);
    if append && !overrides.is_empty() {
        reader.fail_at("override", "`append: true` and `override` cannot be used together");
    }
    match overrides.first() {
        Some((_, change)) => *change,
        None if append => Change::Append,
        None => Change::Define,
    }
}
