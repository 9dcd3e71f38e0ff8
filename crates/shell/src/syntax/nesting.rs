//! The end of parentheses that are too deep to be read. This module must not build nodes.
//!
//! The parser gives up at a depth. Then the innermost `(...)`, `$(...)` or `<(...)` around the position is a hole, if
//! its `)` is certain without a tree: every reading of the text between must have the same parentheses. Text with a
//! sign that might hide or add one (a here-document, a comment, `case`, a quote in an expression) has no certain end.
//! Other constructs end at a word, which only a parser tells from an argument. In both cases the rest of the text is
//! the hole.

use castellan_event::Why;

use super::Shell::{Posix, Zsh};
use super::cursor::{Parse, Parser};
use super::keywords::ends_word;
use crate::tree::Script;

/// An open construct of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren,
    Quote,
    /// `${`, and whether it is in double quotes.
    Brace {
        quoted: bool,
    },
}

/// Text whose constructs begin and end like words, or that means something else in some shell.
const DOUBTFUL: &[&str] = &["case", "<<", "=~", "$[", "\\\n", "`"];

impl Parser<'_, '_> {
    /// Reads the commands up to a `)`, which are a hole if they are too deep and end certainly.
    pub(super) fn closed_script(&mut self, read: fn(&mut Self) -> Parse<Script>) -> Parse<Script> {
        let start = self.at;
        let holes = self.state.holes.len();
        let (in_braces, substitutions) = (self.in_braces, self.substitutions);
        let has_heredocs = self.heredocs.open > 0;
        let why = match read(self) {
            Err(Why::Nesting) if !self.state.is_endless => Why::Nesting,
            result => return result,
        };
        let end = self.certain_end(start, has_heredocs);
        self.at = end.unwrap_or(self.end);
        self.count()?;
        if end.is_none() {
            // The text around has the same doubtful text.
            self.state.is_endless = true;
            return Err(why);
        }
        self.state.holes.truncate(holes);
        (self.in_braces, self.substitutions) = (in_braces, substitutions);
        let span = self.span_from(start);
        Ok(Script { statements: vec![self.state.hole_statement(why, span)], span })
    }

    /// Returns the offset of the `)` of the parenthesis before `start`, if no reading of the text has another one.
    fn certain_end(&self, start: usize, has_heredocs: bool) -> Option<usize> {
        let mut stack = vec![Open::Paren];
        let mut at = start;
        let mut has_expressions = false;
        loop {
            let top = stack.last().copied()?;
            let (byte, next) = (self.byte(at)?, self.byte(at + 1));
            let rest = self.text(at, self.end);
            if DOUBTFUL.iter().any(|sign| rest.starts_with(sign)) || (byte == b'\n' && has_heredocs) {
                return None;
            }
            let is_commands = top == Open::Paren;
            match byte {
                b'\\' => at += 1,
                b'"' if top == Open::Quote => drop(stack.pop()),
                b'"' | b'\'' if matches!(top, Open::Brace { quoted: true }) || has_expressions => {
                    return None;
                }
                b'"' => stack.push(Open::Quote),
                b'$' if next == Some(b'(') => {
                    at += 1;
                    stack.push(Open::Paren);
                }
                b'$' if next == Some(b'{') => {
                    // Flags of zsh have any signs.
                    if self.byte(at + 2) == Some(b'(') {
                        return None;
                    }
                    at += 1;
                    stack.push(Open::Brace { quoted: top != Open::Paren });
                }
                b'\'' if top != Open::Quote => at = self.quote_end(at)?,
                b'}' if matches!(top, Open::Brace { .. }) => drop(stack.pop()),
                b'#' if is_commands && ends_word(at.checked_sub(1).and_then(|at| self.byte(at))) => {
                    return None;
                }
                b'[' if is_commands && self.is_shell(&[Zsh]) => return None,
                b'(' if is_commands => {
                    has_expressions |= self.byte(at - 1) == Some(b'(');
                    stack.push(Open::Paren);
                }
                b')' if is_commands => {
                    stack.pop();
                    if stack.is_empty() {
                        return Some(at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the offset of the single quote that ends the one at an offset.
    fn quote_end(&self, open: usize) -> Option<usize> {
        let has_escapes = self.byte(open - 1) == Some(b'$');
        if has_escapes && self.is_shell(&[Posix]) {
            return None;
        }
        let mut at = open + 1;
        loop {
            match self.byte(at)? {
                b'\'' => return Some(at),
                b'\\' if has_escapes => at += 1,
                _ => {}
            }
            at += 1;
        }
    }
}
