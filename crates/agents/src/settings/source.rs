//! A JSONC text with the positions of its tokens, and two edits. [`Source::insert`] adds an item at the end of an
//! object or array, and [`Source::remove`] removes one. All other bytes stay. This module must not know hooks.
//!
//! The white space before an item shows how it was added, so that a removal is exact:
//! * One line break: the closing bracket already had its own line, or the bracket was added with the item. So a single
//!   item after one line break is removed with its brackets.
//! * A blank line: the line break after the item was added, too.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::Value as Json;

use super::SettingsProblem;

/// A parsed text.
pub(crate) struct Source<'t> {
    text: &'t str,
    /// The value; `None` if the text has only white space and comments.
    pub(crate) root: Option<Value<'t>>,
    tokens: Vec<TokenAndRange<'t>>,
    line_break: &'static str,
}

/// The brackets of an object or array and the items between them.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    range: Range,
    items: Vec<Range>,
}

impl Spot {
    /// Returns the spot of an object.
    pub(crate) fn object(object: &Object<'_>) -> Spot {
        Spot { range: object.range, items: object.properties.iter().map(Ranged::range).collect() }
    }

    /// Returns the spot of an array.
    pub(crate) fn array(array: &Array<'_>) -> Spot {
        Spot { range: array.range, items: array.elements.iter().map(Ranged::range).collect() }
    }

    fn close(&self) -> usize {
        self.range.end.saturating_sub(1)
    }
}

