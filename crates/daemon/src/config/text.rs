//! [`read`]: parses the text of a `config.toml` into its keys, or returns every mistake with line and column. It is
//! strict: an unknown key is a mistake, because a misspelt setting is not in force. It must not know other layers.

use std::collections::BTreeMap;
use std::ops::Range;

use castellan_event::Layer;
use castellan_policy::Operator;
use castellan_rules::{AppendOutput, Selection};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, KEYS, Key, Kind, Place, key};
use super::lists::{self, Wrong};
use super::nearest::meant;
use super::schema::lockable;
use crate::limits::MISTAKES_MAX;

/// The supported version.
const VERSION: u32 = 1;

/// A key in a file. Each element of a list of patterns or names is a separate entry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A word of the key's list.
    Word(&'static str),
    /// A text, a pattern or a key's name.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A number.
    Count(u32),
    /// Rules to enable and disable.
    Selections(Vec<Selection>),
    /// Additions to outputs.
    Outputs(Vec<AppendOutput>),
}

impl Value {
    pub(crate) fn word(&self) -> Option<&'static str> {
        if let Value::Word(word) = self { Some(word) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the value as JSON; for a list of tables, the number of tables.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Word(word) => (*word).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Flag(flag) => (*flag).into(),
            Value::Count(count) => (*count).into(),
            Value::Selections(list) => list.len().into(),
            Value::Outputs(list) => list.len().into(),
        }
    }
}

/// Writes the value as TOML; for a list of tables, the number of tables.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Word(word) => write!(f, "{word:?}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Selections(list) => tables(f, list.len()),
            Value::Outputs(list) => tables(f, list.len()),
        }
    }
}

fn tables(f: &mut std::fmt::Formatter<'_>, count: usize) -> std::fmt::Result {
    if count == 0 { write!(f, "[]") } else { write!(f, "[{count} tables]") }
}

/// A mistake in a file with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The mistake, and a suggestion if there is one.
    pub message: String,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Parses a layer's file. Returns at most [`MISTAKES_MAX`] mistakes in the order of the text.
pub(crate) fn read(text: &str, layer: Layer) -> Result<Vec<Said>, Vec<Mistake>> {
    let Reader { said, mut mistakes, .. } = parse(text, layer);
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    if mistakes.is_empty() { Ok(said) } else { Err(mistakes) }
}

/// Returns the names of an earlier version in a text, each with the present name. castellan reads both.
pub(crate) fn former_names(text: &str, layer: Layer) -> Vec<Mistake> {
    parse(text, layer).former
}

fn parse(text: &str, layer: Layer) -> Reader<'_> {
    let mut reader = Reader { starts: line_starts(text), ..Reader::new(text, layer) };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = error.message().replace('\n', "; ");
        reader.mistake(&error.span().unwrap_or_default(), message);
    }
    // The recovered part of a malformed text may differ from the intended text.
    if reader.mistakes.is_empty() && reader.version(table.get_ref()) {
        reader.table("", table.get_ref());
    }
    reader
}

/// Returns the default of a key; `None` for a key without a default and for an empty list.
pub(crate) fn default_of(key: &'static Key) -> Option<Value> {
    let value = DeValue::parse(key.default).ok()?;
    let mut reader = Reader::new("", Layer::Organisation);
    reader.value(key, &value);
    reader.said.pop().map(|said| said.value)
}

