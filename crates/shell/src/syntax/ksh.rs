//! Commands and assignments that only ksh has: namespaces, compound variables, arrays in arrays (ksh, "Commands",
//! "Parameters" and "Name References"). The tree has no place for the values: they are holes after all that runs.

use castellan_event::Why;

use super::Shell::Ksh;
use super::cursor::{Parse, Parser};
use super::keywords::{Keyword, ends_word};
use super::simple::declaration;
use crate::tree::{AssignedValue, Node, Part, Script, Statement, Word};

impl Parser<'_, '_> {
    /// `namespace NAME { ...; }` of ksh: names in the body mean others, so nothing is known of variables in and after it.
    pub(super) fn namespace(&mut self) -> Parse<Node> {
        self.blanks();
        let start = self.at;
        self.at = self.name_end(start).ok_or(Why::Syntax)?;
        let before = self.hole(Why::Unsupported, start);
        self.lines()?;
        let from = self.at;
        self.expect_keyword(Keyword::Open)?;
        let body = self.script()?;
        self.expect_keyword(Keyword::Close)?;
        let body = self.statement(Node::Group(body), from, false);
        let after = self.hole(Why::Unsupported, start);
        let [before, after] = [before, after].map(|hole| self.statement(Node::Hole(hole), start, false));
        Ok(Node::Group(Script { statements: vec![before, body, after], span: self.span_from(start) }))
    }

    /// `function .sh.math.f x y {`: the parameters of a function for arithmetic.
    pub(super) fn math_parameters(&mut self, names: &[String]) {
        if !self.is_shell(&[Ksh]) || !names.iter().any(|name| name.starts_with(".sh.math.")) {
            return;
        }
        self.blanks();
        while let Some(end) = self.name_end(self.at) {
            self.at = end;
            self.blanks();
        }
    }

    /// Returns the offset after the name of a variable: `a`, and in ksh `a.b`, `.sh.c`.
    pub(super) fn variable_end(&self, start: usize) -> Option<usize> {
        if !self.is_shell(&[Ksh]) {
            return self.name_end(start);
        }
        let from = self.joined(start);
        let mut end = self.name_end(from + usize::from(self.byte(from) == Some(b'.')))?;
        while self.byte(end) == Some(b'.') {
            match self.name_end(end + 1) {
                Some(after) => end = after,
                None => break,
            }
        }
        Some(end)
    }

    /// Moves after the `.b` of `a[1].b=value`.
    pub(super) fn eats_field(&mut self) -> bool {
        if !self.is_shell(&[Ksh]) || self.peek() != Some(b'.') {
            return false;
        }
        let start = self.at;
        self.at = self.variable_end(start).unwrap_or(start);
        let is_field = self.at > start && self.begins_value();
        if !is_field {
            self.at = start;
        }
        is_field
    }

    /// Reports whether `(` at the position begins a value in an array.
    pub(super) fn begins_inner_value(&mut self) -> bool {
        self.is_shell(&[Ksh]) && self.peek() == Some(b'(')
    }

    /// The content of `NAME=(A=1 B=2)`: commands that begin with an assignment, which ksh runs.
    pub(super) fn compound_value(&mut self, start: usize) -> Parse<Option<AssignedValue>> {
        if !self.is_shell(&[Ksh]) {
            return Ok(None);
        }
        self.lines()?;
        let is_compound = match self.variable_end(self.at) {
            Some(end) => {
                let (byte, next) = (self.byte(end), self.byte(self.joined(end + 1)));
                let is_word = ends_word(byte) && declaration(&self.joined_text(self.at, end), Ksh).is_some();
                is_word || matches!((byte, next), (Some(b'='), _) | (Some(b'+'), Some(b'=')))
            }
            None => false,
        };
        if !is_compound {
            return Ok(None);
        }
        let body = self.deeper(Self::script)?;
        self.expect(")")?;
        let is_assignment = |one: &Statement| {
            let is_plain = matches!(&one.node, Node::Simple { assignments, .. } if !assignments.is_empty());
            (is_plain || matches!(one.node, Node::Declare { .. })) && one.redirects.is_empty()
        };
        if !body.statements.iter().all(is_assignment) {
            return Err(Why::Syntax);
        }
        let parts = vec![Part::Command { body, quoted: true }];
        let word = Word { parts, span: self.span_from(start) };
        Ok(Some(AssignedValue::Scalar(self.unknown(AssignedValue::Scalar(word), start))))
    }

    /// Returns a word with all that runs in a value, and a hole in place of the value.
    pub(super) fn unknown(&mut self, value: AssignedValue, start: usize) -> Word {
        let words = match value {
            AssignedValue::Scalar(word) => vec![word],
            AssignedValue::Array(elements) => {
                elements.into_iter().flat_map(|(index, word)| index.into_iter().chain([word])).collect()
            }
        };
        let parts = words.into_iter().flat_map(|word| word.parts);
        let mut parts: Vec<Part> = parts.filter(|part| !matches!(part, Part::Text { .. })).collect();
        parts.push(Part::Hole(self.hole(Why::Unsupported, start)));
        Word { parts, span: self.span_from(start) }
    }
}
