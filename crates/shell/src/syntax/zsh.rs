//! Expansions that only zsh has: flags, signs, nested expansions, modifiers, `=(...)` (zshexpn). Commands are in
//! `zsh_commands`.

use castellan_event::Why;

use super::Shell::Zsh;
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::expansion::made;
use super::keywords::ends_word;
use super::word::Parts;
use crate::tree::{Index, Operation, Parameter, Part, Word, ZshExpansion};

/// Modifiers of a value: `$x:h` (zshexpn, "Modifiers").
const MODIFIERS: &[u8] = b"aAcehlpPqQrtux&";

impl Parser<'_, '_> {
    /// Reads the parameter of `${...}` with its flags and its operation; nothing if they are not known.
    pub(super) fn zsh_parameter(&mut self, quoted: bool) -> Parse<Option<Parameter>> {
        let mut zsh = ZshExpansion { signs: self.signs(), ..ZshExpansion::default() };
        if self.eat("(") {
            let from = self.at;
            self.find(|byte| matches!(byte, b')' | b'\n')).filter(|byte| *byte == b')').ok_or(Why::Syntax)?;
            zsh.flags = self.text(from, self.at).to_owned();
            if has_quotes_or_commands(&zsh.flags) {
                self.at = from;
                return Ok(None);
            }
            self.at += 1;
        }
        zsh.signs.push_str(&self.signs());
        let is_length = self.begins_length() || self.after("#$").is_some() || self.after("#(").is_some();
        if is_length {
            self.at += 1;
        }
        let from = self.at;
        let name = match self.peek() {
            Some(b'$') if matches!(self.second(), Some(b'{' | b'(')) => {
                zsh.nested = Some(self.nested_word(quoted)?);
                String::new()
            }
            Some(b'"') => {
                let mut parts = Parts::default();
                self.double_quoted(&mut parts)?;
                zsh.nested = Some(Word { parts: parts.parts, span: self.span_from(from) });
                String::new()
            }
            // `${:-word}` has no parameter.
            Some(b':' | b'}') => String::new(),
            _ => match self.parameter_name() {
                Some(name) => name,
                None => return Ok(None),
            },
        };
        let index = self.index(quoted)?;
        let from = self.at;
        let operation = if is_length { Some(Operation::Length) } else { self.zsh_operation(quoted)? };
        if operation.is_none() {
            self.at = from;
            zsh.operation = Some(self.operand(Context::Operand { quoted })?);
        }
        let mut parameter = made(name, index, false, operation.unwrap_or(Operation::Value));
        let is_plain = zsh == ZshExpansion::default() && !parameter.name.is_empty();
        parameter.zsh = (!is_plain).then(|| Box::new(zsh));
        Ok(Some(parameter))
    }

    /// Signs before the name, which may be repeated.
    fn signs(&mut self) -> String {
        let start = self.at;
        while matches!(self.peek(), Some(b'=' | b'~' | b'^' | b'+')) {
            self.at += 1;
        }
        self.joined_text(start, self.at)
    }

    fn nested_word(&mut self, quoted: bool) -> Parse<Word> {
        let start = self.at;
        let mut parts = Parts::default();
        self.dollar(if quoted { Context::Quoted } else { Context::Command }, &mut parts)?;
        Ok(Word { parts: parts.parts, span: self.span_from(start) })
    }

    /// The operations that other shells have, too. A letter after `:` is a modifier, and no offset.
    fn zsh_operation(&mut self, quoted: bool) -> Parse<Option<Operation>> {
        let is_shared = match (self.peek(), self.second()) {
            (Some(b':'), Some(b'-' | b'=' | b'+' | b'?' | b' ' | b'$' | b'(')) => true,
            (Some(b':'), Some(next)) => next.is_ascii_digit(),
            (Some(b'['), _) => false,
            _ => true,
        };
        if is_shared { self.operation(quoted) } else { Ok(None) }
    }

