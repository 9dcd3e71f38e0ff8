//! [`Arg`]: one argument of a command, as far as it is known before anything runs. It must not know shell syntax.

use std::borrow::Cow;
use std::rc::Rc;

use castellan_event::Why;
use serde::{Deserialize, Serialize};

/// One argument: text, or text with parts that are known only at run time. Copies share the pieces, because many
/// commands may contain the same long text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arg {
    pieces: Rc<Vec<Piece>>,
    splits: bool,
}

/// A part of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Piece {
    /// Known text.
    Text(String),
    /// Text that is not known.
    Unknown {
        /// The reason.
        why: Why,
        /// The source text of the part, such as `$DIR` or `*`.
        written: String,
    },
}

impl Arg {
    /// Returns a known argument.
    pub fn known(text: impl Into<String>) -> Arg {
        Arg { pieces: Rc::new(vec![Piece::Text(text.into())]), splits: false }
    }

    /// Returns an unknown argument; `splits`: it may become no argument, or several.
    pub fn unknown(why: Why, written: impl Into<String>, splits: bool) -> Arg {
        Arg { pieces: Rc::new(vec![Piece::Unknown { why, written: written.into() }]), splits }
    }

    /// Returns an argument made of pieces. Adjacent texts are joined, and empty texts are dropped.
    pub fn from_pieces(pieces: impl IntoIterator<Item = Piece>, splits: bool) -> Arg {
        let mut before: Vec<Piece> = Vec::new();
        let mut last = Piece::Text(String::new());
        for piece in pieces {
            match (&mut last, piece) {
                (_, Piece::Text(text)) if text.is_empty() => {}
                (Piece::Text(last), Piece::Text(text)) if !last.is_empty() => last.push_str(&text),
                (last, piece) => match std::mem::replace(last, piece) {
                    Piece::Text(text) if text.is_empty() => {}
                    piece @ (Piece::Text(_) | Piece::Unknown { .. }) => before.push(piece),
                },
            }
        }
        if before.is_empty() {
            return Arg { pieces: Rc::new(vec![last]), splits };
        }
        before.push(last);
        Arg { pieces: Rc::new(before), splits }
    }

    /// Like [`Arg::from_pieces`] for shared pieces. The pieces must not contain adjacent texts.
    pub fn from_shared(pieces: Rc<Vec<Piece>>, splits: bool) -> Arg {
        if pieces.is_empty() { Arg::known("") } else { Arg { pieces, splits } }
    }

    /// Returns the pieces, at least one.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the pieces for storing.
    pub fn shared(&self) -> Rc<Vec<Piece>> {
        Rc::clone(&self.pieces)
    }

    /// Returns the number of bytes of the known parts and of the source text of the others.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.written().len()).sum()
    }

    /// Reports whether the argument is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.as_str() == Some("")
    }

    /// Reports whether the argument may become no argument, or several: an unknown part was outside quotes.
    pub fn splits(&self) -> bool {
        self.splits
    }

    /// Returns the text, if all of it is known.
    pub fn as_str(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the known text at the start.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Unknown { .. }) | None => "",
        }
    }

    /// Returns the first reason why the argument is not known.
    pub fn why(&self) -> Option<Why> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Unknown { why, .. } => Some(*why),
        })
    }

    /// Returns the text, with source text for unknown parts.
    pub fn written(&self) -> Cow<'_, str> {
        match self.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.pieces.iter().map(Piece::written).collect()),
        }
    }

    /// Returns the rest after a prefix; `None` if the argument is not known to begin with the prefix.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Arg> {
        let (first, rest) = self.pieces.split_first()?;
        let Piece::Text(text) = first else { return None };
        let text = text.strip_prefix(prefix)?;
        let pieces = std::iter::once(Piece::Text(text.to_owned())).chain(rest.iter().cloned());
        Some(Arg::from_pieces(pieces, self.splits))
    }
}

impl Piece {
    /// Returns the text, or the source text of an unknown part.
    pub fn written(&self) -> &str {
        match self {
            Piece::Text(text) => text,
            Piece::Unknown { written, .. } => written,
        }
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg::known(text)
    }
}
