//! Commands that only zsh has: `foreach`, `repeat`, `always`, short forms of loops and of `if`, functions without a
//! name (zshmisc, "COMPLEX COMMANDS" and "ALTERNATE FORMS FOR COMPLEX COMMANDS").

use castellan_event::Why;

use super::Shell::Zsh;
use super::assigned;
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::{Keyword, ends_word};
use super::simple::plain_text;
use super::word::Parts;
use crate::tree::{Arithmetic, Node, Part, Script, Word};

impl Parser<'_, '_> {
    /// `{ ...; }` in place of a body between reserved words, one command, or nothing: `(if a)` runs `a`.
    pub(super) fn short_body(&mut self) -> Parse<Script> {
        if !self.is_shell(&[Zsh]) {
            return Err(Why::Syntax);
        }
        if self.eat_keyword(Keyword::Open) {
            let body = self.script()?;
            self.expect_keyword(Keyword::Close)?;
            return Ok(body);
        }
        let start = self.at;
        let is_background = self.peek() == Some(b'&') && !matches!(self.second(), Some(b'&' | b'>'));
        if is_background {
            return Err(Why::Syntax);
        }
        let is_nothing = self.ends_list() || self.peek() == Some(b'|');
        let statements = if is_nothing { Vec::new() } else { vec![self.deeper(Self::chain)?] };
        Ok(Script { statements, span: self.span_from(start) })
    }

    /// `else` after a list in braces: another one, or a list up to `fi`.
    pub(super) fn short_else(&mut self) -> Parse<Script> {
        self.lines()?;
        if matches!(self.keyword(), Some((Keyword::Open, _))) {
            return self.short_body();
        }
        let body = self.script()?;
        self.expect_keyword(Keyword::Fi)?;
        Ok(body)
    }

