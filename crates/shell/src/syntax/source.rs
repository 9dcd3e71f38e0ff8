//! The text that a parser reads, and the place of each byte in the text of the call. They differ where the shell itself
//! takes something away before it parses: escapes in backquotes, tabs in `<<-` bodies. Must not know syntax.

use crate::tree::Span;

/// Text with its places in the outermost text.
#[derive(Debug)]
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    /// `(own, outermost)`: from the offset `own` on, bytes have their places from `outermost` on. Ascending. Empty if
    /// both texts are the same.
    pieces: Vec<(usize, usize)>,
}

impl<'t> Source<'t> {
    /// The outermost text.
    pub(super) fn root(text: &'t str) -> Source<'t> {
        Source { text, pieces: Vec::new() }
    }

    /// Returns the span of a range in the outermost text.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        let first = self.place(start);
        // A byte may be missing before the end: the place of the last byte, plus one.
        let after =
            end.checked_sub(1).filter(|last| *last >= start).map_or(first, |last| self.place(last) + 1);
        let offset = |place: usize| place.try_into().unwrap_or(u32::MAX);
        Span { start: offset(first), end: offset(after) }
    }

    fn place(&self, offset: usize) -> usize {
        match self.piece(offset).and_then(|at| self.pieces.get(at)) {
            Some((own, outermost)) => outermost + (offset - own),
            None => offset,
        }
    }

    /// Returns the number of the piece that contains an offset.
    fn piece(&self, offset: usize) -> Option<usize> {
        self.pieces.partition_point(|&(own, _)| own <= offset).checked_sub(1)
    }

    /// Returns the end of the bytes from `offset` on that also follow each other in the outermost text.
    fn run_end(&self, offset: usize) -> usize {
        let next = self.piece(offset).map_or(0, |at| at + 1);
        self.pieces.get(next).map_or(self.text.len(), |&(own, _)| own)
    }
}

/// Text that is copied run by run from another one.
#[derive(Debug, Default)]
pub(super) struct Copied {
    text: String,
    pieces: Vec<(usize, usize)>,
}

impl Copied {
    /// Appends the bytes of a range of `from`.
    pub(super) fn push(&mut self, from: &Source<'_>, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let stop = from.run_end(at).min(end).max(at + 1);
            let (own, place) = (self.text.len(), from.place(at));
            let follows = self.pieces.last().is_some_and(|&(before, outer)| outer + (own - before) == place);
            if !follows {
                self.pieces.push((own, place));
            }
            self.text.push_str(from.text.get(at..stop).unwrap_or_default());
            at = stop;
        }
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { text: &self.text, pieces: self.pieces.clone() }
    }
}
