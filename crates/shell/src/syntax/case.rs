//! `case` and its arms. This module must not know simple commands.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::Keyword;
use super::word::Parts;
use crate::tree::{Node, Word};

impl Parser<'_, '_> {
    pub(super) fn case(&mut self) -> Parse<Node> {
        self.blanks();
        let start = self.at;
        let word = self.word(self.argument())?;
        if self.at == start {
            return Err(Why::Syntax);
        }
        self.lines_and_marks()?;
        // zsh and ksh also take braces.
        let is_braced = self.is_shell(&[Zsh, Ksh]) && self.eat_keyword(Keyword::Open);
        let end = if is_braced { Keyword::Close } else { Keyword::Esac };
        if !is_braced && !self.eat_in() {
            return Err(Why::Syntax);
        }
        self.lines_and_marks()?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.eat_keyword(end) {
                return Ok(Node::Case { word, arms });
            }
            let patterns = self.case_patterns()?;
            let body = self.script_or_nothing()?;
            arms.push((patterns, body));
            if !self.eats_arm_end() {
                self.expect_keyword(end)?;
                return Ok(Node::Case { word, arms });
            }
        }
    }

    fn case_patterns(&mut self) -> Parse<Vec<Word>> {
        let start = self.at;
        let is_open = self.peek() == Some(b'(');
        self.at += usize::from(is_open);
        let mut patterns = self.pattern_list(is_open)?;
        if is_open && self.is_shell(&[Zsh]) && self.is_within_pattern() {
            patterns = vec![self.pattern_of_group(patterns, start)?];
            self.blanks();
            if !self.eat(")") {
                self.expect("|")?;
                patterns.extend(self.pattern_list(false)?);
            }
        }
        Ok(patterns)
    }

    /// `a | b)`
    fn pattern_list(&mut self, is_open: bool) -> Parse<Vec<Word>> {
        let mut patterns = Vec::new();
        loop {
            // `(#i)a` of zsh has no comment.
            if !self.is_shell(&[Zsh]) || self.peek() != Some(b'#') {
                self.blanks();
            }
            let start = self.at;
            let pattern = if is_open && self.is_shell(&[Zsh]) {
                self.spaced_pattern()?
            } else {
                self.word(self.argument())?
            };
            let is_empty = self.at == start;
            self.blanks();
            patterns.push(pattern);
            // zsh also matches nothing: `(a|)`.
            let may_be_empty =
                self.is_shell(&[Zsh]) && (is_open || patterns.len() > 1 || self.peek() == Some(b'|'));
            if is_empty && !may_be_empty {
                return Err(Why::Syntax);
            }
            if self.eat(")") {
                return Ok(patterns);
            }
            self.expect("|")?;
        }
    }

    /// A pattern after the parenthesis of an arm, in zsh. Blanks belong to it: `(a *)`.
    fn spaced_pattern(&mut self) -> Parse<Word> {
        let start = self.at;
        let mut parts = Parts::default();
        loop {
            let from = self.at;
            self.parts(Context::Glob, &mut parts)?;
            let end = self.at;
            self.spaces();
            if self.at == end || matches!(self.peek(), Some(b')' | b'|') | None) {
                return Ok(Word { parts: parts.parts, span: self.source.span(start, end) });
            }
            if from == end {
                return Err(Why::Syntax);
            }
            parts.push_text(" ", true);
        }
    }

    /// `;;`, `;&`, and the ends that only some shells have.
    fn eats_arm_end(&mut self) -> bool {
        let extra = match self.state.shell {
            Bash => ";;&",
            Zsh => ";|",
            Posix | Ksh => ";;",
        };
        self.eat(extra) || self.eat(";;") || self.eat(";&")
    }
}
