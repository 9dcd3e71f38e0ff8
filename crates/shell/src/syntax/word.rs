//! Words: quotes, escapes, and where a word ends (POSIX 2.2 and 2.3, bash "Quoting"). This module must not know the
//! expansions after a `$`.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use crate::tree::{Part, Word};

/// Parts of a word that is being read.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    /// The offset up to which the text is in the parts.
    pub(super) complete: usize,
    /// A single quote in a quoted operand hides a closer or a quote: bash and other shells end the operand elsewhere.
    pub(super) is_doubtful: bool,
}

impl Parts {
    pub(super) fn push(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// Appends a part; text is joined with the text before it.
    pub(super) fn append(&mut self, part: Part) {
        if let Part::Text { text, quoted } = &part {
            self.push_text(text, *quoted);
        } else {
            self.parts.push(part);
        }
    }

    /// Appends text, joined with the text before it.
    pub(super) fn push_text(&mut self, text: &str, quoted: bool) {
        match self.parts.last_mut() {
            Some(Part::Text { text: last, quoted: as_last }) if *as_last == quoted => last.push_str(text),
            _ => self.parts.push(Part::Text { text: text.to_owned(), quoted }),
        }
    }
}

/// Open brackets of a word, which are text.
#[derive(Debug, Default)]
struct Nest {
    groups: usize,
    brackets: usize,
    braces: usize,
    ternaries: usize,
    /// The offset after unquoted text: `@(` is a pattern, `\@(` is none.
    plain_end: usize,
}

impl Parser<'_, '_> {
    pub(super) fn word(&mut self, context: Context) -> Parse<Word> {
        self.peek();
        let start = self.at;
        let mut parts = Parts::default();
        if context.is_word() {
            self.equals_process(&mut parts)?;
        }
        self.parts(context, &mut parts)?;
        if context.is_word() {
            self.leave_brace(start, &mut parts);
        }
        Ok(Word { parts: parts.parts, span: self.span_from(start) })
    }

    /// Reads parts up to the end of the text in its surroundings. The caller reads the closer.
    pub(super) fn parts(&mut self, context: Context, parts: &mut Parts) -> Parse<()> {
        let mut nest = Nest::default();
        loop {
            self.count()?;
            parts.complete = self.at;
            let Some(byte) = self.peek() else {
                let is_open = nest.groups > 0 && context.is_word() && !self.is_shell(&[Zsh]);
                return if is_open { Err(Why::Syntax) } else { Ok(()) };
            };
            if self.ends(context, byte, &mut nest) {
                return Ok(());
            }
            match byte {
                b'\\' => self.escape(context, parts),
                b'\'' if context.has_single_quotes() => self.single_quoted(parts)?,
                b'\'' if context == (Context::Operand { quoted: true }) && self.is_shell(&[Bash]) => {
                    self.text_quotes(parts)?;
                }
                // An error in every shell.
                b'\'' if context.is_open_expression() && !self.has_text_quotes(context) => {
                    return Err(Why::Syntax);
                }
                b'"' if context != Context::Body && !self.has_text_quotes(context) => {
                    self.double_quoted(parts)?
                }
                b'`' => self.backquoted(context, parts)?,
                b'$' => self.dollar(context, parts)?,
                b'<' | b'>' if self.has_processes(context) && self.begins_process() => {
                    // To ksh, it is a word of its own: `rm<(a)-rf` has three.
                    let is_word = context.is_word() && self.is_shell(&[Ksh]);
                    if !is_word || parts.parts.is_empty() {
                        self.process(parts)?;
                    }
                    if is_word {
                        return Ok(());
                    }
                }
                b'<' if context.has_ranges() && self.range_end().is_some() => self.range(parts),
                _ => self.plain(context, parts, &mut nest),
            }
        }
    }

    /// In `${...}` of zsh, `<(` is text.
    fn has_processes(&self, context: Context) -> bool {
        let is_bare = context.is_word() || matches!(context, Context::Index { .. });
        !context.is_quoted() && (is_bare || !self.is_shell(&[Zsh]))
    }

    /// In `$[...]` of zsh, quotes are text.
    fn has_text_quotes(&self, context: Context) -> bool {
        context == Context::Bracket && self.is_shell(&[Zsh])
    }

    /// Reads text up to the next byte that may be more. The byte at the position is text.
    fn plain(&mut self, context: Context, parts: &mut Parts, nest: &mut Nest) {
        let start = self.at;
        self.at += 1;
        self.find(|byte| context.is_special(byte));
        let is_pattern = matches!(context, Context::QuotedPattern { .. });
        parts.push_text(self.text(start, self.at), context.is_quoted() && !is_pattern);
        nest.plain_end = self.at;
    }

