//! [`Text`]: a value with parts that are known only at run time. This module must not know variables or words.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use crate::limits::{VALUE_BYTES_MAX, WRITTEN_BYTES_MAX};

/// A value with known and unknown parts. Without pieces the text is empty. Copies share the pieces until a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pieces: Option<Rc<Vec<Piece>>>,
    /// Bytes of the known parts and of the source text of the unknown parts.
    bytes: usize,
    /// Known bytes that are not valid text, such as compressed data. The text is then one unknown piece.
    raw: Option<Rc<[u8]>>,
}

impl Text {
    pub(crate) fn known(text: impl Into<String>) -> Text {
        let text = text.into();
        match text.len() {
            0 => Text::default(),
            bytes if bytes > VALUE_BYTES_MAX => Text::unknown(Why::Size, ""),
            bytes => Text { pieces: Some(Rc::new(vec![Piece::Text(text)])), bytes, raw: None },
        }
    }

    /// Creates a value from bytes, which may not be valid text.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Text {
        if bytes.len() > VALUE_BYTES_MAX {
            return Text::unknown(Why::Size, "");
        }
        match String::from_utf8(bytes) {
            Ok(text) => Text::known(text),
            Err(error) => {
                let mut made = Text::unknown(Why::Encoding, "(data)");
                made.raw = Some(error.into_bytes().into());
                made
            }
        }
    }

    /// Returns all bytes, if known.
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        self.raw.as_deref().or_else(|| self.as_str().map(str::as_bytes))
    }

    pub(crate) fn unknown(why: Why, written: impl AsRef<str>) -> Text {
        let mut made = Text::default();
        made.push_unknown(why, written.as_ref());
        made
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        self.pieces.as_deref().map_or(&[], Vec::as_slice)
    }

    fn pieces_mut(&mut self) -> &mut Vec<Piece> {
        self.raw = None;
        Rc::make_mut(self.pieces.get_or_insert_default())
    }

    /// Returns the text, if fully known.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self.pieces() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the reason of the first unknown part, if any.
    pub(crate) fn why(&self) -> Option<Why> {
        self.pieces().iter().find_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Unknown { why, .. } => Some(*why),
        })
    }

    /// Returns the reason that a line or word is unknown. A glob pattern stays one only if it is the only word.
    pub(crate) fn why_of_parts(&self) -> Option<Why> {
        let written = self.written();
        let is_one = !written.trim_end_matches('\n').contains(char::is_whitespace);
        self.why().map(|why| if why == Why::Glob && !is_one { Why::File } else { why })
    }

    /// Returns true if the text is certainly not empty.
    pub(crate) fn has_text(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, Piece::Text(text) if !text.is_empty()))
    }

    /// Returns true if the text was too long, so that its end is unknown.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self.pieces().last(), Some(Piece::Unknown { why: Why::Size, .. }))
    }

    /// Returns the bytes of the known parts and of the source text of the unknown parts.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.len().saturating_add(text.len()) > VALUE_BYTES_MAX {
            self.push_unknown(Why::Size, "");
            return;
        }
        self.bytes += text.len();
        let pieces = self.pieces_mut();
        match pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            Some(Piece::Unknown { .. }) | None => pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Appends an unknown part; merges adjacent unknown parts.
    pub(crate) fn push_unknown(&mut self, why: Why, written: &str) {
        if let Some(Piece::Unknown { why: before, written: other }) = self.pieces().last() {
            let before = *before;
            let full = other.len().saturating_add(written.len()) > WRITTEN_BYTES_MAX;
            if before == why && written.is_empty() {
                return;
            }
            if full {
                // A merged part is no longer only a name pattern.
                if before == Why::Glob
                    && let Some(Piece::Unknown { why: last, .. }) = self.pieces_mut().last_mut()
                {
                    *last = why;
                }
                return;
            }
        }
        let written = cut(written);
        self.bytes += written.len();
        self.pieces_mut().push(Piece::Unknown { why, written });
    }

    pub(crate) fn push(&mut self, other: &Text) {
        if self.pieces().is_empty() {
            self.clone_from(other);
            return;
        }
        for piece in other.pieces() {
            match piece {
                Piece::Text(text) => self.push_str(text),
                Piece::Unknown { why, written } => self.push_unknown(*why, written),
            }
        }
    }

    /// Returns the text, with the source in place of unknown parts.
    pub(crate) fn written(&self) -> String {
        self.pieces()
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Unknown { written, .. } => written.as_str(),
            })
            .collect()
    }

    pub(crate) fn to_arg(&self) -> Arg {
        self.pieces
            .as_ref()
            .map_or_else(|| Arg::known(""), |pieces| Arg::from_shared(Rc::clone(pieces), false))
    }

    /// Returns the text without trailing newlines, as in command substitution.
    pub(crate) fn without_last_newlines(mut self) -> Text {
        while let Some(Piece::Text(text)) = self.pieces().last()
            && text.ends_with('\n')
        {
            let kept = text.trim_end_matches('\n').len();
            self.bytes -= text.len() - kept;
            let pieces = self.pieces_mut();
            match pieces.last_mut() {
                Some(Piece::Text(text)) if kept > 0 => text.truncate(kept),
                _ => drop(pieces.pop()),
            }
        }
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        match (&self.pieces, &other.pieces) {
            (Some(one), Some(other)) if Rc::ptr_eq(one, other) => true,
            _ => self.bytes == other.bytes && self.pieces() == other.pieces() && self.raw == other.raw,
        }
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pieces().hash(state);
    }
}

impl From<&Arg> for Text {
    fn from(arg: &Arg) -> Text {
        if arg.as_str().is_some_and(|known| !known.is_empty() && known.len() <= VALUE_BYTES_MAX) {
            return Text { pieces: Some(arg.shared()), bytes: arg.len(), raw: None };
        }
        let mut text = Text::default();
        for piece in arg.pieces() {
            match piece {
                Piece::Text(known) => text.push_str(known),
                Piece::Unknown { why, written } => text.push_unknown(*why, written),
            }
        }
        text
    }
}

/// Returns the first bytes of a source text.
pub(crate) fn cut(written: &str) -> String {
    let end = written.floor_char_boundary(WRITTEN_BYTES_MAX.min(written.len()));
    written.get(..end).unwrap_or_default().to_owned()
}
