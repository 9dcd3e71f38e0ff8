//! Arithmetic: what is expanded in it, and which variables it changes. Its value is nobody's concern here.

use super::literal::Place;
use super::{Range, Reader};
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

/// The operators that change the variable before them.
const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];

/// The names that stand before an assignment or beside `++` and `--`. One name too many does no harm.
fn assigned(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    let mut before = "";
    while let Some(start) = rest.find(|character: char| character == '_' || character.is_ascii_alphabetic()) {
        let (gap, from) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let is_part = |character: char| character == '_' || character.is_ascii_alphanumeric();
        let length = from.find(|character| !is_part(character)).unwrap_or(from.len());
        let (name, after) = from.split_at_checked(length).unwrap_or((from, ""));
        let tight = if gap.is_empty() { before } else { gap };
        let number = tight.ends_with(|character: char| character.is_ascii_digit() || character == '#');
        if !number && (steps(tight.trim_end(), str::ends_with) || changes(after)) {
            names.push(name.to_owned());
        }
        before = name;
        rest = after;
    }
    names
}

fn changes(after: &str) -> bool {
    let after = after.trim_start();
    // An index is not followed to its end: an assignment anywhere after it counts.
    let operator =
        after.strip_prefix('[').and_then(|inner| inner.split_once(']')).map_or(after, |(_, tail)| tail);
    let operator = operator.trim_start();
    steps(operator, str::starts_with)
        || ASSIGNMENTS.iter().any(|sign| {
            operator.strip_prefix(sign).is_some_and(|tail| !tail.starts_with('='))
                && !operator.starts_with("==")
        })
}

fn steps(text: &str, stands: fn(&str, &'static str) -> bool) -> bool {
    stands(text, "++") || stands(text, "--")
}
