//! Splits the expansions of a word into fields: splits at blanks from expansions, marks patterns and removes quotes.
//! This module must not know variables.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::globs;
use crate::limits::PATTERN_CHARS_MAX;
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Part, Word};

/// A part of an expanded word, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bit {
    Text {
        text: String,
        how: How,
    },
    /// Unknown text.
    Unknown {
        why: Why,
        written: String,
        quoted: bool,
    },
    /// Always ends a field: between the elements of `"$@"`.
    Break,
    /// An empty quoted expansion. It makes a field, unless the field also contains `"$@"` without elements.
    Empty,
    /// `"$@"` without elements.
    Nothing,
}

/// The origin of text in a word, which decides further processing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// In quotes: no further processing.
    Quoted,
    /// Written without quotes: may be a pattern.
    Written,
    /// From an unquoted expansion: is split and may be a pattern; neither in zsh.
    Expanded,
    /// The same, but split in zsh, too: `$=x`.
    Split,
}

impl Bit {
    /// Converts the value of an expansion.
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

    /// Returns the bit of a value that every shell splits.
    pub(crate) fn split(self) -> Bit {
        match self {
            Bit::Text { text, how: How::Expanded } => Bit::Text { text, how: How::Split },
            kept @ (Bit::Text { .. } | Bit::Unknown { .. } | Bit::Break | Bit::Empty | Bit::Nothing) => kept,
        }
    }

    /// Returns the bit as in double quotes.
    pub(crate) fn quoted(self) -> Bit {
        match self {
            Bit::Text { text, .. } => Bit::Text { text, how: How::Quoted },
            Bit::Unknown { why, written, .. } => Bit::Unknown { why, written, quoted: true },
            Bit::Break => Bit::Break,
            Bit::Empty | Bit::Nothing => Bit::Empty,
        }
    }

    /// Returns the bit as in the word of an unquoted expansion: its unquoted text is split.
    pub(crate) fn expanded(self) -> Bit {
        match self {
            Bit::Text { text, how: How::Written } => Bit::Text { text, how: How::Expanded },
            kept @ (Bit::Text { .. } | Bit::Unknown { .. } | Bit::Break | Bit::Empty | Bit::Nothing) => kept,
        }
    }
}

/// Joins the bits into one text, without splitting or pattern matching.
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

/// Returns the only field of a word that is plain text without expansions or patterns. Most words are plain.
pub(crate) fn plain(word: &Word, shell: Shell) -> Option<String> {
    let special: &[u8] = if shell == Shell::Zsh { b"~{*?[(<=^#" } else { b"~{*?[(" };
    let is_special = |byte: u8| special.contains(&byte);
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

/// Options of field splitting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Splitting<'a> {
    /// `IFS`; `None` if unknown.
    pub(crate) separators: Option<&'a str>,
    /// `set -f`: patterns are plain text.
    pub(crate) literal_patterns: bool,
    /// zsh: values are not split.
    pub(crate) whole: bool,
    /// `^`, `#` and `~` are operators of patterns.
    pub(crate) is_extended: bool,
    pub(crate) shell: Shell,
}

