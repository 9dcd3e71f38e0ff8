//! `[[ ... ]]`: bash 3.2.5.2 "Conditional Constructs". The tree keeps the words, so operators are only checked: without
//! recursion, because parentheses change no word. This module must not know other commands.

use castellan_event::Why;

use super::Shell::Zsh;
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::{Keyword, ends_word};
use crate::tree::{Node, Word};

/// Operators between two words.
const BINARY: &[&str] =
    &["==", "!=", "=~", "=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot", "<", ">"];

/// Letters of operators before a word.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

impl Parser<'_, '_> {
    /// Parses from after `[[` on.
    pub(super) fn test(&mut self) -> Parse<Node> {
        let mut words = Vec::new();
        let mut open = 0_usize;
        loop {
            self.lines()?;
            // A term begins.
            if self.peek() == Some(b'(') {
                self.at += 1;
                open += 1;
                continue;
            }
            if self.eat_keyword(Keyword::Bang) {
                continue;
            }
            self.term(&mut words)?;
            loop {
                self.lines()?;
                if open == 0 || !self.eat(")") {
                    break;
                }
                open -= 1;
            }
            if open == 0 && self.eat("]]") {
                let is_word = !ends_word(self.peek()) && !self.closes_braces();
                return if is_word { Err(Why::Syntax) } else { Ok(Node::Test(words)) };
            }
            if !self.eat("&&") && !self.eat("||") {
                return Err(Why::Syntax);
            }
        }
    }

    /// `word`, `-x word` or `word operator word`.
    fn term(&mut self, words: &mut Vec<Word>) -> Parse<()> {
        if self.eats_unary() {
            self.lines()?;
            // zsh also takes `[[ -n ]]`.
            let is_zsh = self.is_shell(&[Zsh]);
            if is_zsh && let Some((_, after)) = self.binary().filter(|(sign, _)| matches!(*sign, "<" | ">")) {
                self.at = after;
                self.blanks();
            }
            let is_bang = is_zsh && matches!(self.keyword(), Some((Keyword::Bang, _)));
            if is_bang {
                return Err(Why::Syntax);
            }
            if !(is_zsh && (self.at_test_end() || matches!(self.peek(), Some(b'&' | b'|' | b')')))) {
                words.push(self.operand_word(self.argument())?);
            }
            self.blanks();
            return if is_zsh { self.more_operands(words) } else { Ok(()) };
        }
        let start = self.at;
        words.push(self.operand_word(self.argument())?);
        self.blanks();
        let operator = self.binary();
        let Some((sign, after)) = operator else {
            return if self.is_shell(&[Zsh]) { self.module_condition(start, words) } else { Ok(()) };
        };
        self.at = after;
        if self.is_shell(&[Zsh]) {
            self.lines()?
        } else {
            self.blanks()
        }
        let context = if sign == "=~" { Context::Regex } else { self.argument() };
        words.push(self.operand_word(context)?);
        Ok(())
    }

    /// Returns the operator at the position, and the offset after it.
    fn binary(&self) -> Option<(&'static str, usize)> {
        BINARY.iter().find_map(|sign| {
            let after = self.after(sign)?;
            let is_angle = matches!(*sign, "<" | ">");
            let is_word = self.begins_process() || self.range_end().is_some();
            let is_sign = if is_angle { !is_word } else { ends_word(self.byte(self.joined(after))) };
            is_sign.then_some((*sign, after))
        })
    }

    /// Conditions that modules of zsh may have, after the word from `start` on: `-name word...`, `word -name word`.
    fn module_condition(&mut self, start: usize, words: &mut Vec<Word>) -> Parse<()> {
        if self.joined_text(start, self.at).trim_end() == "-" {
            return Err(Why::Syntax);
        }
        let is_known = self.byte(start) != Some(b'-') && self.peek() != Some(b'-');
        if is_known { Ok(()) } else { self.more_operands(words) }
    }

    fn more_operands(&mut self, words: &mut Vec<Word>) -> Parse<()> {
        while !self.at_test_end() && !ends_word(self.peek()) {
            words.push(self.operand_word(self.argument())?);
            self.blanks();
            // The second operand of a module's condition may be a pattern: `[[ -prefix 1 (a|b) ]]`.
            if self.peek() == Some(b'(') {
                words.push(self.operand_word(self.argument())?);
                self.blanks();
            }
        }
        Ok(())
    }

    fn operand_word(&mut self, context: Context) -> Parse<Word> {
        let start = self.at;
        let is_end = self.at_test_end();
        let word = self.word(context)?;
        if self.at == start || is_end { Err(Why::Syntax) } else { Ok(word) }
    }

    fn at_test_end(&self) -> bool {
        self.after("]]").is_some_and(|after| ends_word(self.byte(self.joined(after))))
    }

    /// Moves after `-x`, if a word of its own.
    fn eats_unary(&mut self) -> bool {
        let is_zsh = self.is_shell(&[Zsh]);
        let letter = self.joined(self.at + 1);
        let end = self.joined(letter + 1);
        let is_unary = self.peek() == Some(b'-')
            && self
                .byte(letter)
                .is_some_and(|byte| UNARY.contains(&byte) || (is_zsh && !ends_word(Some(byte))))
            && (matches!(self.byte(end), Some(b' ' | b'\t')) || (is_zsh && self.byte(end) == Some(b'\n')));
        if is_unary {
            self.at = end;
        }
        is_unary
    }
}
