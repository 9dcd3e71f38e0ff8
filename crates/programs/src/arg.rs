//! [`Arg`]: one argument of a command, as far as it is known before anything runs. It must not know shell syntax.

use std::borrow::Cow;
use std::rc::Rc;

use castellan_event::Why;

/// One argument: text, or text with parts that are decided only when it runs. Copies share it: what reads a long text often
/// stands in many commands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Arg {
    pieces: Rc<Vec<Piece>>,
    splits: bool,
}

/// A part of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Known text.
    Text(String),
    /// Text that is not known.
    Unknown {
        /// Why not.
        why: Why,
        /// What stands there in the source, such as `$DIR` or `*`.
        written: String,
    },
}

impl Arg {
    /// A known argument.
    pub fn known(text: impl Into<String>) -> Arg {
        Arg { pieces: Rc::new(vec![Piece::Text(text.into())]), splits: false }
    }

    /// An argument of which nothing is known; `splits`: it may become no argument, or several.
    pub fn unknown(why: Why, written: impl Into<String>, splits: bool) -> Arg {
        Arg { pieces: Rc::new(vec![Piece::Unknown { why, written: written.into() }]), splits }
    }

    /// An argument made of pieces. Texts that stand together become one, empty ones go.
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

    /// The same for pieces that are shared: at least one, and no two texts side by side.
    pub fn from_shared(pieces: Rc<Vec<Piece>>, splits: bool) -> Arg {
        if pieces.is_empty() { Arg::known("") } else { Arg { pieces, splits } }
    }

    /// The pieces, at least one.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The pieces, to be kept.
    pub fn shared(&self) -> Rc<Vec<Piece>> {
        Rc::clone(&self.pieces)
    }

    /// Bytes of the known parts and of what is written for the others.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.written().len()).sum()
    }

    /// Whether it is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.as_str() == Some("")
    }

    /// Whether it may become no argument, or several: an unknown part stood outside quotes.
    pub fn splits(&self) -> bool {
        self.splits
    }

    /// The text, if all of it is known.
    pub fn as_str(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The known text that it begins with.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Unknown { .. }) | None => "",
        }
    }

    /// Why it is not known, if it is not; the first reason.
    pub fn why(&self) -> Option<Why> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Unknown { why, .. } => Some(*why),
        })
    }

    /// The text with what stands in the source for what is not known.
    pub fn written(&self) -> Cow<'_, str> {
        match self.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.pieces.iter().map(Piece::written).collect()),
        }
    }

    /// The rest after a known prefix. `None` when it does not begin with it, as far as is known.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Arg> {
        let (first, rest) = self.pieces.split_first()?;
        let Piece::Text(text) = first else { return None };
        let text = text.strip_prefix(prefix)?;
        let pieces = std::iter::once(Piece::Text(text.to_owned())).chain(rest.iter().cloned());
        Some(Arg::from_pieces(pieces, self.splits))
    }
}

impl Piece {
    /// The text, or what stands in the source for it.
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