    /// Parses `$=x`, `$#x`, `$x[1]`, `$x:h`; reports whether it is one.
    pub(super) fn zsh_plain(&mut self, quoted: bool, parts: &mut Parts) -> Parse<bool> {
        let start = self.at;
        self.at = self.joined(start + 1);
        let mut zsh = ZshExpansion { signs: self.signs(), ..ZshExpansion::default() };
        let counted = self.second().filter(|_| self.peek() == Some(b'#'));
        let has_length = counted.is_some_and(|next| {
            next == b'_' || next.is_ascii_alphanumeric() || matches!(next, b'@' | b'*' | b'?' | b'-' | b'$')
        });
        if has_length {
            self.at = self.joined(self.at + 1);
        }
        let is_special = zsh.signs.is_empty();
        let name = if is_special { self.parameter_name() } else { self.plain_name() };
        let Some(name) = name else {
            self.at = start;
            return Ok(false);
        };
        let name_end = self.at;
        let (index, rest) = self.plain_index(quoted)?;
        let operation = if has_length { Operation::Length } else { Operation::Value };
        let from = self.at;
        while rest.is_empty()
            && self.peek() == Some(b':')
            && self.second().is_some_and(|next| MODIFIERS.contains(&next))
        {
            self.at = self.joined(self.at + 1) + 1;
        }
        if self.at > from {
            let parts = vec![Part::Text { text: self.joined_text(from, self.at), quoted }];
            zsh.operation = Some(Word { parts, span: self.span_from(from) });
        }
        let mut parameter = made(name, index, false, operation);
        let end = if rest.is_empty() { self.at } else { name_end };
        parameter.span = self.source.span(start, end);
        parameter.zsh = (zsh != ZshExpansion::default()).then(|| Box::new(zsh));
        parts.push(Part::Parameter { parameter: Box::new(parameter), quoted });
        rest.into_iter().for_each(|part| parts.append(part));
        Ok(true)
    }

    /// Reads `[...]` after a parameter without braces. It ends with the word or the quotes, also without its `]`.
    /// Then it is text.
    fn plain_index(&mut self, quoted: bool) -> Parse<(Option<Index>, Vec<Part>)> {
        if self.peek() != Some(b'[') {
            return Ok((None, Vec::new()));
        }
        let known = [("[@]", Index::Each), ("[*]", Index::Joined)];
        if let Some((_, index)) = known.into_iter().find(|(sign, _)| self.eat(sign)) {
            return Ok((Some(index), Vec::new()));
        }
        self.at += 1;
        let start = self.at;
        let mut inner = Parts::default();
        let context = if quoted { Context::QuotedIndex } else { Context::Index { blanks: false } };
        self.deeper(|parser| parser.parts(context, &mut inner))?;
        let word = Word { parts: inner.parts, span: self.span_from(start) };
        if self.eat("]") {
            return Ok((Some(Index::At(word)), Vec::new()));
        }
        let text = Part::Text { text: "[".to_owned(), quoted };
        Ok((None, [text].into_iter().chain(word.parts).collect()))
    }

    fn plain_name(&mut self) -> Option<String> {
        let start = self.at;
        self.at = self.name_end(start)?;
        Some(self.joined_text(start, self.at))
    }

    /// Returns the end of `<1-9>`, a pattern of numbers.
    pub(super) fn range_end(&self) -> Option<usize> {
        self.range_end_at(self.at)
    }

    /// Returns the end of a range that begins at an offset.
    pub(super) fn range_end_at(&self, start: usize) -> Option<usize> {
        if self.byte(start) != Some(b'<') || !self.is_shell(&[Zsh]) {
            return None;
        }
        let mut at = self.digits_end(start + 1);
        if self.byte(at) != Some(b'-') {
            return None;
        }
        at = self.digits_end(at + 1);
        (self.byte(at) == Some(b'>')).then_some(at + 1)
    }

