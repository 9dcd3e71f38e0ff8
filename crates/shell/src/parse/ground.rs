//! The text that a parser was given, and where each byte of it stands in the text of the call. They differ where the
//! shell itself takes something away before it parses: escapes in backquotes, tabs in `<<-` bodies.

use crate::tree::Span;

/// Text with its places in the outermost text.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    /// What was parsed.
    pub(super) text: &'a str,
    /// The outermost text.
    root: &'a str,
    /// Offsets in `text` from which on a byte stands at an offset in the outermost text; ascending, the first at 0.
    pieces: Vec<(u32, u32)>,
}

impl<'a> Ground<'a> {
    /// The outermost text.
    pub(super) fn root(text: &'a str) -> Ground<'a> {
        Ground { text, root: text, pieces: vec![(0, 0)] }
    }

    /// Text that was made of this one's; `pieces` say where in this one.
    pub(super) fn inner<'b>(&self, text: &'b str, pieces: &[(u32, u32)]) -> Ground<'b>
    where
        'a: 'b,
    {
        let ends = pieces.iter().skip(1).map(|&(own, _)| own).chain([text.len() as u32]);
        let mut all = Vec::new();
        for (&(own, outer), end) in pieces.iter().zip(ends) {
            all.push((own, self.outermost(outer)));
            // Where this text itself goes on elsewhere, that one does, too.
            let after = self.pieces.partition_point(|&(start, _)| start <= outer);
            let breaks = self.pieces.iter().skip(after).map(|&(start, place)| (own + (start - outer), place));
            all.extend(breaks.take_while(|&(start, _)| start < end));
        }
        Ground { text, root: self.root, pieces: all }
    }

    /// The text between two offsets, if there is any.
    pub(super) fn slice(&self, (start, end): (u32, u32)) -> Option<&'a str> {
        self.text.get(start as usize..end as usize)
    }

    /// The text between two offsets in the outermost text.
    pub(super) fn in_root(&self, (start, end): (u32, u32)) -> &'a str {
        self.root.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Where a range of it stands in the outermost text.
    pub(super) fn span(&self, (start, end): (u32, u32)) -> Span {
        let start = self.outermost(start);
        // The end is after the last byte: where the byte before it stands, plus one.
        let end = end.checked_sub(1).map_or(start, |last| self.outermost(last) + 1);
        // Where a closer is missing, the parser's ranges may end inside a character or after the text.
        let start = self.boundary(start);
        Span { start, end: self.boundary(end).max(start) }
    }

    /// The next place at which the outermost text can be cut.
    fn boundary(&self, offset: u32) -> u32 {
        let end = self.root.len() as u32;
        (offset..end).find(|&at| self.root.is_char_boundary(at as usize)).unwrap_or(end)
    }

    fn outermost(&self, offset: u32) -> u32 {
        let after = self.pieces.partition_point(|&(own, _)| own <= offset);
        let piece = after.checked_sub(1).and_then(|at| self.pieces.get(at));
        piece.map_or(offset, |&(own, outer)| outer + (offset - own))
    }
}

/// Text that is written piece by piece, each from a place in another one.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    /// The new text.
    pub(super) text: String,
    /// See [`Ground::inner`].
    pub(super) pieces: Vec<(u32, u32)>,
}

impl Rewritten {
    /// Appends text that stands at `offset` in the other one.
    pub(super) fn push(&mut self, text: &str, offset: u32) {
        let own = self.text.len() as u32;
        let follows = self.pieces.last().is_some_and(|&(start, outer)| outer + (own - start) == offset);
        if !follows {
            self.pieces.push((own, offset));
        }
        self.text.push_str(text);
    }
}
