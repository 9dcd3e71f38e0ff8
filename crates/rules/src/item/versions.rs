//! The versions of the engine and of plugins that a rule file requires.

use std::collections::HashSet;

use crate::item::Item;
use crate::item::reader::Reader;
use crate::problem::{Fault, Report};
use crate::source::{Node, NodeKind};
use crate::text::{Place, Text};

/// `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

/// A plugin with its minimum version.
#[derive(Debug, Clone)]
pub(crate) struct PluginVersion {
    pub(crate) name: String,
    pub(crate) version: Version,
}

impl Version {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| part.parse::<u64>().ok());
        let version = Self { major: parts.next()??, minor: parts.next()??, patch: parts.next()?? };
        if parts.next().is_none() { Some(version) } else { None }
    }

    /// Reports whether this version meets the requirement `required`.
    pub(crate) fn serves(self, required: Self) -> bool {
        self.major == required.major && self >= required
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Parses `required_engine_version`: a version, or a number N for 0.N.0.
pub(super) fn read_engine(value: &Node, report: &mut Report<'_>) -> Option<Item> {
    let text = value.scalar().map_or("", Text::as_str);
    let number = text.parse::<u64>().ok().map(|minor| Version { major: 0, minor, patch: 0 });
    let version = number.or_else(|| Version::parse(text));
    if version.is_none() {
        let message = format!("`{text}` is not an engine version such as `0.58.0`");
        report.error("required_engine_version", Fault::new("LOAD_ERR_YAML_VALIDATE", value.place, message));
    }
    version.map(|version| Item::EngineVersion(version, value.place))
}

pub(super) fn read_plugins(value: &Node, report: &mut Report<'_>) -> Option<Item> {
    let label = "required_plugin_versions";
    let NodeKind::List(nodes) = &value.kind else {
        report.error(label, Fault::new("LOAD_ERR_YAML_VALIDATE", value.place, "the value must be a list"));
        return None;
    };
    let requirements: Vec<_> = nodes.iter().filter_map(|node| read_plugin(node, report)).collect();
    if requirements.len() == nodes.len() { Some(Item::PluginVersions(requirements)) } else { None }
}

/// Parses a plugin and its alternatives.
fn read_plugin(node: &Node, report: &mut Report<'_>) -> Option<(Vec<PluginVersion>, Place)> {
    let mut all = vec![read_one(node, report)?];
    if let Some(NodeKind::List(alternatives)) = node.entry("alternatives").map(|entry| &entry.value.kind) {
        for alternative in alternatives {
            all.push(read_one(alternative, report)?);
        }
    }
    let mut names = HashSet::new();
    for plugin in &all {
        if !names.insert(&plugin.name) {
            let message = format!("plugin `{}` is named twice", plugin.name);
            report.error("required_plugin_versions", Fault::new("LOAD_ERR_VALIDATE", node.place, message));
            return None;
        }
    }
    Some((all, node.place))
}

fn read_one(node: &Node, report: &mut Report<'_>) -> Option<PluginVersion> {
    let mut reader = Reader::new(node, "required_plugin_versions", report);
    let name = reader.required_text("name");
    let version = reader.required_text("version")?;
    let parsed = Version::parse(version.as_str());
    if parsed.is_none() {
        let place = version.place(0..version.as_str().len());
        reader.fail(place, format!("`{}` is not a version such as `0.1.0`", version.as_str()));
    }
    Some(PluginVersion { name: name?.as_str().to_owned(), version: parsed? })
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_serve_later_minors_only() {
        for (have, required, expected) in [
            ("0.58.0", "0.58.0", true),
            ("0.58.0", "0.26.0", true),
            ("0.58.0", "0.59.0", false),
            ("0.58.0", "0.58.1", false),
            ("0.58.0", "1.0.0", false),
            ("1.2.0", "0.9.0", false),
        ] {
            let version = |text| Version::parse(text).unwrap();
            assert_eq!(version(have).serves(version(required)), expected, "{have} for {required}");
        }
        for text in ["", "x", "1", "1.2", "1.2.3.4", "1.2.x"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
