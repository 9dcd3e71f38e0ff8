//! Lists, and-or lists and pipelines: POSIX 2.10.2, `program` to `pipeline`. This module must not know commands.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::cursor::{Parse, Parser};
use super::keywords::{CLOSERS, Keyword};
use crate::tree::{Connector, FdWord, Node, Part, Redirect, RedirectKind, Script, Span, Statement, Word};

/// The end of a statement in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Newline,
    /// `;` or `&`
    Mark,
    /// A closer, or the end of the text.
    Missing,
}

/// A place to which an error goes back.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: usize,
    statements: usize,
    holes: usize,
}

impl Parser<'_, '_> {
    /// Parses the text from the position to its end. An error becomes a hole.
    pub(super) fn whole(&mut self) -> Script {
        let start = self.at;
        let mut statements = Vec::new();
        let mut line = self.mark(&statements);
        let mut statement = line;
        if let Err(why) = self.complete_lines(&mut statements, &mut line, &mut statement) {
            // A shell runs a line only if it can read the whole line. Over a limit of castellan, the first statements
            // of the line run; but then their here-documents may be in the part that is not read.
            let is_limit = matches!(why, Why::Nesting | Why::Budget | Why::Size);
            let mark = if is_limit && self.heredocs.open == 0 { statement } else { line };
            statements.truncate(mark.statements);
            self.state.holes.truncate(mark.holes);
            let span = self.source.span(mark.at, self.end);
            statements.push(self.state.hole_statement(why, span));
        }
        self.fill(&mut statements);
        Script { statements, span: self.source.span(start, self.end) }
    }

    fn complete_lines(
        &mut self,
        statements: &mut Vec<Statement>,
        line: &mut Mark,
        statement: &mut Mark,
    ) -> Parse<()> {
        let mut separator = Separator::Newline;
        loop {
            if separator == Separator::Newline {
                if self.heredocs.open > 0 {
                    self.newline()?;
                }
                // The line is complete, also if a limit ends the text in the comments after it.
                *line = self.mark(statements);
                *statement = *line;
                self.lines()?;
                *line = self.mark(statements);
            }
            self.blanks();
            *statement = self.mark(statements);
            match self.peek() {
                None => return self.newline(),
                Some(b'\n') => separator = Separator::Newline,
                Some(_) if separator == Separator::Missing || !self.begins_command() => {
                    return Err(Why::Syntax);
                }
                Some(_) => separator = self.listed(statements)?,
            }
        }
    }

    fn mark(&self, statements: &[Statement]) -> Mark {
        Mark { at: self.at, statements: statements.len(), holes: self.state.holes.len() }
    }

    /// Parses statements up to a closer. zsh allows none where other shells require one.
    pub(super) fn script(&mut self) -> Parse<Script> {
        let (script, has_any) = self.script_and_marks()?;
        let is_missing = !has_any && !self.is_shell(&[Zsh]);
        if is_missing { Err(Why::Syntax) } else { Ok(script) }
    }

    pub(super) fn script_or_nothing(&mut self) -> Parse<Script> {
        self.script_and_marks().map(|(script, _)| script)
    }

    /// Also reports whether there is anything: to ksh, `;` alone is a list.
    fn script_and_marks(&mut self) -> Parse<(Script, bool)> {
        let start = self.at;
        let mut statements = Vec::new();
        let mut separator = Separator::Newline;
        let mut has_any = false;
        loop {
            self.lines()?;
            if separator == Separator::Missing || !self.begins_command() {
                let span = self.span_from(start);
                return Ok((Script { statements, span }, has_any));
            }
            separator = self.listed(&mut statements)?;
            has_any = true;
        }
    }

    /// Parses a statement with its separator.
    fn listed(&mut self, statements: &mut Vec<Statement>) -> Parse<Separator> {
        // zsh and ksh take an empty command before `;`.
        let is_empty = self.peek() == Some(b';') && self.is_shell(&[Zsh, Ksh]);
        if !is_empty {
            statements.push(self.chain()?);
        }
        self.blanks();
        match (self.peek(), self.second()) {
            (Some(b'\n'), _) => Ok(Separator::Newline),
            (Some(b';'), Some(b';' | b'&')) => Ok(Separator::Missing),
            (Some(b';'), Some(b'|')) if self.is_shell(&[Zsh]) => Ok(Separator::Missing),
            (Some(b';'), _) => {
                self.at += 1;
                Ok(Separator::Mark)
            }
            (Some(b'|'), Some(b'&')) if self.is_shell(&[Ksh]) => {
                self.eat("|&");
                self.state.background = true;
                if let Some(last) = statements.pop() {
                    let span = Span { end: self.span_from(self.at - 1).end, ..last.span };
                    let node = Node::Coproc(Box::new(last));
                    statements.push(Statement {
                        node,
                        redirects: Vec::new(),
                        background: true,
                        negated: false,
                        span,
                    });
                }
                Ok(Separator::Mark)
            }
            (Some(b'&'), next) if next != Some(b'&') => {
                self.at += 1;
                if self.is_shell(&[Zsh]) && matches!(next, Some(b'|' | b'!')) {
                    self.at = self.joined(self.at) + 1;
                }
                self.state.background = true;
                if let Some(last) = statements.last_mut() {
                    last.background = true;
                }
                Ok(Separator::Mark)
            }
            _ => Ok(Separator::Missing),
        }
    }