    /// Reports whether the byte at the position ends the text.
    fn ends(&self, context: Context, byte: u8, nest: &mut Nest) -> bool {
        match context {
            Context::Command | Context::Glob | Context::Regex => self.ends_word_at(context, byte, nest),
            Context::Quoted => byte == b'"',
            Context::Body => false,
            // In zsh, and not in double quotes, braces nest: `${x:-{a}}`. In ksh only those of patterns: `${x#{2}(a)}`.
            Context::Operand { quoted: false }
            | Context::Replacement { quoted: false }
            | Context::Pattern
            | Context::Removed
            | Context::Offset { quoted: false }
                if self.is_shell(&[Zsh]) && matches!(byte, b'{' | b'}') =>
            {
                closes_pair(byte, (b'{', b'}'), &mut nest.braces)
            }
            Context::Replacement { .. } | Context::Pattern | Context::Removed
                if self.is_shell(&[Ksh]) && matches!(byte, b'{' | b'}') =>
            {
                closes_pair(byte, (b'{', b'}'), &mut nest.braces)
            }
            Context::Operand { .. } | Context::Replacement { .. } | Context::Removed => byte == b'}',
            Context::QuotedPattern { slash } => byte == b'}' || (slash && byte == b'/'),
            Context::Pattern => byte == b'}' || (byte == b'/' && nest.braces == 0),
            Context::Offset { .. } => match byte {
                b'}' => true,
                b':' if nest.groups == 0 && nest.ternaries == 0 => true,
                b':' => {
                    nest.ternaries = nest.ternaries.saturating_sub(1);
                    false
                }
                b'?' => {
                    nest.ternaries += 1;
                    false
                }
                _ => {
                    closes_group(byte, nest);
                    false
                }
            },
            Context::Clause => (byte == b';' && nest.groups == 0) || closes_group(byte, nest),
            Context::Bracket => closes_bracket(byte, nest),
            Context::QuotedIndex => byte == b'"' || closes_bracket(byte, nest),
            Context::BracedIndex { .. } => byte == b'}' || closes_bracket(byte, nest),
            // In zsh, the index is a part of the word: `a[(r)b c*]`.
            Context::Index { blanks: false } if self.is_shell(&[Zsh]) => {
                closes_bracket(byte, nest) || (byte != b']' && self.ends_word_at(Context::Glob, byte, nest))
            }
            Context::Index { blanks } => {
                (!blanks && super::keywords::ends_word(Some(byte)) && !self.begins_process())
                    || closes_bracket(byte, nest)
            }
        }
    }

    fn ends_word_at(&self, context: Context, byte: u8, nest: &mut Nest) -> bool {
        let is_zsh = self.is_shell(&[Zsh]);
        match byte {
            // In zsh, `()` always begins a function.
            b'(' if is_zsh && self.second() == Some(b')') => true,
            b'(' if nest.groups > 0 || context != Context::Command || self.is_after_pattern_sign(nest) => {
                nest.groups += 1;
                false
            }
            b'(' => true,
            b')' => closes_group(byte, nest),
            b'|' => nest.groups == 0 && context != Context::Regex,
            b'<' | b'>' => {
                (nest.groups == 0 || is_zsh) && !self.begins_process() && self.range_end().is_none()
            }
            // In zsh, a parenthesis may stay open: `noglob a(; b`.
            b';' | b'&' => nest.groups == 0 || is_zsh,
            b' ' | b'\t' | b'\n' => nest.groups == 0,
            _ => false,
        }
    }

    /// `@(`, `?(`, `*(`, `+(`, `!(`: a pattern of ksh, and of bash with `extglob`. Only ksh has `~(`, `%(` and `{2}(`.
    fn is_after_pattern_sign(&self, nest: &Nest) -> bool {
        let Some(at) = self.at.checked_sub(1).filter(|_| nest.plain_end == self.at) else { return false };
        match self.byte(at) {
            Some(b'@' | b'?' | b'*' | b'+' | b'!') => !self.is_shell(&[Posix]),
            Some(b'~' | b'%') => self.is_shell(&[Ksh]),
            Some(b'}') => self.is_shell(&[Ksh]) && self.ends_count(at),
            _ => false,
        }
    }

    /// Reports whether a `}` ends `{2}` or `{1,3}`.
    fn ends_count(&self, close: usize) -> bool {
        let before = self.text(0, close).trim_end_matches(|one: char| one.is_ascii_digit() || one == ',');
        before.len() < close && before.ends_with('{')
    }

    /// `<(` and `>(`; dash has none.
    pub(super) fn begins_process(&self) -> bool {
        matches!(self.byte(self.at), Some(b'<' | b'>'))
            && self.second() == Some(b'(')
            && !self.is_shell(&[Posix])
    }

    /// Returns the offset after the name that begins at an offset.
    pub(super) fn name_end(&self, start: usize) -> Option<usize> {
        let mut at = self.joined(start);
        let is_first = |byte: u8| byte == b'_' || byte.is_ascii_alphabetic();
        self.byte(at).filter(|byte| is_first(*byte))?;
        while self.byte(at).is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            at = self.joined(at + 1);
        }
        Some(at)
    }

    /// The surroundings of a word after the first of a command, and of a pattern.
    pub(super) fn argument(&self) -> Context {
        if self.is_shell(&[Zsh]) { Context::Glob } else { Context::Command }
    }
}

/// Follows the parentheses; reports whether the byte closes one that is not open.
fn closes_group(byte: u8, nest: &mut Nest) -> bool {
    closes_pair(byte, (b'(', b')'), &mut nest.groups)
}

fn closes_bracket(byte: u8, nest: &mut Nest) -> bool {
    closes_pair(byte, (b'[', b']'), &mut nest.brackets)
}

fn closes_pair(byte: u8, (open, close): (u8, u8), count: &mut usize) -> bool {
    if byte == close && *count == 0 {
        return true;
    }
    *count += usize::from(byte == open);
    *count -= usize::from(byte == close);
    false
}
