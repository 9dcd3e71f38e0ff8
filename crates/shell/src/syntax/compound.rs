//! Compound commands: POSIX 2.9.4, bash 3.2.5, ksh "Commands". The short forms of zsh are in `zsh`.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::Keyword;
use super::simple::plain_text;
use crate::tree::{Node, Redirect, Script, Statement};

/// Reads the rest of a compound command.
pub(super) type Reader<P> = fn(&mut P) -> Parse<Node>;

impl Parser<'_, '_> {
    /// Parses one command of a pipeline, with its redirects.
    pub(super) fn command(&mut self) -> Parse<Statement> {
        self.blanks();
        self.count()?;
        let start = self.at;
        let Some(read) = self.compound_at()? else { return self.simple() };
        self.compound(read, start, Vec::new())
    }

    /// The rest of a compound command; zsh also takes redirects before it.
    pub(super) fn compound(
        &mut self,
        read: Reader<Self>,
        start: usize,
        mut redirects: Vec<Redirect>,
    ) -> Parse<Statement> {
        let node = self.deeper(read)?;
        redirects.extend(self.redirects()?);
        let mut statement = self.statement(node, start, false);
        statement.redirects = redirects;
        Ok(statement)
    }

    /// Returns the reader of the compound command at the position, which is after the reserved word then.
    pub(super) fn compound_at(&mut self) -> Parse<Option<Reader<Self>>> {
        if self.peek() == Some(b'(') {
            return Ok(Some(Self::parenthesis));
        }
        let Some((keyword, after)) = self.keyword() else { return Ok(None) };
        let readers: [(Keyword, Reader<Self>); 14] = [
            (Keyword::Case, Self::case),
            (Keyword::Coproc, Self::coproc),
            (Keyword::For, Self::for_each),
            (Keyword::Foreach, Self::foreach),
            (Keyword::Function, Self::function),
            (Keyword::If, Self::conditional),
            (Keyword::Namespace, Self::namespace),
            (Keyword::Repeat, Self::repeat),
            (Keyword::Open, Self::group),
            (Keyword::Select, Self::select),
            (Keyword::Test, Self::test),
            (Keyword::Time, Self::time_command),
            (Keyword::Until, Self::until),
            (Keyword::While, Self::while_loop),
        ];
        // In other shells, it begins a pipeline only: elsewhere it is the program. In zsh it is that after `time`.
        if keyword == Keyword::Time && (self.in_time || !self.is_shell(&[Zsh])) {
            return Ok(None);
        }
        let Some((_, read)) = readers.into_iter().find(|(begins, _)| *begins == keyword) else {
            return Err(Why::Syntax);
        };
        self.at = after;
        Ok(Some(read))
    }

    /// `(...)` and `((...))`
    fn parenthesis(&mut self) -> Parse<Node> {
        let double = self.after("((").filter(|_| !self.is_shell(&[Posix]));
        if let Some(start) = double
            && let Some(close) = self.expression_end(start)?
        {
            self.at = start;
            return self.expression_to(close).map(Node::Arithmetic);
        }
        let start = self.at;
        if self.is_shell(&[Zsh]) && self.begins_parameters() {
            return self.anonymous(start);
        }
        self.at += 1;
        let body = self.closed_script(Self::script)?;
        self.expect(")")?;
        Ok(Node::Subshell(body))
    }

    fn group(&mut self) -> Parse<Node> {
        let start = self.at;
        let body = self.script()?;
        self.expect_keyword(Keyword::Close)?;
        self.always(body, start)
    }

    fn conditional(&mut self) -> Parse<Node> {
        let mut branches = Vec::new();
        loop {
            let condition = self.condition()?;
            let has_then = self.eat_keyword(Keyword::Then);
            let is_braced = !has_then && matches!(self.keyword(), Some((Keyword::Open, _)));
            if self.peek().is_none() {
                return Err(Why::Syntax);
            }
            let body = if has_then { self.script()? } else { self.short_body()? };
            branches.push((condition, body));
            if !has_then {
                // Without `then`, a list in braces may have others after it, and a command none.
                self.blanks();
                let otherwise = match self.keyword() {
                    Some((Keyword::Elif | Keyword::Else, _)) if !is_braced => return Err(Why::Syntax),
                    Some((Keyword::Elif, _)) => None,
                    Some((Keyword::Else, after)) => {
                        self.at = after;
                        Some(self.short_else()?)
                    }
                    _ => return Ok(Node::If { branches, otherwise: None }),
                };
                if otherwise.is_some() {
                    return Ok(Node::If { branches, otherwise });
                }
            }
            if !self.eat_keyword(Keyword::Elif) {
                break;
            }
        }
        let otherwise = if self.eat_keyword(Keyword::Else) { Some(self.script()?) } else { None };
        self.expect_keyword(Keyword::Fi)?;
        Ok(Node::If { branches, otherwise })
    }

