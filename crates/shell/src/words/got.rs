//! The place of an expanded value, and the value itself. This module must not know words.

use castellan_event::Why;

use crate::state::Key;
use crate::text::Text;

/// The value of a parameter.
#[derive(Debug, Clone)]
pub(super) enum Got {
    /// Unset.
    Unset,
    /// A single text.
    One(Text),
    /// Several texts: `$@`, `${a[@]}`; `joined` for `$*` and `${a[*]}`.
    Many { values: Vec<Text>, joined: bool },
    /// Any value. `several`: even in quotes it may be no argument, or several.
    Unknown { why: Why, several: bool },
}

impl Got {
    /// Returns the known values.
    pub(super) fn texts(&self) -> Vec<Text> {
        match self {
            Got::One(text) => vec![text.clone()],
            Got::Many { values, .. } => values.clone(),
            Got::Unset | Got::Unknown { .. } => Vec::new(),
        }
    }
}

/// The selected element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    /// No index.
    Whole,
    Each,
    Joined,
    Key(Key),
    /// zsh: `[first,last]`, each from 1, or from the end below 0.
    Range(i64, i64),
    Unknown,
}

/// An expansion: its parameter, and its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expanded<'a> {
    pub(super) name: &'a str,
    pub(super) index: &'a At,
    /// In double quotes.
    pub(super) quoted: bool,
    pub(super) written: &'a str,
}
