//! Quotes and escapes in a word. This module must not know commands.

use castellan_event::Why;

use super::context::Context;
use super::cursor::Parse;
use super::word::Parts;
use super::{Parser, ansi};
use crate::tree::Part;

impl Parser<'_, '_> {
    /// A `\`. Newlines after it are already gone.
    pub(super) fn escape(&mut self, context: Context, parts: &mut Parts) {
        let start = self.at;
        let next = self.text(start + 1, self.end).chars().next();
        self.at += 1 + next.map_or(0, char::len_utf8);
        let is_removed = match next {
            None => false,
            Some(_) if context.has_escapes() => true,
            Some('$' | '`' | '\\') => true,
            Some('"') => context != Context::Body,
            Some('}') => matches!(context, Context::Operand { .. }),
            Some(_) => false,
        };
        if is_removed {
            parts.push_text(self.text(start + 1, self.at), true);
        } else {
            parts.push_text(self.text(start, self.at), context.is_quoted());
        }
    }

    pub(super) fn single_quoted(&mut self, parts: &mut Parts) -> Parse<()> {
        let start = self.at + 1;
        self.at = start;
        self.find(|byte| byte == b'\'').ok_or(Why::Syntax)?;
        parts.push_text(self.text(start, self.at), true);
        self.at += 1;
        Ok(())
    }

    /// Single quotes in a quoted operand. bash looks for the `}` of the operand outside of them, but they are text of its
    /// value, and what is between is expanded (bash 3.5.3). Other shells end the operand at any `}`.
    pub(super) fn text_quotes(&mut self, parts: &mut Parts) -> Parse<()> {
        let start = self.at + 1;
        self.at = start;
        self.find(|byte| byte == b'\'').ok_or(Why::Syntax)?;
        let close = std::mem::replace(&mut self.at, start);
        let end = std::mem::replace(&mut self.end, close);
        let mut inner = Parts::default();
        let read = self.parts(Context::Body, &mut inner);
        self.end = end;
        self.at = close + 1;
        let is_misleading =
            |part: &Part| matches!(part, Part::Text { text, .. } if text.contains(['}', '"']));
        match read {
            Ok(()) => parts.is_doubtful |= inner.parts.iter().any(is_misleading),
            Err(Why::Syntax) => parts.is_doubtful = true,
            Err(limit) => return Err(limit),
        }
        parts.push_text("'", true);
        inner.parts.into_iter().for_each(|part| parts.append(part));
        parts.push_text("'", true);
        Ok(())
    }

    /// `$'...'` (bash 3.1.2.4).
    pub(super) fn ansi_quoted(&mut self, parts: &mut Parts) -> Parse<()> {
        let start = self.at;
        self.eat("$'");
        let inner = self.at;
        while self.find(|byte| matches!(byte, b'\'' | b'\\')).ok_or(Why::Syntax)? == b'\\' {
            self.at = (self.at + 2).min(self.end);
        }
        let written = self.text(inner, self.at);
        self.at += 1;
        match ansi::decoded(written, self.state.shell) {
            Some(text) => parts.push_text(&text, true),
            None => parts.push(Part::Hole(self.hole(Why::Syntax, start))),
        }
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, parts: &mut Parts) -> Parse<()> {
        self.at += 1;
        let start = self.at;
        self.parts(Context::Quoted, parts)?;
        if self.joined(start) == self.at {
            parts.push_text("", true);
        }
        self.expect("\"")
    }
}