    /// To ksh, `;` alone is no condition.
    fn condition(&mut self) -> Parse<Script> {
        let condition = self.script()?;
        let is_missing = condition.statements.is_empty() && self.is_shell(&[Ksh]);
        if is_missing { Err(Why::Syntax) } else { Ok(condition) }
    }

    fn while_loop(&mut self) -> Parse<Node> {
        self.conditional_loop(false)
    }

    fn until(&mut self) -> Parse<Node> {
        self.conditional_loop(true)
    }

    fn conditional_loop(&mut self, until: bool) -> Parse<Node> {
        let condition = self.condition()?;
        let body = if self.is_shell(&[Zsh]) { self.loop_body()? } else { self.done_body()? };
        Ok(Node::While { until, condition, body })
    }

    /// `do ...; done`
    fn done_body(&mut self) -> Parse<Script> {
        self.expect_keyword(Keyword::Do)?;
        let body = self.script()?;
        self.expect_keyword(Keyword::Done)?;
        Ok(body)
    }

    /// `do ...; done`, or `{ ...; }`, which bash, zsh and ksh take without documenting it.
    pub(super) fn loop_body(&mut self) -> Parse<Script> {
        if !self.is_shell(&[Posix]) && self.eat_keyword(Keyword::Open) {
            let body = self.script()?;
            self.expect_keyword(Keyword::Close)?;
            return Ok(body);
        }
        match self.keyword() {
            Some((Keyword::Do, _)) => self.done_body(),
            _ => self.short_body(),
        }
    }

    /// `function NAME`, from after the reserved word on.
    fn function(&mut self) -> Parse<Node> {
        let start = self.at;
        self.blanks();
        let from = self.at;
        if self.closes_braces() {
            return Err(Why::Syntax);
        }
        if self.is_shell(&[Zsh]) && self.begins_anonymous() {
            return self.anonymous(start);
        }
        let mut names: Vec<String> = plain_text(&self.word(Context::Command)?).into_iter().collect();
        if self.at == from {
            return Err(Why::Syntax);
        }
        self.more_functions(&mut names)?;
        self.math_parameters(&names);
        if self.is_shell(&[Ksh]) {
            self.lines()?;
            let is_group = matches!(self.keyword(), Some((Keyword::Open, _)));
            return if is_group {
                self.function_body(names, start).map(|statement| statement.node)
            } else {
                Err(Why::Syntax)
            };
        }
        self.blanks();
        if self.peek() == Some(b'(') {
            // Without `)`, the parenthesis begins the body.
            self.begins_parameters();
        }
        let node = self.function_body(names, start)?.node;
        // ksh takes a group only.
        let is_group = matches!(&node, Node::Function { body, .. } if matches!(body.node, Node::Group(_)));
        if self.is_shell(&[Ksh]) && !is_group { Err(Why::Syntax) } else { Ok(node) }
    }

    /// `coproc [NAME] command`: a name only before a compound command (bash "Coprocesses").
    fn coproc(&mut self) -> Parse<Node> {
        self.blanks();
        let start = self.at;
        let is_compound = self.peek() == Some(b'(') || self.keyword().is_some();
        // zsh has no names.
        let may_have_name = !is_compound && self.is_shell(&[Bash]);
        if may_have_name && let Some(end) = self.name_end(self.at) {
            self.at = end;
            self.blanks();
            let is_name = self.at > end && (self.peek() == Some(b'(') || self.begins_compound());
            if !is_name {
                self.at = start;
            }
        }
        let is_alone = self.is_shell(&[Zsh]) && self.ends_list();
        let statement =
            if is_alone { self.statement(Node::Time(None), start, false) } else { self.command()? };
        let is_definition = matches!(statement.node, Node::Function { .. });
        if is_definition && self.is_shell(&[Bash]) {
            return Err(Why::Syntax);
        }
        Ok(Node::Coproc(Box::new(statement)))
    }

    fn begins_compound(&mut self) -> bool {
        self.keyword().is_some_and(|(keyword, _)| {
            matches!(
                keyword,
                Keyword::Case
                    | Keyword::For
                    | Keyword::If
                    | Keyword::Open
                    | Keyword::Select
                    | Keyword::Test
                    | Keyword::Until
                    | Keyword::While
            )
        })
    }
}
