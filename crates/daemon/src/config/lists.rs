//! The lists of tables below `[rules]`, in Falco's form: selected rules and added outputs. It must not know the loader.

use std::ops::Range;

use castellan_rules::{AppendOutput, ExtraField, Selected, Selection};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

/// A mistake with its place.
pub(super) type Wrong = (Range<usize>, String);

/// `{enable = ...}` or `{disable = ...}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SelectEntry {
    Enable(SelectedEntry),
    Disable(SelectedEntry),
}

/// `{rule = "..."}` or `{tag = "..."}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SelectedEntry {
    Rule(String),
    Tag(String),
}

/// Falco's keys of an `append_output` item.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AppendEntry {
    #[serde(default, rename = "match")]
    of: MatchEntry,
    extra_output: Option<String>,
    #[serde(default)]
    extra_fields: Vec<toml::Value>,
    #[serde(default)]
    suggested_output: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchEntry {
    source: Option<String>,
    rule: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

/// Parses `rules.select`.
pub(super) fn selections(value: Spanned<DeValue<'_>>) -> Result<Vec<Selection>, Wrong> {
    read(value, SelectEntry::into_selection)
}

/// Parses `rules.append_output`.
pub(super) fn outputs(value: Spanned<DeValue<'_>>) -> Result<Vec<AppendOutput>, Wrong> {
    read(value, AppendEntry::into_options)
}

fn read<E: for<'de> Deserialize<'de>, T>(
    value: Spanned<DeValue<'_>>,
    meaning: fn(E) -> Result<T, String>,
) -> Result<Vec<T>, Wrong> {
    let whole = value.span();
    let entries = Vec::<Spanned<E>>::deserialize(ValueDeserializer::from(value)).map_err(|error| {
        (error.span().unwrap_or_else(|| whole.clone()), error.message().replace('\n', "; "))
    })?;
    let meaning = |entry: Spanned<E>| {
        let span = entry.span();
        meaning(entry.into_inner()).map_err(|why| (span, why))
    };
    entries.into_iter().map(meaning).collect()
}

impl SelectEntry {
    fn into_selection(self) -> Result<Selection, String> {
        let (enable, of) = match self {
            SelectEntry::Enable(of) => (true, of),
            SelectEntry::Disable(of) => (false, of),
        };
        let (key, text, of) = match of {
            SelectedEntry::Rule(name) => ("rule", name.clone(), Selected::Rule(name)),
            SelectedEntry::Tag(tag) => ("tag", tag.clone(), Selected::Tag(tag)),
        };
        if text.is_empty() {
            return Err(format!("`{key}` is empty: write a name, or `rule = \"*\"` for all rules"));
        }
        Ok(Selection { enable, of })
    }
}

impl AppendEntry {
    fn into_options(self) -> Result<AppendOutput, String> {
        let MatchEntry { source, rule, tags } = self.of;
        let extra_fields = self.extra_fields.iter().map(extra_field).collect::<Result<_, _>>()?;
        let (extra_output, suggested_output) = (self.extra_output, self.suggested_output);
        Ok(AppendOutput { source, rule, tags, extra_output, extra_fields, suggested_output })
    }
}

/// Parses a field's name, or a table of a name with a format.
fn extra_field(value: &toml::Value) -> Result<ExtraField, String> {
    if let Some(field) = value.as_str().filter(|field| !field.is_empty()) {
        return Ok(ExtraField::Field(field.to_owned()));
    }
    let named = value.as_table().filter(|table| table.len() == 1).and_then(|table| table.iter().next());
    match named.and_then(|(name, format)| Some((name, format.as_str()?))) {
        Some((name, format)) => Ok(ExtraField::Format { name: name.clone(), format: format.to_owned() }),
        None => Err(format!(
            "`extra_fields`: `{value}` is not the name of a field, or a table such as `{{ name = \"format\" }}`"
        )),
    }
}