    fn digits_end(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
            at += 1;
        }
        at
    }

    pub(super) fn range(&mut self, parts: &mut Parts) {
        let start = self.at;
        self.at = self.range_end().unwrap_or(start + 1);
        parts.push_text(self.text(start, self.at), false);
    }

    /// Gives back a `}` at the end of a word that has no `{` for it: it closes a group (`lex.c`, "hack to get {foo}
    /// command syntax work").
    pub(super) fn leave_brace(&mut self, start: usize, parts: &mut Parts) {
        let ends = self.is_shell(&[Zsh]) && self.at > start + 1 && self.text(start, self.at).ends_with('}');
        if !ends {
            return;
        }
        let mut open = 0_usize;
        let mut is_closer = false;
        for part in &parts.parts {
            let Part::Text { text, quoted: false } = part else { continue };
            for byte in text.bytes() {
                is_closer = byte == b'}' && open == 0;
                open += usize::from(byte == b'{');
                open -= usize::from(byte == b'}' && open > 0);
            }
        }
        if let Some(Part::Text { text, quoted: false }) = parts.parts.last_mut()
            && is_closer
        {
            text.pop();
            self.at -= 1;
            if text.is_empty() {
                parts.parts.pop();
            }
        }
    }

    /// zsh closes a group with any word `}` (zshoptions, IGNORE_CLOSE_BRACES), also with the one before another:
    /// `{a }}`.
    pub(super) fn closes_braces(&mut self) -> bool {
        if !self.is_shell(&[Zsh]) || self.peek() != Some(b'}') {
            return false;
        }
        let next = self.joined(self.at + 1);
        let at = if self.byte(next) == Some(b'}') { self.joined(next + 1) } else { next };
        ends_word(self.byte(at)) && !self.begins_pattern(at)
    }

    /// `1=value` assigns a positional parameter, which the tree has no place for.
    pub(super) fn begins_positional_value(&mut self) -> bool {
        let start = self.at;
        if !self.is_shell(&[Zsh]) {
            return false;
        }
        self.at = self.digits_end(start);
        let begins = self.at > start && self.begins_value();
        self.at = start;
        begins
    }

    /// Reports whether a word of zsh goes on with a pattern or process at an offset: `}(a)`, `}<1-2>`.
    pub(super) fn begins_pattern(&self, at: usize) -> bool {
        let is_group = self.byte(at) == Some(b'(') && self.byte(self.joined(at + 1)) != Some(b')');
        let is_process =
            matches!(self.byte(at), Some(b'<' | b'>')) && self.byte(self.joined(at + 1)) == Some(b'(');
        self.is_shell(&[Zsh]) && (is_group || is_process || self.range_end_at(at).is_some())
    }

    pub(super) fn begins_doubtful_pid(&self) -> bool {
        self.is_shell(&[Zsh]) && (self.after("$$(").is_some() || self.after("$${").is_some())
    }

    /// `$$(...)` and `$${...}`: zsh looks for the end as for one of `$(...)` or `${...}`. Then it takes the `$$`
    /// first, and fails.
    pub(super) fn doubtful_pid(&mut self, parts: &mut Parts) -> Parse<()> {
        let start = self.at;
        let (holes, background) = (self.state.holes.len(), self.state.background);
        self.at = self.joined(start + 1);
        self.dollar(Context::Command, &mut Parts::default())?;
        self.state.holes.truncate(holes);
        self.state.background = background;
        parts.push(Part::Hole(self.hole(Why::Unsupported, start)));
        Ok(())
    }

    /// `=(...)` at the beginning of a word: a file with the output.
    pub(super) fn equals_process(&mut self, parts: &mut Parts) -> Parse<()> {
        if self.is_shell(&[Zsh]) && self.after("=(").is_some() {
            return self.process(parts);
        }
        Ok(())
    }
}

/// zsh looks for the end of the expansion before it knows flags: quotes and braces in them hide it. Their arguments may
/// run commands: `${(r:$(a):)x}`.
fn has_quotes_or_commands(flags: &str) -> bool {
    flags.contains(['"', '\'', '`', '{', '}']) || flags.contains("$(") || flags.contains("$[")
}
