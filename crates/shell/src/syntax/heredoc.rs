//! Here-documents: POSIX 2.7.4, bash "Here Documents". The body follows the line of its operator, so it is read at the
//! newline, when the redirect is already in the tree; `fill` puts it there.

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::pending::Pending;
use super::source::{Copied, Source};
use super::word::Parts;
use crate::tree::{FdWord, Part, Redirect, RedirectKind, Span, Word};

impl Parser<'_, '_> {
    /// Parses the rest of a redirect after `<<`.
    pub(super) fn heredoc(&mut self, fd: Option<FdWord>, start: usize) -> Parse<Redirect> {
        let strips_tabs = self.eat("-");
        self.blanks();
        let (mut delimiter, is_quoted) = self.delimiter()?;
        if strips_tabs && !self.is_shell(&[Posix]) {
            delimiter = delimiter.trim_start_matches('\t').to_owned();
        }
        let span = self.span_from(start);
        self.heredocs.open += 1;
        self.heredocs.pending.push(Pending { redirect: span.start, delimiter, is_quoted, strips_tabs });
        Ok(Redirect { fd, kind: RedirectKind::Heredoc, target: Word::default(), span })
    }

    /// Moves after a newline, or stays at the end of the text, and reads the bodies that begin there.
    pub(super) fn newline(&mut self) -> Parse<()> {
        self.at = (self.at + 1).min(self.end);
        for pending in std::mem::take(&mut self.heredocs.pending) {
            let start = self.at;
            let (end, after) = self.body_end(&pending);
            self.at = after;
            if pending.is_quoted {
                self.count_cheap()?;
            } else {
                self.count()?;
            }
            let parts = self.body(&pending, start, end)?;
            let word = Word { parts, span: self.source.span(start, end) };
            self.heredocs.bodies.push((pending.redirect, word));
            self.heredocs.open = self.heredocs.open.saturating_sub(1);
        }
        Ok(())
    }

    /// Takes the here-documents of the text outside of a substitution.
    pub(super) fn hold_heredocs(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.heredocs.pending)
    }

    /// Returns them after the substitution. bash 5.2 reads the bodies of its own here-documents after the line, too; in
    /// other shells they are empty.
    pub(super) fn release_heredocs(&mut self, held: Vec<Pending>) {
        let own = std::mem::replace(&mut self.heredocs.pending, held);
        if self.is_shell(&[Bash]) {
            self.heredocs.pending.extend(own);
        } else {
            self.heredocs.open = self.heredocs.open.saturating_sub(own.len());
        }
    }

    /// Finds the line with the delimiter. Returns the end of the body and the offset after the line.
    fn body_end(&self, pending: &Pending) -> (usize, usize) {
        let mut line = self.at;
        while line < self.end {
            let rest = self.text(line, self.end);
            let mut length = rest.find('\n').map_or(rest.len(), |at| at + 1);
            if !pending.is_quoted {
                length = joined_line(rest, length);
            }
            let written = rest.get(..length).unwrap_or(rest);
            if let Some(extra) = pending.closes(written, self.after_delimiter()) {
                return (line, line + length - extra);
            }
            line += length.max(1);
        }
        (self.end, self.end)
    }

    /// bash ends a body in `$(...)` also before the parenthesis: `E)` (`make_cmd.c`, `make_here_document`).
    /// ksh ends any body there.
    fn after_delimiter(&self) -> fn(&str) -> bool {
        match self.state.shell {
            Bash if self.substitutions > 0 => |rest| rest.contains(')'),
            Ksh => |rest| rest.starts_with(')'),
            Bash | Posix | Zsh => |_| false,
        }
    }

    fn body(&mut self, pending: &Pending, start: usize, end: usize) -> Parse<Vec<Part>> {
        if pending.is_quoted {
            let written = self.text(start, end);
            let text = if pending.strips_tabs {
                written.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
            } else {
                written.to_owned()
            };
            return Ok(vec![Part::Text { text, quoted: true }]);
        }
        if !pending.strips_tabs {
            let source = self.source;
            return self.body_of(source, (start, end));
        }
        let mut copied = Copied::default();
        let mut at = start;
        for line in self.text(start, end).split_inclusive('\n') {
            let tabs = line.len() - line.trim_start_matches('\t').len();
            copied.push(self.source, at + tabs, at + line.len());
            at += line.len();
        }
        let source = copied.source();
        self.body_of(&source, (0, source.text.len()))
    }

    fn body_of(&mut self, source: &Source<'_>, range: (usize, usize)) -> Parse<Vec<Part>> {
        let read = self.again(source, range, |parser| parser.expanded_body());
        read.or_else(|why| {
            let span: Span = source.span(range.0, range.1);
            Ok(vec![Part::Hole(self.state.hole(why, span))])
        })
    }

    /// Parses the whole text as a body. The shell expands it only when the command runs, so an error is a hole in it.
    fn expanded_body(&mut self) -> Vec<Part> {
        let mut parts = Parts::default();
        if let Err(why) = self.parts(Context::Body, &mut parts) {
            let start = parts.complete;
            self.at = self.end;
            parts.push(Part::Hole(self.hole(why, start)));
        }
        self.fill_parts(&mut parts.parts);
        parts.parts
    }
}

/// Returns the length of the first line of `rest`, whose first newline is at `length`: an escaped newline ends no line.
fn joined_line(rest: &str, mut length: usize) -> usize {
    loop {
        let line = rest.get(..length).unwrap_or_default();
        let Some(before) = line.strip_suffix('\n') else { return length };
        let escapes = before.len() - before.trim_end_matches('\\').len();
        if escapes % 2 == 0 || length >= rest.len() {
            return length;
        }
        let next = rest.get(length..).unwrap_or_default();
        length += next.find('\n').map_or(next.len(), |at| at + 1);
    }
}
