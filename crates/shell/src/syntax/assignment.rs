//! Assignments before a command and in its operands, with arrays. This module must not know the command.

use castellan_event::Why;

use super::Shell::{Bash, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::ends_word;
use super::word::Parts;
use crate::tree::{AssignedValue, Word};

impl Parser<'_, '_> {
    /// `=` or `+=`
    pub(super) fn begins_value(&mut self) -> bool {
        match self.peek() {
            Some(b'=') => true,
            Some(b'+') => self.second() == Some(b'=') && !self.is_shell(&[Posix]),
            _ => false,
        }
    }

    fn rest_of_word(&mut self, context: Context, mut parts: Parts, start: usize) -> Parse<Word> {
        self.parts(context, &mut parts)?;
        Ok(Word { parts: parts.parts, span: self.span_from(start) })
    }

    pub(super) fn value(&mut self, context: Context) -> Parse<AssignedValue> {
        if self.peek() != Some(b'(') || self.is_shell(&[Posix]) {
            let start = self.at;
            let context = if self.is_shell(&[Zsh]) { Context::Glob } else { context };
            let mut parts = Parts::default();
            self.equals_process(&mut parts)?;
            return self.rest_of_word(context, parts, start).map(AssignedValue::Scalar);
        }
        let start = self.at;
        self.at += 1;
        if let Some(value) = self.compound_value(start)? {
            return Ok(value);
        }
        let elements = self.deeper(Self::elements)?;
        self.expect(")")?;
        if self.is_shell(&[Bash]) && !ends_word(self.peek()) {
            // A scalar after all: `(a)b`.
            let rest = self.word(context)?;
            let words = elements.into_iter().map(|(_, word)| (None, word)).chain([(None, rest)]).collect();
            return Ok(AssignedValue::Scalar(self.unknown(AssignedValue::Array(words), start)));
        }
        Ok(AssignedValue::Array(elements))
    }

    /// The elements of `NAME=(...)`.
    fn elements(&mut self) -> Parse<Vec<(Option<Word>, Word)>> {
        let mut elements = Vec::new();
        loop {
            self.lines()?;
            let start = self.at;
            match self.peek() {
                None => return Err(Why::Syntax),
                Some(b')') => return Ok(elements),
                Some(b';') if self.is_shell(&[Zsh]) => self.at += 1,
                Some(b'[') => elements.push(self.keyed_element(start)?),
                Some(b'(') if self.begins_inner_value() => elements.push((None, self.element()?)),
                Some(_) => elements.push((None, self.word(self.argument())?)),
            }
            if self.at == start {
                return Err(Why::Syntax);
            }
        }
    }

    /// The value of an element.
    fn element(&mut self) -> Parse<Word> {
        let start = self.at;
        if !self.begins_inner_value() {
            return self.word(self.argument());
        }
        let value = self.value(self.argument())?;
        Ok(self.unknown(value, start))
    }

    /// `[key]=value`, or a pattern.
    fn keyed_element(&mut self, start: usize) -> Parse<(Option<Word>, Word)> {
        self.at += 1;
        let mut parts = Parts::default();
        // In zsh, it is a word like any other.
        let blanks = !self.is_shell(&[Zsh]);
        self.parts(Context::Index { blanks }, &mut parts)?;
        let key = Word { parts: parts.parts, span: self.source.span(start + 1, self.at) };
        let is_closed = self.eat("]");
        if blanks && !is_closed {
            return Err(Why::Syntax);
        }
        if is_closed && self.begins_value() {
            self.eat("+");
            self.expect("=")?;
            return Ok((Some(key), self.element()?));
        }
        let mut parts = Parts::default();
        parts.push_text("[", false);
        key.parts.into_iter().for_each(|part| parts.append(part));
        if is_closed {
            parts.push_text("]", false);
        }
        let word = self.rest_of_word(self.argument(), parts, start)?;
        Ok((None, word))
    }
}
