//! Fields: what the expansions of a word become: split where blanks came from an expansion, patterns marked as such, quotes
//! gone. It must not know variables.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use crate::limits::PATTERN_CHARS_MAX;
use crate::text::Text;
use crate::tree::{Part, Word};

/// A bit of an expanded word, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bit {
    /// Known text.
    Text { text: String, how: How },
    /// Text that is not known.
    Unknown { why: Why, written: String, quoted: bool },
    /// A field ends here whatever stands around it: between the elements of `"$@"`.
    Break,
    /// An expansion in quotes that gave nothing: a field, unless `"$@"` without elements stands in it too.
    Empty,
    /// `"$@"` without elements.
    Nothing,
}

/// How text came into a word, and so what is still done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// In quotes: nothing.
    Quoted,
    /// Written without quotes: it may be a pattern.
    Written,
    /// From an expansion without quotes: it is split and may be a pattern.
    Expanded,
}

impl Bit {
    /// A value that an expansion gave.
    pub(crate) fn of_text(text: &Text, quoted: bool) -> Vec<Bit> {
        let how = if quoted { How::Quoted } else { How::Expanded };
        if text.pieces().is_empty() || text.as_str() == Some("") {
            return vec![if quoted { Bit::Empty } else { Bit::Text { text: String::new(), how } }];
        }
        text.pieces()
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Bit::Text { text: text.clone(), how },
                Piece::Unknown { why, written } => {
                    Bit::Unknown { why: *why, written: written.clone(), quoted }
                }
            })
            .collect()
    }

    /// The same, as if it stood in double quotes.
    pub(crate) fn quoted(self) -> Bit {
        match self {
            Bit::Text { text, .. } => Bit::Text { text, how: How::Quoted },
            Bit::Unknown { why, written, .. } => Bit::Unknown { why, written, quoted: true },
            Bit::Break => Bit::Break,
            Bit::Empty | Bit::Nothing => Bit::Empty,
        }
    }

    /// The same, as the word of an expansion without quotes: its unquoted text is split.
    pub(crate) fn expanded(self) -> Bit {
        match self {
            Bit::Text { text, how: How::Written } => Bit::Text { text, how: How::Expanded },
            kept @ (Bit::Text { .. } | Bit::Unknown { .. } | Bit::Break | Bit::Empty | Bit::Nothing) => kept,
        }
    }
}

/// The bits as one text, neither split nor taken for patterns.
pub(crate) fn text_of(bits: &[Bit]) -> Text {
    let mut text = Text::default();
    for bit in bits {
        match bit {
            Bit::Text { text: known, .. } => text.push_str(known),
            Bit::Unknown { why, written, .. } => text.push_unknown(*why, written),
            Bit::Break => text.push_str(" "),
            Bit::Empty | Bit::Nothing => {}
        }
    }
    text
}

/// The one field of a word that is text alone, of which nothing is expanded and nothing may be a pattern; most words are.
pub(crate) fn plain(word: &Word) -> Option<String> {
    let is_special = |byte: u8| b"~{*?[(".contains(&byte);
    let mut all = String::new();
    let mut is_field = false;
    for part in &word.parts {
        let Part::Text { text, quoted } = part else { return None };
        if !quoted && text.bytes().any(is_special) {
            return None;
        }
        is_field |= *quoted || !text.is_empty();
        all.push_str(text);
    }
    is_field.then_some(all)
}

/// How fields are made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Splitting<'a> {
    /// `IFS`; `None` when it is not known.
    pub(crate) separators: Option<&'a str>,
    /// Patterns are text: `set -f`.
    pub(crate) literal_patterns: bool,
    /// Values are not split: zsh.
    pub(crate) whole: bool,
}

/// The fields that the bits of one word become.
pub(crate) fn fields(bits: &[Bit], splitting: Splitting<'_>) -> Vec<Arg> {
    let mut made = Fields { splitting, ..Fields::default() };
    for bit in bits {
        match bit {
            Bit::Text { text, how: How::Quoted } => {
                made.open = true;
                made.pieces.push(Piece::Text(text.clone()));
            }
            Bit::Text { text, how: How::Written } => made.written(text),
            Bit::Text { text, how: How::Expanded } => made.expanded(text),
            Bit::Unknown { why, written, quoted } => {
                made.open = true;
                made.splits |= !quoted;
                made.pieces.push(Piece::Unknown { why: *why, written: written.clone() });
            }
            Bit::Break => made.end(),
            Bit::Empty => made.empty = true,
            Bit::Nothing => made.nothing = true,
        }
    }
    made.end();
    made.done
}

