//! Reads the keys of one item by type, and reports each fault. It knows the types of values, not the items.

use crate::item::{Change, Name};
use crate::problem::{Fault, Report};
use crate::source::{Node, NodeKind};
use crate::suggest::did_you_mean;
use crate::text::{Place, Text};

pub(super) const APPEND_DEPRECATED: &str =
    "`append: true` is deprecated: write in `override` what the item appends";

/// The keys of an item, and whether a key had an error.
pub(super) struct Reader<'n, 'r, 'a> {
    node: &'n Node,
    report: &'r mut Report<'a>,
    head: &'static str,
    label: String,
    failed: bool,
}

impl<'n, 'r, 'a> Reader<'n, 'r, 'a> {
    /// Returns a reader for an item with the key `head`.
    pub(super) fn new(node: &'n Node, head: &'static str, report: &'r mut Report<'a>) -> Self {
        Self { node, report, head, label: head.to_owned(), failed: false }
    }

    pub(super) fn failed(&self) -> bool {
        self.failed
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.node.entry(key).is_some()
    }

    /// Returns the item's name. Without a name, no other problem of the item is reported.
    pub(super) fn name(&mut self) -> Option<Name> {
        let text = self.required_text(self.head)?.as_str().to_owned();
        self.label = format!("{} '{text}'", self.head);
        Some(Name { text, place: self.place() })
    }

    /// Returns the place of the item's head, such as `rule: x`.
    pub(super) fn place(&self) -> Place {
        let Some(entry) = self.node.entry(self.head) else { return self.node.place };
        Place { end: entry.value.place.end.max(entry.key.place.end), ..entry.key.place }
    }

    /// Warns of unknown keys.
    pub(super) fn known_keys(&mut self, known: &[&str]) {
        let NodeKind::Map(entries) = &self.node.kind else { return };
        for entry in entries {
            let name = entry.key.scalar().map_or("", Text::as_str);
            if !known.contains(&name) {
                let message = format!("unknown key `{name}`: castellan ignores it");
                let help = did_you_mean(name, known.iter().copied());
                self.warning(Fault::new("LOAD_UNKNOWN_KEY", entry.key.place, message).help_if(help));
            }
        }
    }

    pub(super) fn required_text(&mut self, key: &str) -> Option<Text> {
        let node = self.required(key)?;
        let Some(text) = node.scalar() else {
            self.fail(node.place, format!("`{key}` must be a text"));
            return None;
        };
        if text.as_str().is_empty() {
            self.fail(node.place, format!("`{key}` must not be empty"));
            return None;
        }
        Some(text.clone())
    }

    /// Returns a text that may be missing or empty.
    pub(super) fn text(&mut self, key: &str) -> Option<Text> {
        let node = self.node.entry(key).map(|entry| &*entry.value)?;
        if node.scalar().is_none() && !matches!(node.kind, NodeKind::Null) {
            self.fail(node.place, format!("`{key}` must be a text"));
        }
        node.scalar().cloned()
    }

    pub(super) fn boolean(&mut self, key: &str) -> Option<bool> {
        let node = self.node.entry(key).map(|entry| &*entry.value)?;
        let value = node.scalar().and_then(|text| boolean(text.as_str()));
        if value.is_none() {
            self.fail(node.place, format!("`{key}` must be `true` or `false`"));
        }
        value
    }

    /// Checks a number of 32 bits that may be missing.
    pub(super) fn u32(&mut self, key: &str) {
        let Some(node) = self.node.entry(key).map(|entry| &*entry.value) else { return };
        if !node.scalar().is_some_and(|text| is_u32(text.as_str())) {
            self.fail(node.place, format!("`{key}` must be a whole number of at most {}", u32::MAX));
        }
    }

    pub(super) fn required_strings(&mut self, key: &str) -> Option<Vec<Text>> {
        self.required(key)?;
        self.strings(key)
    }