impl<'t> Source<'t> {
    /// Parses JSON with comments and trailing commas, and rejects every other extension.
    pub(crate) fn parse(text: &'t str) -> Result<Source<'t>, SettingsProblem> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| SettingsProblem::NotJson {
            line: error.line_display(),
            column: error.column_display(),
            message: error.kind().to_string().to_lowercase(),
        })?;
        let first_line = text.split_inclusive('\n').next().unwrap_or_default();
        let line_break = if first_line.ends_with("\r\n") { "\r\n" } else { "\n" };
        Ok(Source { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default(), line_break })
    }

    /// Adds a value at the beginning of a text that has none.
    pub(crate) fn insert_root(&self, value: &Json) -> String {
        format!("{}{}{}", self.pretty("", value, ""), self.line_break, self.text)
    }

    /// Returns the text with an item added at the end of `spot`; `key` is empty in an array.
    pub(crate) fn insert(&self, spot: &Spot, key: &str, value: &Json) -> String {
        let last_item_end = spot.items.last().map(|item| item.end);
        let comma_follows = last_item_end.is_some_and(|end| self.comma_in(end, spot.close()).is_some());
        let at = self.token_end_before(spot.close());
        let closes_on_own_line = self.slice(at, spot.close()).contains('\n');
        let blank_line = spot.items.is_empty() || !closes_on_own_line;
        let closing_indent = self.line_indent(spot.range.start);
        let indent = format!("{closing_indent}{}", self.indent_unit());

        let mut added = self.line_break.repeat(if blank_line { 2 } else { 1 });
        added.push_str(&indent);
        added.push_str(&self.pretty(key, value, &indent));
        if comma_follows {
            added.push(',');
        }
        if blank_line {
            added.push_str(self.line_break);
            added.push_str(closing_indent);
        }
        match last_item_end.filter(|_| !comma_follows) {
            Some(end) => self.splice(&[(end..end, ","), (at..at, &added)]),
            None => self.splice(&[(at..at, &added)]),
        }
    }

    /// Returns the text without an item and the brackets that were added with it. `way` leads from the item outwards.
    pub(crate) fn remove_with_brackets(&self, way: &[(Spot, usize)]) -> String {
        let came_with_brackets =
            |spot: &Spot, index| spot.items.len() == 1 && !self.has_blank_line_before(spot, index);
        match way.iter().find(|(spot, index)| !came_with_brackets(spot, *index)) {
            Some((spot, index)) => self.remove(spot, *index),
            None => self.without_root(),
        }
    }

    /// Returns the text without an item; the brackets stay.
    pub(crate) fn remove(&self, spot: &Spot, index: usize) -> String {
        let Some(item) = spot.items.get(index) else {
            return self.text.to_owned();
        };
        let start = self.token_end_before(item.start);
        let next_item_start = spot.items.get(index + 1).map(|next| next.start);
        let comma_after = self.comma_in(item.end, next_item_start.unwrap_or(spot.close()));
        let mut end = comma_after.map_or(item.end, |comma| comma.end);
        if next_item_start.is_none() && self.has_blank_line_before(spot, index) {
            let closing_line = format!("{}{}", self.line_break, self.line_indent(spot.range.start));
            if self.slice(end, self.text.len()).starts_with(&closing_line) {
                end += closing_line.len();
            }
        }
        let previous = index.checked_sub(1).and_then(|index| spot.items.get(index));
        let comma_before = previous.and_then(|previous| self.comma_in(previous.end, item.start));
        match comma_before.filter(|_| comma_after.is_none()) {
            Some(comma) => self.splice(&[(comma.start..comma.end, ""), (start..end, "")]),
            None => self.splice(&[(start..end, "")]),
        }
    }

    fn without_root(&self) -> String {
        let Some(range) = self.root.as_ref().map(Ranged::range) else {
            return self.text.to_owned();
        };
        let after = self.slice(range.end, self.text.len());
        let end =
            if after.starts_with(self.line_break) { range.end + self.line_break.len() } else { range.end };
        self.splice(&[(range.start..end, "")])
    }

    fn has_blank_line_before(&self, spot: &Spot, index: usize) -> bool {
        let start = spot.items.get(index).map_or(0, |item| item.start);
        self.slice(self.token_end_before(start), start).matches('\n').count() > 1
    }

    /// The end of the last token or comment before `position`.
    fn token_end_before(&self, position: usize) -> usize {
        let count = self.tokens.partition_point(|token| token.end() <= position);
        count.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, Ranged::end)
    }

    fn comma_in(&self, start: usize, end: usize) -> Option<Range> {
        let first = self.tokens.partition_point(|token| token.start() < start);
        let after = self.tokens.iter().skip(first).take_while(|token| token.start() < end);
        after.filter(|token| token.token == Token::Comma).map(Ranged::range).next()
    }

    fn line_indent(&self, position: usize) -> &'t str {
        let line = self.slice(0, position).rsplit('\n').next().unwrap_or_default();
        let rest = line.trim_start_matches([' ', '\t']);
        line.strip_suffix(rest).unwrap_or_default()
    }

    /// The indentation of the text's first level; two spaces if the text shows none.
    fn indent_unit(&self) -> &'t str {
        let first = self.root.as_ref().and_then(Value::as_object).and_then(|root| root.properties.first());
        let unit = first.map(|property| self.line_indent(property.start())).unwrap_or_default();
        if unit.is_empty() { "  " } else { unit }
    }

    /// Writes an item over several lines; `indent` precedes each line after the first.
    fn pretty(&self, key: &str, value: &Json, indent: &str) -> String {
        let unit = self.indent_unit();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        let mut bytes = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Writing a JSON value into memory cannot fail.
        let _ = value.serialize(&mut serializer);
        let text = String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{indent}", self.line_break));
        if key.is_empty() { text } else { format!("{}: {text}", Json::from(key)) }
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Replaces ranges, which must be in order and must not overlap.
    fn splice(&self, edits: &[(std::ops::Range<usize>, &str)]) -> String {
        let mut edited = String::with_capacity(self.text.len());
        let mut done = 0;
        for (range, replacement) in edits {
            edited.push_str(self.slice(done, range.start));
            edited.push_str(replacement);
            done = range.end;
        }
        edited.push_str(self.slice(done, self.text.len()));
        edited
    }
}