    /// The words of `for x (a b)`.
    pub(super) fn words_in_parentheses(&mut self) -> Parse<Vec<Word>> {
        self.expect("(")?;
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            let start = self.at;
            words.push(self.word(self.argument())?);
            if self.at == start {
                return Err(Why::Syntax);
            }
        }
    }

    /// Reports whether the `)` before the position ends only a group of a pattern in `case`: `(a|b)c)`.
    pub(super) fn is_within_pattern(&mut self) -> bool {
        let is_joined = !ends_word(self.peek()) || self.peek() == Some(b'(');
        self.blanks();
        is_joined || matches!(self.peek(), Some(b')' | b'|'))
    }

    /// Returns the pattern that begins with a group of patterns.
    pub(super) fn pattern_of_group(&mut self, group: Vec<Word>, start: usize) -> Parse<Word> {
        let mut parts = Parts::default();
        for (number, word) in group.into_iter().enumerate() {
            parts.push_text(if number == 0 { "(" } else { "|" }, false);
            word.parts.into_iter().for_each(|part| parts.append(part));
        }
        parts.push_text(")", false);
        self.parts(Context::Glob, &mut parts)?;
        Ok(Word { parts: parts.parts, span: self.span_from(start) })
    }

    /// `for x y in WORDS`: further names after the first, up to a reserved word or an operator. `select` has none.
    pub(super) fn more_names(&mut self, names: &mut Vec<String>, has_more: bool) -> Parse<()> {
        while self.is_shell(&[Zsh]) && has_more {
            self.blanks();
            let is_in = self.after("in").is_some_and(|after| ends_word(self.byte(self.joined(after))));
            if is_in || self.keyword().is_some() || ends_word(self.peek()) {
                break;
            }
            let end = self.name_end(self.at).or_else(|| self.number_end(self.at));
            let end = end.filter(|end| ends_word(self.byte(*end))).ok_or(Why::Syntax)?;
            names.push(self.joined_text(self.at, end));
            self.at = end;
        }
        Ok(())
    }

    /// Returns the offset after a positional parameter.
    fn number_end(&self, start: usize) -> Option<usize> {
        let mut at = self.joined(start);
        self.byte(at).filter(u8::is_ascii_digit)?;
        while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
            at = self.joined(at + 1);
        }
        Some(at)
    }

    /// `function f g`: further names after the first, and what may be between them and the body.
    pub(super) fn more_functions(&mut self, names: &mut Vec<String>) -> Parse<()> {
        while self.is_shell(&[Zsh]) {
            self.blanks();
            let is_body = self.eat(";") || matches!(self.keyword(), Some((Keyword::Open, _)));
            if is_body || self.ends_command() || ends_word(self.peek()) {
                break;
            }
            let from = self.at;
            names.extend(plain_text(&self.word(Context::Command)?));
            if self.at == from {
                return Err(Why::Syntax);
            }
        }
        Ok(())
    }

    /// The body of `foreach`.
    pub(super) fn until_end(&mut self) -> Parse<Script> {
        let body = self.script()?;
        self.expect_keyword(Keyword::End)?;
        Ok(body)
    }

    /// `repeat COUNT body`: a loop whose end is an expression.
    pub(super) fn repeat(&mut self) -> Parse<Node> {
        self.blanks();
        let start = self.at;
        let word = self.word(self.argument())?;
        if self.at == start {
            return Err(Why::Syntax);
        }
        let text = self.text(start, self.at).to_owned();
        let assigns = assigned(&text);
        let condition = Arithmetic { text, words: vec![word], assigns, tree: None };
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.lines()?;
        let body = self.loop_body()?;
        Ok(Node::ArithmeticFor { first: Arithmetic::default(), condition, step: Arithmetic::default(), body })
    }

    /// `{ ... } always { ... }`: both lists run, the second also after a `return` or `break` in the first. Then the
    /// first is a branch that may be taken, and nothing is known of its variables.
    pub(super) fn always(&mut self, body: Script, start: usize) -> Parse<Node> {
        self.blanks();
        let is_always = self.is_shell(&[Zsh]) && self.eat_word("always");
        if !is_always {
            return Ok(Node::Group(body));
        }
        let leaves =
            ["return", "break", "continue"].iter().any(|word| self.text(start, self.at).contains(word));
        let mut statements = vec![if leaves {
            let test = self.statement(Node::Test(Vec::new()), start, false);
            let condition = Script { statements: vec![test], span: self.span_from(start) };
            self.statement(Node::If { branches: vec![(condition, body)], otherwise: None }, start, false)
        } else {
            self.statement(Node::Group(body), start, false)
        }];
        if leaves {
            let hole = self.hole(Why::Unsupported, start);
            statements.push(self.statement(Node::Hole(hole), start, false));
        }
        self.blanks();
        let from = self.at;
        self.expect_keyword(Keyword::Open)?;
        let last = self.script()?;
        self.expect_keyword(Keyword::Close)?;
        statements.push(self.statement(Node::Group(last), from, false));
        Ok(Node::Group(Script { statements, span: self.span_from(start) }))
    }

    /// After `function`: a body without a name, `()` or a newline before it.
    pub(super) fn begins_anonymous(&mut self) -> bool {
        let is_open = self.peek() == Some(b'(') && self.begins_parameters();
        is_open || self.peek() == Some(b'\n') || matches!(self.keyword(), Some((Keyword::Open, _)))
    }

    /// A function without a name runs at once, with the words after it as its parameters. zsh also names it `(anon)`.
    pub(super) fn anonymous(&mut self, start: usize) -> Parse<Node> {
        self.lines_and_marks()?;
        let body = Box::new(self.deeper(Self::command)?);
        let parts = vec![Part::Text { text: "(anon)".to_owned(), quoted: true }];
        let name = Word { parts, span: self.source.span(start, start) };
        let function = Node::Function { names: vec!["(anon)".to_owned()], body };
        let definition = self.statement(function, start, false);
        let mut words = vec![name];
        let mut redirects = Vec::new();
        loop {
            redirects.extend(self.redirects()?);
            self.blanks();
            if self.ends_command() {
                break;
            }
            let from = self.at;
            words.push(self.word(self.argument())?);
            if self.at == from {
                return Err(Why::Syntax);
            }
        }
        let node = Node::Simple { assignments: Vec::new(), words };
        let mut call = self.statement(node, start, false);
        call.redirects = redirects;
        Ok(Node::Group(Script { statements: vec![definition, call], span: self.span_from(start) }))
    }

    /// `time` begins a pipeline in any place of a command.
    pub(super) fn time_command(&mut self) -> Parse<Node> {
        self.in_time = true;
        let timed = self.timed();
        self.in_time = false;
        Ok(Node::Time(timed?.map(Box::new)))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let after = self.after(word).filter(|after| ends_word(self.byte(self.joined(*after))));
        self.at = after.unwrap_or(self.at);
        after.is_some()
    }
}
