//! A rule item: a definition, or a change to an earlier rule (`override`, legacy `append`, bare `enabled`).

use crate::item::Change;
use crate::item::exception::{self, Exception};
use crate::item::reader::{APPEND_DEPRECATED, Reader};
use crate::priority::Priority;
use crate::problem::Fault;
use crate::tag_words::TagWords;
use crate::text::Text;

/// The effect of a rule item.
#[derive(Debug)]
pub(crate) enum RuleItem {
    /// Defines the rule, or redefines it.
    Define(Box<RuleText>),
    /// Enables or disables an earlier rule.
    Enable(bool),
    /// Appends the first patch to an earlier rule, and replaces parts of the rule by the second patch.
    Alter(Box<(RulePatch, RulePatch)>),
}

/// A rule as written.
#[derive(Debug, Clone)]
pub(crate) struct RuleText {
    pub(crate) condition: Text,
    pub(crate) output: Text,
    pub(crate) desc: String,
    pub(crate) priority: Priority,
    pub(crate) source: String,
    pub(crate) tags: Vec<String>,
    pub(crate) exceptions: Vec<Exception>,
    pub(crate) enabled: bool,
    pub(crate) skip_if_unknown_filter: bool,
}

/// The parts of a rule that an item changes.
#[derive(Debug, Default)]
pub(crate) struct RulePatch {
    pub(crate) condition: Option<Text>,
    pub(crate) output: Option<Text>,
    pub(crate) desc: Option<String>,
    pub(crate) priority: Option<Priority>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) exceptions: Option<Vec<Exception>>,
    pub(crate) enabled: Option<bool>,
    pub(crate) skip_if_unknown_filter: Option<bool>,
}

/// The keys that `override` may name, with true if a key can also be appended to.
const OVERRIDABLE: [(&str, bool); 11] = [
    ("condition", true),
    ("output", true),
    ("desc", true),
    ("tags", true),
    ("exceptions", true),
    ("priority", false),
    ("capture", false),
    ("capture_duration", false),
    ("enabled", false),
    ("warn_evttypes", false),
    ("skip-if-unknown-filter", false),
];

const KEYS: [&str; 15] = [
    "rule",
    "condition",
    "output",
    "desc",
    "priority",
    "source",
    "tags",
    "exceptions",
    "enabled",
    "append",
    "override",
    "warn_evttypes",
    "skip-if-unknown-filter",
    "capture",
    "capture_duration",
];

/// Keys without a meaning here. Their values must have Falco's types.
const UNUSED: [&str; 3] = ["warn_evttypes", "capture", "capture_duration"];

const ENABLED_DEPRECATED: &str = "`enabled` alone is deprecated: add `override: {enabled: replace}`";

/// The source of a rule without `source`.
const SOURCE_DEFAULT: &str = "syscall";

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, tags: &TagWords) -> Option<RuleItem> {
    reader.known_keys(&KEYS);
    let append = reader.boolean("append").unwrap_or(false);
    let overrides = reader.overrides(&OVERRIDABLE);
    if append {
        reader.warn_at("append", "LOAD_DEPRECATED_ITEM", APPEND_DEPRECATED);
        if !overrides.is_empty() {
            reader.fail_at("override", "`append: true` and `override` cannot be used together");
        }
        return read_append(reader);
    }
    if !overrides.is_empty() {
        return Some(read_overrides(reader, &overrides, tags));
    }
    let required = ["condition", "output", "desc", "priority"];
    if !required.iter().any(|key| reader.has(key)) && (reader.has("enabled") || !reader.failed()) {
        return read_enabled(reader, &required);
    }
    read_definition(reader, tags).map(|rule| RuleItem::Define(Box::new(rule)))
}

fn read_append(reader: &mut Reader<'_, '_, '_>) -> Option<RuleItem> {
    let condition = if reader.has("condition") { reader.required_text("condition") } else { None };
    let exceptions = exception::read(reader, true);
    if condition.is_none() && exceptions.is_none() {
        let message = "an appended rule must have `condition` or `exceptions`";
        reader.error(Fault::new("LOAD_ERR_VALIDATE", reader.place(), message));
    }
    let append = RulePatch { condition, exceptions, ..RulePatch::default() };
    Some(RuleItem::Alter(Box::new((append, RulePatch::default()))))
}

