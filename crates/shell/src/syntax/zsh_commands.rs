//! Commands that only zsh has: `foreach`, `repeat`, `always`, short forms of loops and of `if`, functions without a name
//! (zshmisc, "COMPLEX COMMANDS" and "ALTERNATE FORMS FOR COMPLEX COMMANDS").

use castellan_event::Why;

use super::Shell::Zsh;
use super::assigned;
use super::cursor::{Parse, Parser};
use super::keywords::Keyword;
use crate::tree::{Arithmetic, Node, Script, Word};

impl Parser<'_, '_> {
    /// `{ ...; }` in place of a body between reserved words, or one command.
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
        let statement = self.deeper(Self::chain)?;
        Ok(Script { statements: vec![statement], span: self.span_from(start) })
    }

    /// `if` without `then`: the condition ends with its brackets.
    pub(super) fn short_conditional(&mut self, condition: Script) -> Parse<Node> {
        let mut branches = vec![(condition, self.short_body()?)];
        let mut otherwise = None;
        loop {
            self.blanks();
            if self.eat_keyword(Keyword::Elif) {
                let condition = self.script()?;
                branches.push((condition, self.short_body()?));
            } else if self.eat_keyword(Keyword::Else) {
                self.lines()?;
                otherwise = Some(self.short_body()?);
                return Ok(Node::If { branches, otherwise });
            } else {
                return Ok(Node::If { branches, otherwise });
            }
        }
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

    /// `for x y in WORDS`: further names after the first.
    pub(super) fn eats_more_names(&mut self) -> bool {
        let mut has_more = false;
        while self.is_shell(&[Zsh]) {
            self.blanks();
            let Some(end) = self.name_end(self.at).filter(|_| self.after("in").is_none()) else { break };
            self.at = end;
            has_more = true;
        }
        has_more
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

    /// `{ ... } always { ... }`: both lists run.
    pub(super) fn always(&mut self, body: Script, start: usize) -> Parse<Node> {
        self.blanks();
        let is_always = self.is_shell(&[Zsh]) && self.eat_word("always");
        if !is_always {
            return Ok(Node::Group(body));
        }
        self.blanks();
        let first = self.statement(Node::Group(body), start, false);
        let from = self.at;
        self.expect_keyword(Keyword::Open)?;
        let last = self.script()?;
        self.expect_keyword(Keyword::Close)?;
        let last = self.statement(Node::Group(last), from, false);
        Ok(Node::Group(Script { statements: vec![first, last], span: self.span_from(start) }))
    }

    /// A function without a name runs at once, with the words after it as its parameters.
    pub(super) fn anonymous(&mut self, start: usize) -> Parse<Node> {
        self.lines()?;
        let body = self.deeper(Self::command)?;
        self.blanks();
        if !self.begins_argument() {
            let span = self.span_from(start);
            return Ok(Node::Group(Script { statements: vec![body], span }));
        }
        // The tree has no place for its parameters.
        self.simple()?;
        Ok(Node::Hole(self.hole(Why::Unsupported, start)))
    }

    fn begins_argument(&mut self) -> bool {
        !matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'}' | b'<' | b'>'))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let after =
            self.after(word).filter(|after| super::keywords::ends_word(self.byte(self.joined(*after))));
        self.at = after.unwrap_or(self.at);
        after.is_some()
    }
}