#[derive(Default)]
struct Fields<'a> {
    splitting: Splitting<'a>,
    done: Vec<Arg>,
    pieces: Vec<Piece>,
    /// There is a field, though perhaps an empty one.
    open: bool,
    splits: bool,
    /// There are [`Bit::Empty`] in it, [`Bit::Nothing`].
    empty: bool,
    nothing: bool,
}

impl Fields<'_> {
    fn end(&mut self) {
        // What is not known may be nothing, and then the field is none.
        self.splits |= self.nothing && self.pieces.iter().all(|piece| matches!(piece, Piece::Unknown { .. }));
        if self.open || (self.empty && !self.nothing) {
            self.done.push(Arg::from_pieces(std::mem::take(&mut self.pieces), self.splits));
        }
        self.pieces.clear();
        self.open = false;
        self.splits = false;
        self.empty = false;
        self.nothing = false;
    }

    fn written(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.open = true;
        if self.splitting.literal_patterns {
            self.pieces.push(Piece::Text(text.to_owned()));
            return;
        }
        let mut rest = text;
        while let Some((before, pattern, after)) = next_pattern(rest) {
            self.pieces.push(Piece::Text(before.to_owned()));
            self.pieces.push(Piece::Unknown { why: Why::Glob, written: pattern.to_owned() });
            self.splits = true;
            rest = after;
        }
        self.pieces.push(Piece::Text(rest.to_owned()));
    }

    fn expanded(&mut self, text: &str) {
        if self.splitting.whole {
            if !text.is_empty() {
                self.open = true;
                self.pieces.push(Piece::Text(text.to_owned()));
            }
            return;
        }
        let Some(separators) = self.splitting.separators else {
            if !text.is_empty() {
                self.open = true;
                self.splits = true;
                self.pieces.push(Piece::Unknown { why: Why::Variable, written: text.to_owned() });
            }
            return;
        };
        let blank = |one: char| separators.contains(one) && matches!(one, ' ' | '\t' | '\n');
        let other = |one: char| separators.contains(one) && !matches!(one, ' ' | '\t' | '\n');
        let mut rest = text;
        loop {
            // What comes before the next separator belongs to the field.
            let end = rest.find(|one| separators.contains(one)).unwrap_or(rest.len());
            let (field, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.written(field);
            if after.is_empty() {
                return;
            }
            // One separator: blanks around at most one other character.
            let mut after = after.trim_start_matches(blank);
            if let Some(stripped) = after.strip_prefix(other) {
                after = stripped.trim_start_matches(blank);
                self.open = true;
            }
            self.end();
            rest = after;
            if rest.is_empty() {
                return;
            }
        }
    }
}

/// The first pattern character of unquoted text with what stands before and after it. A bracket needs its partner.
fn next_pattern(text: &str) -> Option<(&str, &str, &str)> {
    for (at, one) in text.char_indices() {
        let tail = text.get(at..).unwrap_or_default();
        let length = match one {
            '?' | '*' | '+' | '@' | '!' if tail.get(1..).is_some_and(|rest| rest.starts_with('(')) => {
                group_length(tail).unwrap_or(if matches!(one, '?' | '*') { 1 } else { 0 })
            }
            '*' => tail.len() - tail.trim_start_matches('*').len(),
            '?' => 1,
            '[' => bracket_length(tail).unwrap_or(0),
            _ => 0,
        };
        if length > 0 {
            let (before, rest) = text.split_at_checked(at)?;
            let (pattern, after) = rest.split_at_checked(length)?;
            return Some((before, pattern, after));
        }
    }
    None
}

/// Bytes of `[...]` at the beginning of a text.
fn bracket_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let skipped = inner.trim_start_matches(['!', '^']);
    let negation = (inner.len() - skipped.len()).min(1);
    let content = inner.get(negation..)?;
    // A `]` that comes first stands for itself.
    let first = usize::from(content.starts_with(']'));
    // No pattern reaches over a slash. Of a longer one the rest of the name belongs to it: it keeps the search linear.
    let window = content.get(first..)?;
    let end = window.char_indices().take(PATTERN_CHARS_MAX).find(|(_, one)| matches!(one, ']' | '/'));
    match end {
        Some((end, ']')) => Some(1 + negation + first + end + 1),
        Some(_) => None,
        None => window.char_indices().nth(PATTERN_CHARS_MAX).map(|_| name_length(text)),
    }
}

/// Bytes up to the end of a name in a path.
fn name_length(text: &str) -> usize {
    text.find('/').unwrap_or(text.len())
}

/// Bytes of `@(...)` at the beginning of a text.
fn group_length(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, one) in text.char_indices().take(PATTERN_CHARS_MAX) {
        match one {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    text.char_indices().nth(PATTERN_CHARS_MAX).map(|_| name_length(text))
}