    /// Returns a list of texts that may be missing.
    pub(super) fn strings(&mut self, key: &str) -> Option<Vec<Text>> {
        let node = self.node.entry(key).map(|entry| &*entry.value)?;
        let NodeKind::List(nodes) = &node.kind else {
            self.fail(node.place, format!("`{key}` must be a list, such as `[a, b]`"));
            return None;
        };
        let mut strings = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &node.kind {
                NodeKind::Scalar(text) => strings.push(text.clone()),
                NodeKind::Null => strings.push(Text::default()),
                NodeKind::List(_) | NodeKind::Map(_) => {
                    self.fail(node.place, format!("each of `{key}` must be a text"));
                }
            }
        }
        Some(strings)
    }

    /// Returns the value of a key, of any type.
    pub(super) fn value(&self, key: &str) -> Option<&'n Node> {
        self.node.entry(key).map(|entry| &*entry.value)
    }

    /// Returns the entries of `override`. `allowed`: keys, with true if a key can also be appended to.
    pub(super) fn overrides(&mut self, allowed: &[(&'static str, bool)]) -> Vec<(&'static str, Change)> {
        let Some(NodeKind::Map(entries)) = self.value("override").map(|node| &node.kind) else {
            return Vec::new();
        };
        let mut overrides = Vec::new();
        for entry in entries {
            let key = entry.key.scalar().map_or("", Text::as_str);
            let known = allowed.iter().find(|(name, _)| *name == key);
            let change = match entry.value.scalar().map(Text::as_str) {
                Some("append") => Change::Append,
                Some("replace") => Change::Replace,
                _ => {
                    self.fail(entry.value.place, "an override must be `append` or `replace`".to_owned());
                    continue;
                }
            };
            match (known, change) {
                (Some((name, true)), _) | (Some((name, false)), Change::Replace) => {
                    overrides.push((*name, change))
                }
                (_, Change::Append) => self.fail(entry.key.place, format!("`{key}` cannot be appended to")),
                (_, Change::Define | Change::Replace) => {
                    self.fail(entry.key.place, format!("`{key}` cannot be replaced"));
                }
            }
        }
        for (key, _) in &overrides {
            if !self.has(key) {
                self.fail_at("override", &format!("`override` names `{key}`, but the item has no `{key}`"));
            }
        }
        overrides
    }

    pub(super) fn fail(&mut self, place: Place, message: String) {
        self.error(Fault::new("LOAD_ERR_YAML_VALIDATE", place, message));
    }

    /// Reports an error at a key of the item, or at the item if the key is missing.
    pub(super) fn fail_at(&mut self, key: &str, message: &str) {
        let place = self.node.entry(key).map_or_else(|| self.place(), |entry| entry.key.place);
        self.fail(place, message.to_owned());
    }

    pub(super) fn error(&mut self, fault: Fault) {
        self.failed = true;
        self.report.error(&self.label, fault);
    }

    pub(super) fn warning(&mut self, fault: Fault) {
        self.report.warning(&self.label, fault);
    }

    pub(super) fn warn_at(&mut self, key: &str, code: &'static str, message: &str) {
        let place = self.node.entry(key).map_or_else(|| self.place(), |entry| entry.key.place);
        self.warning(Fault::new(code, place, message));
    }

    fn required(&mut self, key: &str) -> Option<&'n Node> {
        let Some(entry) = self.node.entry(key) else {
            let NodeKind::Map(entries) = &self.node.kind else { return None };
            let keys = entries.iter().filter_map(|entry| entry.key.scalar()).map(Text::as_str);
            let help = did_you_mean(key, keys)
                .map_or_else(|| format!("add `{key}: ...`"), |_| format!("write exactly `{key}`"));
            let message = format!("the key `{key}` is missing");
            self.error(Fault::new("LOAD_ERR_YAML_VALIDATE", self.place(), message).help(help));
            return None;
        };
        if matches!(entry.value.kind, NodeKind::Null) {
            self.fail(entry.key.place, format!("`{key}` must not be empty"));
            return None;
        }
        Some(&entry.value)
    }
}

/// Reports whether Falco's YAML library reads a text as a number: decimal, or in the notation of C for other bases.
fn is_u32(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let (digits, base) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    !digits.starts_with(['+', '-']) && u32::from_str_radix(digits, base).is_ok()
}

/// Parses a boolean as Falco's YAML library does: certain words in lower, upper or capitalised letters.
fn boolean(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    let rest = text.get(1..).unwrap_or_default();
    let one_case = rest == rest.to_ascii_lowercase() || text == text.to_ascii_uppercase();
    match lower.as_str() {
        "y" | "yes" | "true" | "on" if one_case => Some(true),
        "n" | "no" | "false" | "off" if one_case => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_u32;

    #[test]
    fn numbers_of_32_bits() {
        for (text, expected) in [
            ("0", true),
            ("5000", true),
            ("+5", true),
            ("0x1f", true),
            ("017", true),
            ("4294967295", true),
            ("4294967296", false),
            ("08", false),
            ("-1", false),
            ("++5", false),
            ("+-5", false),
            ("1.5", false),
            ("10s", false),
            ("x", false),
            ("0x", false),
            ("", false),
        ] {
            assert_eq!(is_u32(text), expected, "{text}");
        }
    }
}