struct Reader<'t> {
    text: &'t str,
    /// Offsets of the lines' starts.
    starts: Vec<usize>,
    layer: Layer,
    said: Vec<Said>,
    mistakes: Vec<Mistake>,
    /// Names of an earlier version.
    former: Vec<Mistake>,
    /// The keys so far, each with its name in the text.
    named: BTreeMap<&'static str, (String, Range<usize>)>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, layer: Layer) -> Reader<'t> {
        let (said, mistakes, former) = (Vec::new(), Vec::new(), Vec::new());
        Reader { text, starts: vec![0], layer, said, mistakes, former, named: BTreeMap::new() }
    }

    /// Checks the version of the text. A text of another version is not parsed further.
    fn version(&mut self, table: &DeTable<'_>) -> bool {
        let before = self.mistakes.len();
        match table.get("version") {
            None => self.mistake(&(0..0), format!("`version` is missing: begin with `version = {VERSION}`")),
            Some(value) => match count(value.get_ref()) {
                Some(VERSION) => {}
                Some(other) => {
                    self.mistake(
                        &value.span(),
                        format!("`version` is {other}, but this castellan reads {VERSION}: update castellan, or write {VERSION}"),
                    );
                }
                None => self.wrong(&value.span(), "version", "a number", value.get_ref()),
            },
        }
        self.mistakes.len() == before
    }

    /// Parses the keys of a table; `above` is its name with a dot.
    fn table(&mut self, above: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let full = format!("{above}{}", name.get_ref());
            let is_table = KEYS
                .iter()
                .any(|key| key.name.strip_prefix(full.as_str()).is_some_and(|rest| rest.starts_with('.')));
            match (key(&full), value.get_ref()) {
                (Some(key), _) => {
                    self.note_former(&full, &name.span());
                    self.only_one_name(key, &full, &name.span());
                    self.key(key, &name.span(), value);
                }
                (None, DeValue::Table(below)) if is_table => self.table(&format!("{full}."), below),
                (None, other) if is_table => self.wrong(&value.span(), &full, "a table", other),
                (None, _) => self.unknown(&full, &name.span(), matches!(value.get_ref(), DeValue::Table(_))),
            }
        }
    }

    fn note_former(&mut self, name: &str, span: &Range<usize>) {
        let present = keys::present_name(name);
        if present != name && self.former.len() < MISTAKES_MAX {
            let message = format!("`{name}` is now `{present}`: use that name");
            let note = self.placed(span, message);
            self.former.push(note);
        }
    }

    /// Reports a key that the text sets twice: by its former name and by its present name.
    fn only_one_name(&mut self, key: &'static Key, name: &str, span: &Range<usize>) {
        let this = (name.to_owned(), span.clone());
        let Some(other) = self.named.insert(key.name, this.clone()) else { return };
        let (former, span) = if other.0 == key.name { this } else { other };
        let present = key.name;
        self.mistake(
            &span,
            format!("`{former}` and `{present}` are one key: remove `{former}`, keep `{present}`"),
        );
    }

    fn unknown(&mut self, name: &str, span: &Range<usize>, is_table: bool) {
        self.mistake(span, unknown(name, is_table));
    }

    fn key(&mut self, key: &'static Key, span: &Range<usize>, value: &Spanned<DeValue<'_>>) {
        match misplaced(key, self.layer) {
            Some(why) => self.mistake(span, why),
            None => self.value(key, value),
        }
    }

    fn value(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let (span, given) = (value.span(), value.get_ref());
        match key.kind {
            // Already checked by `version`.
            Kind::Version => {}
            Kind::Word(words) => match given.as_str() {
                Some(given) => match words.iter().find(|word| **word == given) {
                    Some(word) => self.add(key, &span, Value::Word(word)),
                    None => self.no_word(key, &span, given, words),
                },
                None => self.wrong(&span, key.name, "a text", given),
            },
            Kind::Text => match given.as_str() {
                Some("") => {
                    self.mistake(&span, format!("`{}` is empty: name a tag, or remove the key", key.name));
                }
                Some(text) => self.add(key, &span, Value::Text(text.to_owned())),
                None => self.wrong(&span, key.name, "a text", given),
            },
            Kind::Flag => match given.as_bool() {
                Some(flag) => self.add(key, &span, Value::Flag(flag)),
                None => self.wrong(&span, key.name, "true or false", given),
            },
            Kind::Count(least) => match count(given).filter(|count| *count >= least) {
                Some(count) => self.add(key, &span, Value::Count(count)),
                None => {
                    let wanted = format!("a whole number from {least} to {}", u32::MAX);
                    self.wrong(&span, key.name, &wanted, given);
                }
            },
            Kind::Patterns | Kind::Texts | Kind::Names => self.elements(key, value),
            Kind::Selections => self.list(key, value, lists::selections, Value::Selections),
            Kind::Outputs => self.list(key, value, lists::outputs, Value::Outputs),
        }
    }

    /// Parses the elements of a list of texts.
    fn elements(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(elements) = value.get_ref() else {
            return self.wrong(&value.span(), key.name, "a list of texts", value.get_ref());
        };
        for element in elements.iter() {
            let span = element.span();
            let DeValue::String(text) = element.get_ref() else {
                self.wrong(&span, key.name, "a list of texts", element.get_ref());
                continue;
            };
            let is_blank = text.trim().is_empty();
            let wrong = if key.kind == Kind::Names {
                lock_error(text)
            } else if key.kind == Kind::Texts {
                is_blank.then(|| format!("`{}` has an empty text: remove it", key.name))
            } else {
                pattern_error(key.name, text)
            };
            match wrong {
                Some(why) => self.mistake(&span, why),
                None if key.kind == Kind::Names => {
                    self.note_former(text, &span);
                    self.add(key, &span, Value::Text(keys::present_name(text).to_owned()));
                }
                None => self.add(key, &span, Value::Text(text.clone().into_owned())),
            }
        }
    }

    /// Parses a list of tables as a single value.
    fn list<T>(
        &mut self,
        key: &'static Key,
        value: &Spanned<DeValue<'_>>,
        read: fn(Spanned<DeValue<'_>>) -> Result<T, Wrong>,
        make: fn(T) -> Value,
    ) {
        match read(value.clone()) {
            Ok(list) => self.add(key, &value.span(), make(list)),
            Err((span, why)) => self.mistake(&span, format!("`{}`: {why}", key.name)),
        }
    }

    fn add(&mut self, key: &'static Key, span: &Range<usize>, value: Value) {
        let line = self.line(span.start);
        self.said.push(Said { key, value, line });
    }

    fn no_word(&mut self, key: &Key, span: &Range<usize>, given: &str, words: &[&'static str]) {
        let (known, meant) = (words.join(", "), meant(given, words.iter().copied()));
        self.mistake(span, format!("`{}`: `{given}` is not one of {known}{meant}", key.name));
    }

    fn wrong(&mut self, span: &Range<usize>, name: &str, wanted: &str, given: &DeValue<'_>) {
        let given = match given {
            DeValue::Integer(number) => format!("`{number}`"),
            DeValue::String(_) => "a text".to_owned(),
            DeValue::Float(_) => "a number with a fraction".to_owned(),
            DeValue::Boolean(flag) => format!("`{flag}`"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.mistake(span, format!("`{name}` must be {wanted}, not {given}"));
    }

    fn mistake(&mut self, span: &Range<usize>, message: String) {
        if self.mistakes.len() >= MISTAKES_MAX {
            return;
        }
        let mistake = self.placed(span, message);
        self.mistakes.push(mistake);
    }

    fn placed(&self, span: &Range<usize>, message: String) -> Mistake {
        let line = self.line(span.start);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let column = self.text.get(start..span.start).map_or(0, |before| before.chars().count()) + 1;
        Mistake { line, column, message }
    }

    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).max(1)
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

fn count(value: &DeValue<'_>) -> Option<u32> {
    let integer = value.as_integer()?;
    u32::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// Returns the key with a name, if the user's file may set it. The error names the mistake and the key that may be
/// meant.
pub fn settable_key(name: &str) -> Result<&'static Key, String> {
    let key = key(name).ok_or_else(|| unknown(name, false))?;
    misplaced(key, Layer::User).map_or(Ok(key), Err)
}

fn unknown(name: &str, is_table: bool) -> String {
    if name == "packs.self" {
        return "castellan's own rules (the pack `self`) are always enforced: remove this key".to_owned();
    }
    let tables = keys::names().filter_map(|name| Some(name.split_once('.')?.0));
    let (what, meant) =
        if is_table { ("table", meant(name, tables)) } else { ("key", meant(name, keys::names())) };
    let remedy = if meant.is_empty() { ": `castellan config show` lists all keys".to_owned() } else { meant };
    format!("unknown {what} `{name}`{remedy}")
}

/// Returns the reason why a layer's file may not set a key.
fn misplaced(key: &Key, layer: Layer) -> Option<String> {
    let name = key.name;
    match (key.place, layer) {
        (Place::Every, _)
        | (Place::Organisation, Layer::Organisation)
        | (Place::AboveProject, Layer::Organisation | Layer::User) => None,
        (Place::Organisation, _) => {
            Some(format!("`{name}` is valid only in the organisation's file: remove it here"))
        }
        (Place::AboveProject, Layer::Project) => {
            Some(format!("`{name}` is not valid in a project's file, where it could loosen: remove it here"))
        }
        (Place::Profile, _) => Some(format!("`{name}` cannot be set: choose a `profile` that presets it")),
    }
}

/// Returns the error in a name of `locked`.
fn lock_error(text: &str) -> Option<String> {
    let is_known = lockable().any(|name| name == keys::present_name(text));
    (!is_known)
        .then(|| format!("`locked`: `{text}` is not a key that can be locked{}", meant(text, lockable())))
}

/// Returns the error in a short rule. Its form is the same in all lists.
fn pattern_error(name: &str, text: &str) -> Option<String> {
    let list = [text.to_owned()];
    let read = match name {
        "ask" => Operator::parse(&[], &list, &[]),
        "allow" => Operator::parse(&[], &[], &list),
        _ => Operator::parse(&list, &[], &[]),
    };
    read.err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests;
