//! Loops over words: `for`, `select`, `foreach`, `for ((`. This module must not know simple commands.

use castellan_event::Why;

use super::Shell::{Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::Keyword;
use super::simple::plain_text;
use crate::tree::{Arithmetic, Node, Word};

impl Parser<'_, '_> {
    pub(super) fn for_each(&mut self) -> Parse<Node> {
        self.blanks();
        if !self.is_shell(&[Posix]) && self.eat("((") {
            return self.arithmetic_for();
        }
        self.named_loop(true)
    }

    pub(super) fn select(&mut self) -> Parse<Node> {
        self.named_loop(false)
    }

    /// `foreach NAME (WORDS) ...; end`, or the head and body of any loop.
    pub(super) fn foreach(&mut self) -> Parse<Node> {
        self.blanks();
        let (names, words) = self.loop_head(true)?;
        let body = match self.keyword() {
            Some((Keyword::Do | Keyword::Open, _)) => self.loop_body()?,
            _ => self.until_end()?,
        };
        Ok(Node::For { names, words, body })
    }

    /// `NAME [in WORDS]; do ...; done`
    fn named_loop(&mut self, has_more: bool) -> Parse<Node> {
        let (names, words) = self.loop_head(has_more)?;
        if self.peek().is_none() && words.is_some() {
            return Err(Why::Syntax);
        }
        let body = self.loop_body()?;
        Ok(Node::For { names, words, body })
    }

    /// The names and words of a loop, and the newlines after them.
    fn loop_head(&mut self, has_more: bool) -> Parse<(Vec<String>, Option<Vec<Word>>)> {
        self.blanks();
        let name = plain_text(&self.word(Context::Command)?).ok_or(Why::Syntax)?;
        let is_name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii();
        if self.is_shell(&[Zsh]) && !name.bytes().all(is_name) {
            return Err(Why::Syntax);
        }
        let mut names = vec![name];
        self.more_names(&mut names, has_more)?;
        self.blanks();
        let mut words = None;
        if self.peek() == Some(b';') {
            self.at += 1;
        } else if self.peek() == Some(b'(') && self.is_shell(&[Zsh]) {
            words = Some(self.words_in_parentheses()?);
            self.blanks();
            if self.peek() == Some(b';') {
                self.at += 1;
            }
        } else {
            self.lines()?;
            if self.eat_in() {
                words = Some(self.loop_words()?);
            }
        }
        self.lines()?;
        Ok((names, words))
    }

    /// The words after `in`, with the `;` or newline after them.
    fn loop_words(&mut self) -> Parse<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            let start = self.at;
            match self.peek() {
                Some(b';') => {
                    self.at += 1;
                    return Ok(words);
                }
                Some(b'\n') => return Ok(words),
                _ => words.push(self.word(self.argument())?),
            }
            if self.at == start {
                return Err(Why::Syntax);
            }
        }
    }

    /// `for ((first; condition; step))`, from after the parentheses on.
    fn arithmetic_for(&mut self) -> Parse<Node> {
        let mut clauses = [Arithmetic::default(), Arithmetic::default(), Arithmetic::default()];
        for (number, clause) in clauses.iter_mut().enumerate() {
            if number > 0 {
                self.expect(";")?;
            }
            *clause = self.expression(Context::Clause)?;
        }
        self.expect("))")?;
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.lines()?;
        if self.peek().is_none() {
            return Err(Why::Syntax);
        }
        let body = self.loop_body()?;
        let [first, condition, step] = clauses;
        Ok(Node::ArithmeticFor { first, condition, step, body })
    }
}
