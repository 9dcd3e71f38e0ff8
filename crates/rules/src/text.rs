//! Text with its origin. A condition is joined from a YAML scalar, appended scalars, list items and exceptions; a
//! problem in it must still point into the file. It knows neither YAML nor the condition grammar.

use std::hash::{Hash, Hasher};
use std::ops::Range;

/// A range of bytes in one of the loaded files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Position of the file among the sources.
    pub(crate) file: usize,
    /// First byte.
    pub(crate) start: usize,
    /// Byte after the last.
    pub(crate) end: usize,
}

impl Place {
    /// The place of text outside rule files.
    pub(crate) const NOWHERE: Self = Self { file: usize::MAX, start: 0, end: 0 };
}

/// Text with the places of its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    text: String,
    /// Ascending by `at`, the first at 0.
    parts: Vec<Part>,
}

/// Hashes the text only. Equal texts at two places are rare, so hashing the parts would cost more than it saves.
impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// A run of text with one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    at: usize,
    place: Place,
    /// True if the file contains the same bytes; otherwise every byte maps to the whole place.
    verbatim: bool,
}

impl Text {
    /// Returns text whose bytes all map to the same place.
    pub(crate) fn derived(text: &str, place: Place) -> Self {
        let mut new = Self::default();
        new.push_derived(text, place);
        new
    }

    /// Returns text that the file contains verbatim from the start of the place.
    pub(crate) fn verbatim(text: &str, place: Place) -> Self {
        Self { text: text.to_owned(), parts: vec![Part { at: 0, place, verbatim: true }] }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn push_derived(&mut self, text: &str, place: Place) {
        self.parts.push(Part { at: self.text.len(), place, verbatim: false });
        self.text.push_str(text);
    }

    /// Appends text that the file contains verbatim from the start of the place.
    pub(crate) fn push_verbatim(&mut self, text: &str, place: Place) {
        self.parts.push(Part { at: self.text.len(), place, verbatim: true });
        self.text.push_str(text);
    }

    pub(crate) fn push(&mut self, other: &Self) {
        let shift = self.text.len();
        self.parts.extend(other.parts.iter().map(|part| Part { at: part.at + shift, ..*part }));
        self.text.push_str(&other.text);
    }

    pub(crate) fn push_range(&mut self, other: &Self, range: Range<usize>) {
        let Some(text) = other.text.get(range.clone()) else { return };
        let shift = self.text.len();
        let first = other.parts.partition_point(|part| part.at <= range.start).saturating_sub(1);
        for part in other.parts.iter().skip(first).take_while(|part| part.at < range.end) {
            let skipped = range.start.saturating_sub(part.at);
            let start = if part.verbatim { part.place.start + skipped } else { part.place.start };
            let place = Place { start: start.min(part.place.end), ..part.place };
            self.parts.push(Part { at: shift + part.at.saturating_sub(range.start), place, ..*part });
        }
        self.text.push_str(text);
    }

    /// Returns the place of a range of the text in the files.
    pub(crate) fn place(&self, range: Range<usize>) -> Place {
        let first = self.byte(range.start);
        let last = self.byte(range.end.saturating_sub(1).max(range.start));
        if first.file == last.file && last.end >= first.start {
            Place { end: last.end.max(first.start), ..first }
        } else {
            first
        }
    }

    fn byte(&self, at: usize) -> Place {
        let index = self.parts.partition_point(|part| part.at <= at).saturating_sub(1);
        let Some(part) = self.parts.get(index) else { return Place { file: 0, start: 0, end: 0 } };
        if !part.verbatim {
            return part.place;
        }
        let start = (part.place.start + at.saturating_sub(part.at)).min(part.place.end);
        Place { start, end: (start + 1).min(part.place.end).max(start), ..part.place }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Text};

    fn at(start: usize, end: usize) -> Place {
        Place { file: 0, start, end }
    }

    #[test]
    fn places_follow_the_parts() {
        let mut text = Text::verbatim("abc", at(10, 13));
        text.push_derived(" rm, ls ", at(40, 43));
        text.push(&Text::verbatim("xyz", at(20, 23)));
        assert_eq!(text.as_str(), "abc rm, ls xyz");
        assert_eq!(text.place(1..3), at(11, 13));
        assert_eq!(text.place(4..6), at(40, 43));
        assert_eq!(text.place(12..13), at(21, 22));

        let mut cut = Text::default();
        cut.push_range(&text, 2..13);
        assert_eq!(cut.as_str(), "c rm, ls xy");
        assert_eq!(cut.place(0..1), at(12, 13));
        assert_eq!(cut.place(3..4), at(40, 43));
        assert_eq!(cut.place(10..11), at(21, 22));
    }
}
