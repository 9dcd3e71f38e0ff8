//! Functions: the parameters after a name, and the body. This module must not know the walk.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::cursor::{Parse, Parser};
use crate::tree::{Node, Script, Statement};

impl Parser<'_, '_> {
    /// Moves after the `()` of a function, which may have blanks between.
    pub(super) fn begins_parameters(&mut self) -> bool {
        let open = self.at;
        self.at += 1;
        self.spaces();
        let is_closed = self.eat(")");
        if !is_closed {
            self.at = open;
        }
        is_closed
    }

    /// In zsh, a `;` may be where other shells take only newlines: `f();{a}`, `a|;b`.
    pub(super) fn lines_and_marks(&mut self) -> Parse<()> {
        self.lines()?;
        while self.is_shell(&[Zsh]) && self.peek() == Some(b';') && self.second() != Some(b';') {
            self.at += 1;
            self.lines()?;
        }
        Ok(())
    }

    /// ksh takes a function without a body before a closer and some operators: `(f())`, `f() | a`.
    fn has_no_body(&mut self) -> bool {
        match self.peek() {
            None => false,
            Some(b'|') => true,
            Some(b'&') => self.second() != Some(b'>'),
            Some(_) => !self.begins_command(),
        }
    }

    /// The body of a function, from the `)` on.
    pub(super) fn function_body(&mut self, names: Vec<String>, start: usize) -> Parse<Statement> {
        let is_name = |name: &String| {
            !name.starts_with(|first: char| first.is_ascii_digit())
                && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        };
        if self.is_shell(&[Posix]) && !names.first().is_some_and(is_name) {
            return Err(Why::Syntax);
        }
        self.lines_and_marks()?;
        let body = if self.is_shell(&[Ksh]) && self.has_no_body() {
            let span = self.span_from(self.at);
            self.statement(Node::Group(Script { statements: Vec::new(), span }), self.at, false)
        } else {
            self.deeper(Self::command)?
        };
        // bash takes a compound command only; the other shells take any.
        let is_simple =
            matches!(body.node, Node::Simple { .. } | Node::Declare { .. } | Node::Function { .. });
        if is_simple && self.is_shell(&[Bash]) {
            return Err(Why::Syntax);
        }
        Ok(self.statement(Node::Function { names, body: Box::new(body) }, start, false))
    }
}
