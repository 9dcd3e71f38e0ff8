//! The delimiter of a here-document: a word, but nothing in it is expanded. This module must not know the body.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix};
use super::ansi;
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::keywords::ends_word;
use super::word::Parts;

impl<'t> Parser<'t, '_> {
    /// Reads a delimiter. Also returns true if a part of it is quoted: then the body is not expanded.
    pub(super) fn delimiter(&mut self) -> Parse<(String, bool)> {
        let start = self.at;
        let mut text = String::new();
        let mut is_quoted = false;
        while !ends_word(self.peek()) {
            is_quoted |= self.delimiter_part(&mut text)?;
            self.count()?;
        }
        // The shells differ in a delimiter of several lines. dash takes one backquote as text, but then looks for another.
        let is_doubtful = text.contains('\n') || text.matches('`').count() % 2 == 1;
        if self.at == start || is_doubtful { Err(Why::Syntax) } else { Ok((text, is_quoted)) }
    }

    /// Reads a part, and reports whether it is quoted.
    fn delimiter_part(&mut self, text: &mut String) -> Parse<bool> {
        let from = self.at;
        let has_substitutions = !self.is_shell(&[Posix]);
        match (self.peek(), self.second()) {
            (Some(b'\\'), _) => {
                let length = self.text(self.at + 1, self.end).chars().next().map_or(0, char::len_utf8);
                text.push_str(self.text(from + 1, from + 1 + length));
                self.at += 1 + length;
            }
            (Some(b'\''), _) => text.push_str(self.delimiter_quotes(false)?),
            (Some(b'"'), _) => self.delimiter_double_quotes(text)?,
            (Some(b'$'), Some(b'\'')) if has_substitutions => {
                self.at += 1;
                let written = self.delimiter_quotes(true)?;
                text.push_str(&ansi::decoded(written, self.state.shell).ok_or(Why::Syntax)?);
            }
            (Some(b'$'), Some(b'"')) if self.is_shell(&[Bash, Ksh]) => {
                if self.is_shell(&[Ksh]) {
                    return Err(Why::Syntax);
                }
                self.at += 1;
                self.delimiter_double_quotes(text)?;
            }
            (Some(b'`'), _) | (Some(b'$'), Some(b'(' | b'{')) if has_substitutions => {
                self.written_substitution(text)?;
                return Ok(false);
            }
            _ => {
                self.at += 1;
                self.find(|byte| matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$') || ends_word(Some(byte)));
                text.push_str(self.text(from, self.at));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the text in the single quotes at the position.
    fn delimiter_quotes(&mut self, has_escapes: bool) -> Parse<&'t str> {
        let from = self.at;
        self.at += 1;
        while self.find(|byte| byte == b'\'' || (byte == b'\\' && has_escapes)).ok_or(Why::Syntax)? == b'\\' {
            self.at = (self.at + 2).min(self.end);
        }
        self.at += 1;
        Ok(self.text(from + 1, self.at - 1))
    }

    fn delimiter_double_quotes(&mut self, text: &mut String) -> Parse<()> {
        self.at += 1;
        loop {
            let from = self.at;
            let found = self.find(|byte| matches!(byte, b'"' | b'\\')).ok_or(Why::Syntax)?;
            text.push_str(self.text(from, self.at));
            self.at += 1;
            if found == b'"' {
                return Ok(());
            }
            let is_removed = matches!(self.byte(self.at), Some(b'"' | b'\\' | b'$' | b'`' | b'\n'));
            if !is_removed {
                text.push('\\');
                continue;
            }
            text.push_str(self.text(self.at, self.at + 1));
            self.at += 1;
        }
    }

    /// A substitution, which is text as written. The shells differ if it has quotes or lines.
    fn written_substitution(&mut self, text: &mut String) -> Parse<()> {
        let start = self.at;
        let (holes, background) = (self.state.holes.len(), self.state.background);
        let mut parts = Parts::default();
        match self.peek() {
            Some(b'`') => self.backquoted(Context::Command, &mut parts)?,
            _ => self.dollar(Context::Command, &mut parts)?,
        }
        self.state.holes.truncate(holes);
        self.state.background = background;
        let written = self.text(start, self.at);
        if written.contains(['\'', '"', '\\', '\n', '<', '#']) {
            return Err(Why::Syntax);
        }
        text.push_str(written);
        Ok(())
    }
}
