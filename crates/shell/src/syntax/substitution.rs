//! Commands and expressions in words: `$(...)`, backquotes, `${ ...; }`, `<(...)`, `$((...))`, `$[...]` (bash 3.5.4 to
//! 3.5.6).

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::source::{Copied, Source};
use super::word::Parts;
use crate::tree::{Operation, Parameter, Part, Script};

impl Parser<'_, '_> {
    /// What begins with a `$`.
    pub(super) fn dollar(&mut self, context: Context, parts: &mut Parts) -> Parse<()> {
        let quoted = context.is_quoted();
        let is_bare = !quoted || context == (Context::Replacement { quoted });
        match self.second() {
            Some(b'(') => {
                let part = self.parenthesized(quoted)?;
                parts.push(part);
            }
            Some(b'{') => {
                let part = self.deeper(|parser| parser.braced(quoted))?;
                parts.push(part);
            }
            Some(b'[') if self.is_shell(&[Bash, Zsh]) => {
                self.eat("$[");
                let expression = self.deeper(|parser| parser.expression(Context::Bracket))?;
                self.expect("]")?;
                parts.push(Part::Arithmetic { expression, quoted });
            }
            Some(b'\'') if is_bare && !self.is_shell(&[Posix]) => self.ansi_quoted(parts)?,
            Some(b'"') if !quoted && self.is_shell(&[Bash, Ksh]) => {
                self.at = self.joined(self.at + 1);
                self.double_quoted(parts)?;
            }
            Some(b'$') if !quoted && self.begins_doubtful_pid() => self.doubtful_pid(parts)?,
            Some(_) if self.is_shell(&[Zsh]) => {
                if !self.zsh_plain(quoted, parts)? {
                    self.text_dollar(quoted, parts);
                }
            }
            Some(byte) => match self.parameter_end(self.joined(self.at + 1), byte) {
                Some(end) => parts.push(self.plain_parameter(end, quoted)),
                None => self.text_dollar(quoted, parts),
            },
            None => self.text_dollar(quoted, parts),
        }
        Ok(())
    }

    fn text_dollar(&mut self, quoted: bool, parts: &mut Parts) {
        parts.push_text("$", quoted);
        self.at += 1;
    }

    /// Returns the end of a parameter without braces.
    fn parameter_end(&self, start: usize, first: u8) -> Option<usize> {
        match first {
            b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' | b'0'..=b'9' => Some(start + 1),
            _ => self.name_end(start),
        }
    }

    fn plain_parameter(&mut self, end: usize, quoted: bool) -> Part {
        let start = self.at;
        let name = self.joined_text(self.joined(start + 1), end);
        self.at = end;
        let operation = Operation::Value;
        let span = self.span_from(start);
        let parameter = Parameter { name, index: None, indirect: false, operation, zsh: None, span };
        Part::Parameter { parameter: Box::new(parameter), quoted }
    }

    /// `$((...))` or `$(...)`.
    fn parenthesized(&mut self, quoted: bool) -> Parse<Part> {
        if let Some(start) = self.after("$((")
            && let Some(close) = self.expression_end(start)?
        {
            self.at = start;
            let expression = self.deeper(|parser| parser.expression_to(close))?;
            return Ok(Part::Arithmetic { expression, quoted });
        }
        self.eat("$(");
        let body = self.in_parentheses()?;
        Ok(Part::Command { body, quoted })
    }

    /// Commands up to a `)`.
    fn in_parentheses(&mut self) -> Parse<Script> {
        let held = self.hold_heredocs();
        let in_braces = std::mem::replace(&mut self.in_braces, false);
        self.substitutions += 1;
        let body = self.closed_script(|parser| parser.deeper(Self::script_or_nothing))?;
        self.expect(")")?;
        self.substitutions -= 1;
        self.in_braces = in_braces;
        self.release_heredocs(held);
        Ok(body)
    }

    /// `<(...)` and `>(...)`
    pub(super) fn process(&mut self, parts: &mut Parts) -> Parse<()> {
        let written = self.peek() == Some(b'>');
        self.at = self.joined(self.at + 1) + 1;
        let body = self.in_parentheses()?;
        parts.push(Part::Process { body, written });
        Ok(())
    }

    /// `${ commands; }` and `${| commands; }` of bash 5.3 and ksh: in other shells a substitution that fails.
    pub(super) fn commands_in_braces(&mut self, quoted: bool) -> Parse<Part> {
        self.eat("|");
        let held = self.hold_heredocs();
        let outer = std::mem::replace(&mut self.in_braces, true);
        let body = self.script_or_nothing()?;
        self.expect("}")?;
        self.in_braces = outer;
        self.release_heredocs(held);
        Ok(Part::Command { body, quoted })
    }

    /// Commands in backquotes. The shell looks for the closing one first, takes escapes away, and reads the rest only when
    /// it runs it: an error in it is a hole inside of it (POSIX 2.6.3).
    pub(super) fn backquoted(&mut self, context: Context, parts: &mut Parts) -> Parse<()> {
        let start = self.at + 1;
        self.at = start;
        let mut copied = Copied::default();
        let mut from = start;
        while self.find(|byte| matches!(byte, b'`' | b'\\')).ok_or(Why::Syntax)? == b'\\' {
            let is_removed = match self.byte(self.at + 1) {
                Some(b'$' | b'`' | b'\\') => true,
                Some(b'"') => matches!(
                    context,
                    Context::Quoted | Context::Operand { quoted: true } | Context::QuotedPattern { .. }
                ),
                _ => false,
            };
            if is_removed {
                copied.push(self.source, from, self.at);
                from = self.at + 1;
            }
            self.at = (self.at + 2).min(self.end);
        }
        let close = self.at;
        self.count()?;
        let body = if from == start {
            let source = self.source;
            self.commands(source, (start, close))
        } else {
            copied.push(self.source, from, close);
            let source = copied.source();
            self.commands(&source, (0, source.text.len()))
        };
        self.at = close + 1;
        parts.push(Part::Command { body, quoted: context.is_quoted() });
        Ok(())
    }

    fn commands(&mut self, source: &Source<'_>, range: (usize, usize)) -> Script {
        self.again(source, range, |parser| parser.whole()).unwrap_or_else(|why| {
            let span = source.span(range.0, range.1);
            Script { statements: vec![self.state.hole_statement(why, span)], span }
        })
    }
}
