//! Arithmetic: what is expanded in it, and which variables it changes. Its value is nobody's concern here.

use super::literal::Place;
use super::{Range, Reader};
use crate::syntax::assigned;
use crate::tree::{Arithmetic, Part, Word};

impl Reader<'_, '_> {
    pub(super) fn arithmetic(&mut self, own: Range) -> Arithmetic {
        let Some(text) = self.ground.slice(own) else {
            let hole = self.hole(castellan_event::Why::Syntax, own);
            let word = Word { parts: vec![Part::Hole(hole)], span: hole.span };
            return Arithmetic { text: String::new(), words: vec![word], assigns: Vec::new(), tree: None };
        };
        let words = self.expanded(own, text);
        Arithmetic { text: text.to_owned(), words, assigns: assigned(text), tree: None }
    }

    /// What is expanded in text that is read as if in double quotes, a word each.
    pub(super) fn expanded(&mut self, own: Range, text: &str) -> Vec<Word> {
        if !text.contains(['$', '`']) {
            return Vec::new();
        }
        let span = self.ground.span(own);
        let parts = self.reread(own, Place::Body).into_iter();
        let active = parts.filter(|part| !matches!(part, Part::Text { .. }));
        active.map(|part| Word { parts: vec![part], span }).collect()
    }
}