    /// Reports whether a command begins at the position, or anything that no list ends with.
    pub(super) fn begins_command(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => false,
            Some(b'}') if self.in_braces => false,
            Some(b'&') if self.is_shell(&[Zsh]) => self.second() == Some(b'>'),
            Some(b'|') => !self.is_shell(&[Zsh]),
            Some(b';') => self.is_shell(&[Zsh, Ksh]) && !matches!(self.second(), Some(b';' | b'&' | b'|')),
            Some(_) => match self.keyword() {
                Some((keyword, _)) => !CLOSERS.contains(&keyword),
                None => true,
            },
        }
    }

    /// `a && b || c`
    pub(super) fn chain(&mut self) -> Parse<Statement> {
        let mut before = Vec::new();
        let mut connectors = Vec::new();
        let mut last = self.pipeline()?;
        loop {
            self.blanks();
            let connector =
                if self.eat("&&") { Some(Connector::And) } else { self.eat("||").then_some(Connector::Or) };
            let Some(connector) = connector else {
                return Ok(joined(before, last, |all| Node::Chain { all, connectors }));
            };
            self.lines_and_marks()?;
            // zsh and ksh take an empty command, ksh before `;` only.
            let is_empty = match self.state.shell {
                Zsh => !self.begins_command() && self.peek() != Some(b'&'),
                Ksh => self.peek() == Some(b';') && self.begins_command(),
                Bash | Posix => false,
            };
            if is_empty {
                return Ok(joined(before, last, |all| Node::Chain { all, connectors }));
            }
            connectors.push(connector);
            before.push(last);
            last = self.pipeline()?;
        }
    }

    /// `! time a | b`
    pub(super) fn pipeline(&mut self) -> Parse<Statement> {
        let start = self.at;
        let mut negated = false;
        loop {
            self.blanks();
            self.count()?;
            if !self.is_shell(&[Zsh]) && self.eat_keyword(Keyword::Time) {
                let node = Node::Time(self.deeper(Self::timed)?.map(Box::new));
                return Ok(self.statement(node, start, negated));
            }
            if !self.eat_bang() {
                break;
            }
            if negated && self.is_shell(&[Posix, Zsh]) {
                return Err(Why::Syntax);
            }
            negated = !negated;
        }
        // `!` alone is a command that fails.
        let is_alone = self.at > start
            && self.is_shell(&[Bash, Zsh, Ksh])
            && self.ends_list()
            && !self.begins_zsh_mark();
        if is_alone {
            return Ok(self.statement(Node::Time(None), start, negated));
        }
        let mut before = Vec::new();
        let mut last = self.command()?;
        loop {
            let end = self.at;
            self.blanks();
            let with_errors = self.after("|&").filter(|_| self.is_shell(&[Bash, Zsh]));
            if let Some(after) = with_errors {
                let from = self.at;
                self.at = after;
                last.redirects.push(self.errors_too(from));
            } else if self.peek() == Some(b'|') && self.second() != Some(b'|') && self.after("|&").is_none() {
                self.at += 1;
            } else {
                let mut statement = joined(before, last, Node::Pipe);
                if negated {
                    statement.span = self.source.span(start, end);
                }
                statement.negated |= negated;
                return Ok(statement);
            }
            self.lines_and_marks()?;
            before.push(last);
            let from = self.at;
            let mut is_negated = false;
            while self.is_shell(&[Ksh]) && self.eat_bang() {
                is_negated = !is_negated;
                self.blanks();
            }
            last = if self.at > from && self.ends_list() {
                self.statement(Node::Time(None), from, true)
            } else {
                self.command()?
            };
            last.negated |= is_negated;
        }
    }

    /// `!` before a command. In ksh and zsh, `!(a)` is a pattern. In `!(a)` bash has a pattern with `extglob`, which
    /// scripts do not set, and a subshell without. The subshell has all commands of both.
    fn eat_bang(&mut self) -> bool {
        self.eat_keyword(Keyword::Bang)
    }

    /// The command of `time`; without any, the shell prints its own times.
    pub(super) fn timed(&mut self) -> Parse<Option<Statement>> {
        // In zsh they are the command.
        let options: &[&str] = if self.is_shell(&[Zsh]) { &[] } else { &["-p", "--"] };
        for option in options {
            self.blanks();
            let ends =
                self.after(option).filter(|after| super::keywords::ends_word(self.byte(self.joined(*after))));
            self.at = ends.unwrap_or(self.at);
        }
        self.blanks();
        if self.ends_list() && !self.begins_zsh_mark() { Ok(None) } else { self.pipeline().map(Some) }
    }

    /// zsh takes `&` only after a command.
    fn begins_zsh_mark(&mut self) -> bool {
        self.is_shell(&[Zsh]) && self.peek() == Some(b'&') && self.second() != Some(b'&')
    }

    pub(super) fn ends_list(&mut self) -> bool {
        matches!(self.peek(), None | Some(b'\n' | b';' | b')'))
            || (self.peek() == Some(b'&') && self.second() != Some(b'>'))
            || self.after("||").is_some()
            || (self.after("|&").is_some() && self.is_shell(&[Ksh]))
            || !self.begins_command()
    }

    pub(super) fn statement(&self, node: Node, start: usize, negated: bool) -> Statement {
        let span = self.span_from(start);
        Statement { node, redirects: Vec::new(), background: false, negated, span }
    }

    /// `a |& b` is `a 2>&1 | b`.
    fn errors_too(&self, start: usize) -> Redirect {
        let span = self.span_from(start);
        let parts = vec![Part::Text { text: "1".to_owned(), quoted: false }];
        let target = Word { parts, span };
        Redirect { fd: Some(FdWord::Number(2)), kind: RedirectKind::DuplicateOutput, target, span }
    }
}

/// Several statements are one; one is itself.
fn joined(
    mut before: Vec<Statement>,
    last: Statement,
    node: impl FnOnce(Vec<Statement>) -> Node,
) -> Statement {
    let Some(first) = before.first() else { return last };
    let span = Span { start: first.span.start, end: last.span.end };
    before.push(last);
    Statement { node: node(before), redirects: Vec::new(), background: false, negated: false, span }
}