/// Returns the fields of one word.
pub(crate) fn fields(bits: &[Bit], splitting: Splitting<'_>) -> Vec<Arg> {
    let mut made = Fields::new(splitting);
    for bit in bits {
        if let (Some(pattern), Bit::Text { text, .. } | Bit::Unknown { written: text, .. }) =
            (&mut made.pattern, bit)
        {
            pattern.push_str(text);
            continue;
        }
        match bit {
            Bit::Text { text, how: How::Quoted } => {
                made.open = true;
                made.pieces.push(Piece::Text(text.clone()));
            }
            Bit::Text { text, how: How::Written } => made.written(text),
            Bit::Text { text, how: How::Expanded } if splitting.whole => made.whole(text),
            Bit::Text { text, how: How::Expanded | How::Split } => made.expanded(text),
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

struct Fields<'a> {
    splitting: Splitting<'a>,
    done: Vec<Arg>,
    pieces: Vec<Piece>,
    /// A field has started, possibly an empty one.
    open: bool,
    splits: bool,
    /// The field contains a [`Bit::Empty`] or a [`Bit::Nothing`].
    empty: bool,
    nothing: bool,
    /// A pattern of zsh that reaches to the end of the field: with parentheses it may have quoted parts.
    pattern: Option<String>,
}

impl<'a> Fields<'a> {
    fn new(splitting: Splitting<'a>) -> Fields<'a> {
        Fields {
            splitting,
            done: Vec::new(),
            pieces: Vec::new(),
            open: false,
            splits: false,
            empty: false,
            nothing: false,
            pattern: None,
        }
    }

    fn end(&mut self) {
        if let Some(pattern) = self.pattern.take() {
            let written = globs::as_pattern(&pattern);
            self.pieces.push(Piece::Unknown { why: Why::Glob, written });
        }
        // Unknown pieces may be empty, and then there is no field.
        self.splits |= self.nothing && self.pieces.iter().all(|piece| matches!(piece, Piece::Unknown { .. }));
        // In dash, an empty expansion in quotes beside `"$@"` is a field.
        let is_field = self.empty && (!self.nothing || self.splitting.shell == Shell::Posix);
        if self.open || is_field {
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
        if let Some(at) = globs::pattern_start(text, self.splitting.shell, self.splitting.is_extended)
            .filter(|_| !self.splitting.literal_patterns)
        {
            let (before, pattern) = text.split_at_checked(at).unwrap_or((text, ""));
            self.pieces.push(Piece::Text(before.to_owned()));
            self.pattern = Some(pattern.to_owned());
            self.splits = true;
            return;
        }
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

    fn whole(&mut self, text: &str) {
        if !text.is_empty() {
            self.open = true;
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    fn expanded(&mut self, text: &str) {
        // ksh expands braces in values, too.
        if self.splitting.shell == Shell::Ksh && text.contains('{') {
            self.open = true;
            self.splits = true;
            self.pieces.push(Piece::Unknown { why: Why::Expansion, written: text.to_owned() });
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
            // The text before the next separator belongs to the field.
            let end = rest.find(|one| separators.contains(one)).unwrap_or(rest.len());
            let (field, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.written(field);
            if after.is_empty() {
                return;
            }
            // A separator is a run of blanks with at most one other separator character.
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

/// Returns the first pattern of unquoted text, with the text before and after it. A bracket needs its closing bracket.
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

/// Returns the bytes of `[...]` at the start of a text.
fn bracket_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let skipped = inner.trim_start_matches(['!', '^']);
    let negation = (inner.len() - skipped.len()).min(1);
    let content = inner.get(negation..)?;
    // A leading `]` is a literal member.
    let first = usize::from(content.starts_with(']'));
    // No bracket pattern contains a slash. Over the limit, the whole name is a pattern: keeps the search linear.
    // `[:alpha:]` in brackets ends none.
    let mut first = first;
    while let Some(class) = content.get(first..).and_then(|rest| rest.strip_prefix("[:")) {
        let Some(length) = class.find(":]").filter(|at| *at < PATTERN_CHARS_MAX) else { break };
        first += length + 4;
    }
    let window = content.get(first..)?;
    let end = window.char_indices().take(PATTERN_CHARS_MAX).find(|(_, one)| matches!(one, ']' | '/'));
    match end {
        Some((end, ']')) => Some(1 + negation + first + end + 1),
        Some(_) => None,
        None => window.char_indices().nth(PATTERN_CHARS_MAX).map(|_| name_length(text)),
    }
}

/// Returns the bytes up to the end of a path component.
fn name_length(text: &str) -> usize {
    text.find('/').unwrap_or(text.len())
}

/// Returns the bytes of `@(...)` at the start of a text.
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
