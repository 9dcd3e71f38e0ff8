//! Maps each character of a scalar's value to its bytes in the file, without quotes, escapes, line folds and
//! indentation. A run that is equal in both becomes one part of the text, so that places stay exact.

use saphyr_parser::ScalarStyle;

use crate::text::{Place, Text};

/// Aligns a scalar's value with its bytes in the file.
pub(crate) fn align(value: &str, raw: &str, style: ScalarStyle, place: Place) -> Text {
    let quotes = match style {
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => 1,
        ScalarStyle::Plain => 0,
        // The text of a block begins after its header line; the parser may have omitted the header.
        ScalarStyle::Literal | ScalarStyle::Folded if raw.starts_with(['|', '>']) => {
            raw.find('\n').map_or(0, |at| at + 1)
        }
        ScalarStyle::Literal | ScalarStyle::Folded => 0,
    };
    let from = Place { start: (place.start + quotes).min(place.end), ..place };
    if raw.get(quotes..).is_some_and(|rest| rest.starts_with(value)) {
        return Text::verbatim(value, from);
    }
    let mut text = Text::default();
    let mut run = Run { value_start: 0, raw_start: quotes };
    let (mut at, mut cursor) = (0, quotes);
    while let Some(char) = value.get(at..).and_then(|rest| rest.chars().next()) {
        let found = find(raw, cursor, char, style);
        if found - run.raw_start != at - run.value_start {
            run.end(&mut text, value, at, place);
            run = Run { value_start: at, raw_start: found };
        }
        // A blank for a fold or an escape does not move the cursor.
        let same = same(value.get(at..).unwrap_or_default(), raw.get(found..).unwrap_or_default(), style);
        (at, cursor) = (at + same.max(char.len_utf8()), found + same);
    }
    run.end(&mut text, value, value.len(), place);
    text
}

/// Start of a run that is equal in both texts.
struct Run {
    value_start: usize,
    raw_start: usize,
}

impl Run {
    fn end(&self, text: &mut Text, value: &str, end: usize, place: Place) {
        let Some(part) = value.get(self.value_start..end).filter(|part| !part.is_empty()) else { return };
        let start = (place.start + self.raw_start).min(place.end);
        text.push_verbatim(part, Place { start, ..place });
    }
}

/// Returns the number of equal bytes at the start of both, up to a later character that may be an escape.
fn same(value: &str, raw: &str, style: ScalarStyle) -> usize {
    let escape = if style == ScalarStyle::DoubleQuoted { Some(b'\\') } else { None };
    let both = value.bytes().zip(raw.bytes()).enumerate();
    let same =
        both.take_while(|(at, (one, other))| one == other && (*at == 0 || Some(*one) != escape)).count();
    value.floor_char_boundary(same)
}

/// Search limit for a character: beyond any indentation, and short enough to keep the walk linear.
const SCAN_MAX: usize = 256;

/// Returns the next place of a character of the value at or after `cursor`.
fn find(raw: &str, cursor: usize, char: char, style: ScalarStyle) -> usize {
    let rest = raw.get(cursor..).unwrap_or_default();
    if char.is_whitespace() {
        return cursor;
    }
    let mut escaped = false;
    for (at, candidate) in rest.char_indices().take(SCAN_MAX) {
        let escape = style == ScalarStyle::DoubleQuoted && candidate == '\\' && !escaped;
        if candidate == char && !escape {
            return cursor + at;
        }
        escaped = escape;
    }
    cursor
}

#[cfg(test)]
mod tests {
    use saphyr_parser::ScalarStyle;

    use super::align;
    use crate::text::Place;

    #[test]
    fn characters_are_found_where_they_were_written() {
        for (value, raw, style, needle) in [
            ("a = b", "a = b", ScalarStyle::Plain, "b"),
            ("a = \"x\"", r#""a = \"x\"""#, ScalarStyle::DoubleQuoted, "x"),
            ("a = 'x' z", "'a = ''x'' z'", ScalarStyle::SingleQuoted, "z"),
            ("a = b or c = d\n", ">\n    a = b\n    or c = d\n", ScalarStyle::Folded, "or c"),
            ("a\nb", "|-\n  a\n  b", ScalarStyle::Literal, "b"),
            ("a b", "a\n  b", ScalarStyle::Plain, "b"),
        ] {
            let place = Place { file: 0, start: 0, end: raw.len() };
            let text = align(value, raw, style, place);
            assert_eq!(text.as_str(), value);
            let at = value.find(needle).unwrap();
            let found = text.place(at..at + needle.len());
            assert_eq!(raw.get(found.start..found.end), Some(needle), "{raw}");
        }
    }
}
