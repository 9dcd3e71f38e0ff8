//! Reads a type that is written as one of a few words.

use std::error::Error;
use std::fmt;

/// A word that is not one of the words of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    word: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not one of {}", self.word, self.known.join(", "))
    }
}

impl Error for UnknownWord {}

/// Returns the value with this word. `all` are the values of the type.
pub fn from_word<T: Copy>(all: &[T], as_str: fn(T) -> &'static str, word: &str) -> Result<T, UnknownWord> {
    let known = all.iter().copied().find(|value| as_str(*value) == word);
    known.ok_or_else(|| UnknownWord {
        word: word.to_owned(),
        known: all.iter().map(|value| as_str(*value)).collect(),
    })
}
