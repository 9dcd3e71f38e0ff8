//! Text of words: quotes and escapes taken off, as the shell does in each place.

use crate::tree::Part;

/// Where text stands: which escapes it has, and what is not text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Outside quotes, where a blank or an operator ends the word.
    Bare,
    /// Outside quotes, but inside of something: a pattern, an operand in `${...}`, an index.
    Inner,
    /// In double quotes.
    Quoted,
    /// In the body of a heredoc, and in arithmetic: as in double quotes, but these are text.
    Body,
}

impl Place {
    /// What stands there is neither split nor taken for a pattern.
    pub(super) const fn quoted(self) -> bool {
        !self.bare()
    }

    const fn bare(self) -> bool {
        matches!(self, Place::Bare | Place::Inner)
    }
}

/// Appends text, joined with the text before it.
pub(super) fn push_text(parts: &mut Vec<Part>, text: &str, quoted: bool) {
    if let Some(Part::Text { text: last, quoted: as_last }) = parts.last_mut()
        && *as_last == quoted
    {
        last.push_str(text);
        return;
    }
    parts.push(Part::Text { text: text.to_owned(), quoted });
}

/// Appends source text without its escapes.
pub(super) fn push_unescaped(parts: &mut Vec<Part>, source: &str, place: Place) {
    let mut rest = source;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        if !plain.is_empty() {
            push_text(parts, plain, place.quoted());
        }
        let Some(next) = escaped.chars().next() else {
            push_text(parts, "\\", place.quoted());
            return;
        };
        let after = escaped.get(next.len_utf8()..).unwrap_or_default();
        let character = escaped.get(..next.len_utf8()).unwrap_or_default();
        match (place, next) {
            (_, '\n') => {}
            (Place::Bare | Place::Inner, _) | (_, '$' | '`' | '\\') | (Place::Quoted, '"') => {
                push_text(parts, character, true)
            }
            (Place::Quoted | Place::Body, _) => {
                push_text(parts, "\\", true);
                push_text(parts, character, true);
            }
        }
        rest = after;
    }
    if !rest.is_empty() {
        push_text(parts, rest, place.quoted());
    }
}

/// There is something in source text that the shell does not take for text: the parser left it unparsed.
pub(super) fn is_active(source: &str, place: Place) -> bool {
    let mut characters = source.chars().peekable();
    let mut grouped = false;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let active = match character {
            '\\' => {
                characters.next();
                false
            }
            '`' => true,
            '$' => next.is_some_and(|next| match next {
                '"' | '\'' => place.bare(),
                '(' | '{' | '[' | '@' | '*' | '#' | '?' | '$' | '!' | '-' | '_' => true,
                _ => next.is_ascii_alphanumeric(),
            }),
            '\'' => place.bare(),
            '"' => place != Place::Body,
            '<' | '>' if next == Some('(') => place.bare(),
            // In `@(...)` these are part of the word.
            '(' => {
                grouped = true;
                false
            }
            '<' | '>' | '|' | '&' | ';' | ' ' | '\t' | '\n' => place == Place::Bare && !grouped,
            _ => false,
        };
        if active {
            return true;
        }
    }
    false
}
