//! Words of a command pattern. A word in quotes is exact; in any other, `*` matches any text.

use castellan_event::{matches_star, single_quoted};

use super::PatternError;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// Exactly this text.
    Exact(String),
    /// A text with at least one `*`, which matches any text.
    Star(String),
}

impl Word {
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Word::Exact(exact) => exact == text,
            Word::Star(pattern) => matches_star(pattern, text),
        }
    }

    /// Reports whether the word matches everything that the other matches. False if that is not sure.
    pub(super) fn includes(&self, other: &Word) -> bool {
        match (self, other) {
            (_, Word::Exact(text)) => self.matches(text),
            (Word::Star(one), Word::Star(other)) => one == other || one.bytes().all(|byte| byte == b'*'),
            (Word::Exact(_), Word::Star(_)) => false,
        }
    }

    /// Returns the word as written in a pattern.
    pub(super) fn text(&self) -> String {
        match self {
            Word::Exact(text) if is_plain(text) => text.clone(),
            Word::Exact(text) => single_quoted(text),
            Word::Star(text) => text.clone(),
        }
    }
}

/// Splits the text of a pattern at blanks. `'...'` and `\x` are literal text.
pub(super) fn words(text: &str) -> Result<Vec<Word>, PatternError> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        if letters.peek().is_none() {
            return Ok(words);
        }
        let (mut word, mut is_quoted, mut has_star) = (String::new(), false, false);
        while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace()) {
            match letter {
                '\'' => {
                    is_quoted = true;
                    loop {
                        match letters.next() {
                            Some('\'') => break,
                            Some(inner) => word.push(inner),
                            None => return Err(PatternError::Quote),
                        }
                    }
                }
                '\\' => {
                    is_quoted = true;
                    word.push(letters.next().ok_or(PatternError::Escape)?);
                }
                other => {
                    has_star |= other == '*';
                    word.push(other);
                }
            }
        }
        words.push(match (has_star, is_quoted) {
            (true, true) => return Err(PatternError::StarAndQuote),
            (true, false) => Word::Star(word),
            (false, _) => Word::Exact(word),
        });
    }
}

/// Reports whether a text means itself without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(|letter: char| letter.is_whitespace() || matches!(letter, '*' | '\'' | '\\'))
}
