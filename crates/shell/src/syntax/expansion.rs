//! `${...}`: the parameter and the operation on its value (POSIX 2.6.2, bash 3.5.3, ksh "Parameter Expansion").

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::word::Parts;
use crate::tree::{Index, Operation, Parameter, Part, ReplaceAt, Substitute, Word};

/// The letters after `@` (bash 3.5.3).
const TRANSFORMS: &[u8] = b"UuLQEPAKak";

impl Parser<'_, '_> {
    /// Parses from `${` to the `}`.
    pub(super) fn braced(&mut self, quoted: bool) -> Parse<Part> {
        let start = self.at;
        self.eat("${");
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) && !self.is_shell(&[Posix]) {
            return self.commands_in_braces(quoted);
        }
        if self.peek() == Some(b'}') && self.is_shell(&[Ksh]) {
            return Err(Why::Syntax);
        }
        let holes = self.state.holes.len();
        let parameter =
            if self.is_shell(&[Zsh]) { self.zsh_parameter(quoted) } else { self.parameter(quoted) };
        let parameter = match parameter {
            // An index without its end, which only bash reads: an error when it runs.
            Err(Why::Unsupported) if self.is_shell(&[Bash]) => None,
            parameter => parameter?,
        };
        if let Some((mut parameter, true)) = parameter.map(|read| (read, self.eat("}"))) {
            parameter.span = self.span_from(start);
            return Ok(Part::Parameter { parameter: Box::new(parameter), quoted });
        }
        // The shell rejects it only when it runs the command ("bad substitution").
        self.parts(Context::Operand { quoted }, &mut Parts::default())?;
        self.expect("}")?;
        self.state.holes.truncate(holes);
        // The whole grammar of POSIX is known: dash rejects the form, and bash, which may be `sh`, reads it.
        let why = if self.is_shell(&[Posix]) { Why::Syntax } else { Why::Unsupported };
        Ok(Part::Hole(self.hole(why, start)))
    }

    /// Reads the parameter and its operation; nothing if they are not known.
    fn parameter(&mut self, quoted: bool) -> Parse<Option<Parameter>> {
        if self.begins_length() {
            self.at += 1;
            let Some(name) = self.parameter_name() else { return Ok(None) };
            let index = self.index(quoted)?;
            return Ok(Some(made(name, index, false, Operation::Length)));
        }
        let start = self.at;
        let indirect = self.begins_indirect();
        if indirect {
            self.at += 1;
        }
        let Some(name) = self.parameter_name() else { return Ok(None) };
        let is_prefix = indirect && self.joined_name(&name);
        if is_prefix && (self.eats_before_brace("*") || self.eats_before_brace("@")) {
            return Ok(Some(made(name, None, false, Operation::Names)));
        }
        let index = self.index(quoted)?;
        let is_whole = matches!(index, Some(Index::Each | Index::Joined));
        if indirect && is_whole && self.peek() == Some(b'}') {
            return Ok(Some(made(name, index, false, Operation::Keys)));
        }
        let from = self.at;
        let operation = self.operation(quoted)?;
        if operation.is_none() && index.is_none() && self.at == from {
            // No name after all: in `${${x}}` the `$` begins an expansion.
            self.at = start;
        }
        Ok(operation.map(|operation| made(name, index, indirect, operation)))
    }

    fn joined_name(&self, name: &str) -> bool {
        name.starts_with(|one: char| one == '_' || one.is_ascii_alphabetic())
    }

    /// Moves after a sign if the `}` follows it.
    fn eats_before_brace(&mut self, sign: &str) -> bool {
        match self.after(sign) {
            Some(after) if self.byte(self.joined(after)) == Some(b'}') => {
                self.at = after;
                true
            }
            _ => false,
        }
    }

    /// `${#x}`, and not `${#}`, `${#-default}`.
    pub(super) fn begins_length(&mut self) -> bool {
        if self.peek() != Some(b'#') {
            return false;
        }
        let next = self.joined(self.at + 1);
        match self.byte(next) {
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.byte(self.joined(next + 1)) == Some(b'}')
            }
            Some(byte) => byte == b'_' || byte.is_ascii_alphanumeric(),
            None => false,
        }
    }

    /// `${!x}`, and not `${!}`, `${!-default}`.
    fn begins_indirect(&mut self) -> bool {
        if self.peek() != Some(b'!') || self.is_shell(&[Posix, Zsh]) {
            return false;
        }
        let next = self.joined(self.at + 1);
        match self.byte(next) {
            Some(b'@' | b'*' | b'#') => self.byte(self.joined(next + 1)) == Some(b'}'),
            Some(byte) => byte == b'_' || byte.is_ascii_alphanumeric(),
            None => false,
        }
    }

    /// A name, a number or a special parameter.
    pub(super) fn parameter_name(&mut self) -> Option<String> {
        let byte = self.peek()?;
        let start = self.at;
        let end = match byte {
            b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' => start + 1,
            b'0'..=b'9' => {
                let mut at = start;
                while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
                    at = self.joined(at + 1);
                }
                at
            }
            _ => self.name_end(start)?,
        };
        self.at = end;
        Some(self.joined_text(start, end))
    }

    /// `[...]` after the name.
    pub(super) fn index(&mut self, quoted: bool) -> Parse<Option<Index>> {
        if self.peek() != Some(b'[') || self.is_shell(&[Posix]) {
            return Ok(None);
        }
        self.at += 1;
        for (sign, index) in [("@]", Index::Each), ("*]", Index::Joined)] {
            if self.eat(sign) {
                return Ok(Some(index));
            }
        }
        let word = self.word(Context::BracedIndex { quoted })?;
        if self.peek() == Some(b'}') {
            return Err(Why::Unsupported);
        }
        self.expect("]")?;
        Ok(Some(Index::At(word)))
    }

    pub(super) fn operation(&mut self, quoted: bool) -> Parse<Option<Operation>> {
        let is_posix = self.is_shell(&[Posix]);
        match (self.peek(), self.second()) {
            (Some(b'}'), _) => Ok(Some(Operation::Value)),
            (Some(b':'), Some(b'-' | b'=' | b'+' | b'?')) => {
                self.at = self.joined(self.at + 1);
                self.substitute(true, quoted)
            }
            (Some(b'-' | b'=' | b'+' | b'?'), _) => self.substitute(false, quoted),
            (Some(b':'), _) if !is_posix => self.slice(quoted).map(Some),
            (Some(sign @ (b'#' | b'%')), next) => {
                let longest = next == Some(sign);
                self.at = self.joined(self.at + 1) + usize::from(longest);
                let is_text = quoted && self.is_shell(&[Zsh]);
                let context =
                    if is_text { Context::QuotedPattern { slash: false } } else { Context::Removed };
                let pattern = self.operand(context)?;
                Ok(Some(Operation::Remove { suffix: sign == b'%', longest, pattern }))
            }
            (Some(b'/'), _) if !is_posix => self.replace(quoted).map(Some),
            (Some(sign @ (b'^' | b',' | b'~')), next) if self.is_shell(&[Bash]) => {
                let all = next == Some(sign);
                self.at = self.joined(self.at + 1) + usize::from(all);
                let pattern = self.operand(Context::Operand { quoted })?;
                let pattern = Some(pattern).filter(|pattern| !pattern.parts.is_empty());
                let is_static = pattern.iter().all(|word| word.parts.iter().all(is_text));
                Ok(match sign {
                    // Not in the manual: upper case becomes lower, and the other way round.
                    b'~' => is_static.then_some(Operation::Transform('~')),
                    _ => Some(Operation::Case { upper: sign == b'^', all, pattern }),
                })
            }
            (Some(b'@'), Some(letter)) if TRANSFORMS.contains(&letter) && self.is_shell(&[Bash, Ksh]) => {
                self.at = self.joined(self.at + 1) + 1;
                Ok(Some(Operation::Transform(letter.into())))
            }
            _ => Ok(None),
        }
    }

    fn substitute(&mut self, colon: bool, quoted: bool) -> Parse<Option<Operation>> {
        let kind = match self.peek() {
            Some(b'-') => Substitute::Default,
            Some(b'=') => Substitute::Assign,
            Some(b'+') => Substitute::Alternative,
            _ => Substitute::Error,
        };
        self.at += 1;
        let word = self.operand(Context::Operand { quoted })?;
        Ok(Some(Operation::Substitute { kind, colon, word }))
    }

    fn slice(&mut self, quoted: bool) -> Parse<Operation> {
        self.at += 1;
        let offset = self.operand(Context::Offset { quoted })?;
        let length = if self.eat(":") { Some(self.operand(Context::Operand { quoted })?) } else { None };
        Ok(Operation::Slice { offset, length })
    }

    fn replace(&mut self, quoted: bool) -> Parse<Operation> {
        self.at += 1;
        let at = match self.peek() {
            Some(b'/') => ReplaceAt::All,
            Some(b'#') => ReplaceAt::Start,
            Some(b'%') => ReplaceAt::End,
            _ => ReplaceAt::First,
        };
        self.at += usize::from(at != ReplaceAt::First);
        // Single quotes and escapes mean the same in and outside of double quotes, but in zsh.
        let is_text = quoted && self.is_shell(&[Zsh]);
        let context = if is_text { Context::QuotedPattern { slash: true } } else { Context::Pattern };
        let pattern = self.operand(context)?;
        let has_replacement = self.eat("/");
        let context = if is_text { Context::Operand { quoted } } else { Context::Replacement { quoted } };
        let replacement = has_replacement.then(|| self.operand(context)).transpose()?;
        Ok(Operation::Replace { at, pattern, replacement })
    }

    /// The word after an operator.
    pub(super) fn operand(&mut self, context: Context) -> Parse<Word> {
        self.peek();
        let start = self.at;
        let holes = self.state.holes.len();
        let mut parts = Parts::default();
        if context == (Context::Operand { quoted: false }) {
            self.equals_process(&mut parts)?;
        }
        self.parts(context, &mut parts)?;
        if parts.is_doubtful {
            self.state.holes.truncate(holes);
            parts.parts = vec![Part::Hole(self.hole(Why::Unsupported, start))];
        }
        Ok(Word { parts: parts.parts, span: self.span_from(start) })
    }
}

fn is_text(part: &Part) -> bool {
    matches!(part, Part::Text { .. })
}

pub(super) fn made(name: String, index: Option<Index>, indirect: bool, operation: Operation) -> Parameter {
    Parameter { name, index, indirect, operation, zsh: None, span: Default::default() }
}