fn read_enabled(reader: &mut Reader<'_, '_, '_>, required: &[&str]) -> Option<RuleItem> {
    if !reader.has("enabled") {
        let help = format!("a rule needs {}", required.join(", "));
        let message = "this rule has no definition and no `enabled`";
        reader.error(Fault::new("LOAD_ERR_YAML_VALIDATE", reader.place(), message).help(help));
        return None;
    }
    reader.warn_at("enabled", "LOAD_DEPRECATED_ITEM", ENABLED_DEPRECATED);
    reader.boolean("enabled").map(RuleItem::Enable)
}

fn read_overrides(
    reader: &mut Reader<'_, '_, '_>,
    overrides: &[(&'static str, Change)],
    tags: &TagWords,
) -> RuleItem {
    for (key, _) in OVERRIDABLE {
        if reader.has(key) && !overrides.iter().any(|(named, _)| *named == key) {
            reader.fail_at(key, &format!("`override` must have `{key}: append` or `{key}: replace`"));
        }
    }
    let mut patch = |change: Change| {
        let mut patch = RulePatch::default();
        for (key, _) in overrides.iter().filter(|(_, of)| *of == change) {
            read_part(reader, (key, change), tags, &mut patch);
        }
        patch
    };
    RuleItem::Alter(Box::new((patch(Change::Append), patch(Change::Replace))))
}

fn read_part(
    reader: &mut Reader<'_, '_, '_>,
    (key, change): (&str, Change),
    tags: &TagWords,
    patch: &mut RulePatch,
) {
    match key {
        "condition" => patch.condition = reader.required_text(key),
        "output" => patch.output = reader.required_text(key),
        "desc" => patch.desc = reader.required_text(key).map(|text| text.as_str().to_owned()),
        "priority" => patch.priority = read_priority(reader),
        "tags" => patch.tags = read_tags(reader, tags),
        "exceptions" => patch.exceptions = exception::read(reader, change == Change::Append),
        "enabled" => patch.enabled = reader.boolean(key),
        "skip-if-unknown-filter" => patch.skip_if_unknown_filter = reader.boolean(key),
        _ => read_unused(reader, key),
    }
}

/// Checks the value of a key that concerns Falco's capture files and system calls.
fn read_unused(reader: &mut Reader<'_, '_, '_>, key: &str) {
    match key {
        "capture_duration" => reader.u32(key),
        _ => drop(reader.boolean(key)),
    }
}

fn read_definition(reader: &mut Reader<'_, '_, '_>, tags: &TagWords) -> Option<RuleText> {
    let condition = reader.required_text("condition");
    let output = reader.required_text("output");
    let desc = reader.required_text("desc").map(|text| text.as_str().to_owned());
    let priority = read_priority(reader);
    let source =
        reader.text("source").map(|text| text.as_str().to_owned()).filter(|source| !source.is_empty());
    let tags = read_tags(reader, tags).unwrap_or_default();
    let exceptions = exception::read(reader, false).unwrap_or_default();
    let enabled = reader.boolean("enabled").unwrap_or(true);
    let skip_if_unknown_filter = reader.boolean("skip-if-unknown-filter").unwrap_or(false);
    UNUSED.iter().for_each(|key| read_unused(reader, key));
    Some(RuleText {
        condition: condition?,
        output: output?,
        desc: desc?,
        priority: priority?,
        source: source.unwrap_or_else(|| SOURCE_DEFAULT.to_owned()),
        tags,
        exceptions,
        enabled,
        skip_if_unknown_filter,
    })
}

fn read_priority(reader: &mut Reader<'_, '_, '_>) -> Option<Priority> {
    let text = reader.required_text("priority")?;
    match text.as_str().parse() {
        Ok(priority) => Some(priority),
        Err(error) => {
            let place = text.place(0..text.as_str().len());
            reader.error(Fault::new("LOAD_ERR_YAML_VALIDATE", place, format!("{error}")));
            None
        }
    }
}

fn read_tags(reader: &mut Reader<'_, '_, '_>, words: &TagWords) -> Option<Vec<String>> {
    let texts = reader.strings("tags")?;
    for text in &texts {
        if let Some((message, help)) = words.mistake(text.as_str()) {
            let place = text.place(0..text.as_str().len());
            reader.error(Fault::new("CASTELLAN_UNKNOWN_TAG", place, message).help(help));
        }
    }
    let mut tags: Vec<_> = texts.iter().map(|tag| tag.as_str().to_owned()).collect();
    tags.sort();
    tags.dedup();
    Some(tags)
}
