//! The table `[rules]`: how rule files are read, which of their rules count, and when edited files come into force. It must
//! not know what the loader makes of it.

use castellan_rules::{AppendOutput, Engine, ExtraField, Matching, Options, Priority, Selected, Selection};
use serde::Deserialize;

/// When edited rule files come into force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reload {
    /// When a person has applied them.
    #[default]
    Apply,
    /// At once, whoever has edited them.
    Watch,
}

impl Reload {
    /// The word of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Reload::Apply => "apply",
            Reload::Watch => "watch",
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RulesTable {
    reload: Option<String>,
    regex_compat: Option<String>,
    engine: Option<String>,
    matching: Option<String>,
    priority: Option<String>,
    #[serde(default)]
    select: Vec<SelectEntry>,
    #[serde(default)]
    append_output: Vec<AppendEntry>,
}

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

const RELOADS: &[(&str, Reload)] = &[("apply", Reload::Apply), ("watch", Reload::Watch)];

impl RulesTable {
    /// What the table means, or which of its keys is wrong.
    pub(super) fn into_options(self) -> Result<(Options, Reload), String> {
        let default = Options::default();
        let reload = word("reload", self.reload.as_deref(), RELOADS)?.unwrap_or_default();
        let engine = word("engine", self.engine.as_deref(), Engine::WORDS)?;
        let matching = word("matching", self.matching.as_deref(), Matching::WORDS)?;
        let regex_compat = word("regex_compat", self.regex_compat.as_deref(), Options::REGEX_COMPAT_WORDS)?;
        let priority = self.priority.as_deref().map(str::parse::<Priority>).transpose();
        let options = Options {
            engine: engine.unwrap_or(default.engine),
            matching: matching.unwrap_or(default.matching),
            regex_compat_falco: regex_compat.unwrap_or(default.regex_compat_falco),
            priority: priority
                .map_err(|error| format!("`rules.priority`: {error}"))?
                .unwrap_or(default.priority),
            selection: self.select.into_iter().map(SelectEntry::into_selection).collect::<Result<_, _>>()?,
            append_output: self
                .append_output
                .into_iter()
                .map(AppendEntry::into_options)
                .collect::<Result<_, _>>()?,
            ..default
        };
        Ok((options, reload))
    }
}

/// The meaning of a key's word; `None` when the key is left out.
fn word<T: Copy>(key: &str, given: Option<&str>, words: &[(&str, T)]) -> Result<Option<T>, String> {
    let Some(given) = given else { return Ok(None) };
    match words.iter().find(|(word, _)| *word == given) {
        Some((_, meaning)) => Ok(Some(*meaning)),
        None => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Err(format!("`rules.{key}`: `{given}` is none of {}", words.join(", ")))
        }
    }
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
            return Err(format!("`rules.select`: the `{key}` is empty: name one, or `rule = \"*\"` for all"));
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

/// A field's name, or one name with a format.
fn extra_field(value: &toml::Value) -> Result<ExtraField, String> {
    if let Some(field) = value.as_str().filter(|field| !field.is_empty()) {
        return Ok(ExtraField::Field(field.to_owned()));
    }
    let named = value.as_table().filter(|table| table.len() == 1).and_then(|table| table.iter().next());
    match named.and_then(|(name, format)| Some((name, format.as_str()?))) {
        Some((name, format)) => Ok(ExtraField::Format { name: name.clone(), format: format.to_owned() }),
        None => Err(format!(
            "`rules.append_output.extra_fields`: `{value}` is neither a field's name nor {{ name = \"format\" }}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a table; of an error, `expected` is a part.
    fn check(text: &str, expected: Result<Options, &str>) {
        let read = toml::from_str::<RulesTable>(text).map_err(|error| error.message().to_owned());
        match (read.and_then(RulesTable::into_options), expected) {
            (Ok((options, _)), Ok(expected)) => {
                assert_eq!(format!("{options:?}"), format!("{expected:?}"), "{text}");
            }
            (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message} lacks {part}"),
            (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn every_key_has_its_meaning() {
        let options = Options::default;
        check("", Ok(options()));
        check("engine = '0.44'", Ok(Options { engine: Engine::V0_44, ..options() }));
        check("matching = 'first'", Ok(Options { matching: Matching::First, ..options() }));
        check("regex_compat = 'falco'", Ok(Options { regex_compat_falco: true, ..options() }));
        check("priority = 'warning'", Ok(Options { priority: Priority::Warning, ..options() }));
        let selection = vec![
            Selection { enable: false, of: Selected::Rule("*".to_owned()) },
            Selection { enable: true, of: Selected::Tag("x".to_owned()) },
        ];
        let select = "select = [{disable = {rule = '*'}}, {enable = {tag = 'x'}}]";
        check(select, Ok(Options { selection, ..options() }));
    }

    #[test]
    fn outputs_are_appended_as_falco_writes_it() {
        let text = "[[append_output]]\nmatch = {source = 's', rule = 'r', tags = ['t', 'u']}\n\
                    extra_output = 'o'\nextra_fields = ['f', {n = '%g'}]\nsuggested_output = true\n\
                    [[append_output]]\nextra_output = 'p'";
        let full = AppendOutput {
            source: Some("s".to_owned()),
            rule: Some("r".to_owned()),
            tags: vec!["t".to_owned(), "u".to_owned()],
            extra_output: Some("o".to_owned()),
            extra_fields: vec![
                ExtraField::Field("f".to_owned()),
                ExtraField::Format { name: "n".to_owned(), format: "%g".to_owned() },
            ],
            suggested_output: true,
        };
        let bare = AppendOutput { extra_output: Some("p".to_owned()), ..AppendOutput::default() };
        check(text, Ok(Options { append_output: vec![full, bare], ..Options::default() }));
    }

    #[test]
    fn an_error_names_key_and_words() {
        check("engine = '0.42'", Err("`rules.engine`: `0.42` is none of 0.43, 0.44"));
        check("matching = 'last'", Err("`rules.matching`: `last` is none of all, first"));
        check("reload = 'always'", Err("`rules.reload`: `always` is none of apply, watch"));
        check("regex_compat = ''", Err("`rules.regex_compat`: `` is none of strict, falco"));
        check("priority = 'urgent'", Err("`rules.priority`: `urgent` is not a priority; use one of: "));
        check("engin = '0.44'", Err("unknown field `engin`"));
        check(
            "select = [{enabel = {tag = 'x'}}]",
            Err("unknown variant `enabel`, expected `enable` or `disable`"),
        );
        check("select = [{enable = {name = 'x'}}]", Err("unknown variant `name`, expected `rule` or `tag`"));
        check("select = [{enable = {tag = 'x'}, disable = {tag = 'y'}}]", Err("1 element"));
        check("select = [{enable = {tag = ''}}]", Err("`rules.select`: the `tag` is empty"));
        check("[[append_output]]\nmatch = {rules = 'x'}", Err("unknown field `rules`"));
        check("[[append_output]]\nextra = 'x'", Err("unknown field `extra`"));
        for fields in ["['']", "[1]", "[{}]", "[{a = 'b', c = 'd'}]", "[{a = 1}]"] {
            check(
                &format!("[[append_output]]\nextra_fields = {fields}"),
                Err("is neither a field's name nor"),
            );
        }
    }

    #[test]
    fn edited_files_wait_unless_they_are_watched() {
        let reload = |text: &str| toml::from_str::<RulesTable>(text).unwrap().into_options().unwrap().1;
        assert_eq!(reload(""), Reload::Apply);
        for (word, expected) in RELOADS {
            assert_eq!(reload(&format!("reload = '{word}'")), *expected);
            assert_eq!(expected.as_str(), *word);
        }
    }
}
