//! Redirects: POSIX 2.7, bash "Redirections". The bodies of here-documents are in `heredoc`.

use castellan_event::Why;

use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::cursor::{Parse, Parser};
use crate::tree::{FdWord, Redirect, RedirectKind, Word};

/// Operators, longer ones first, and the shells that have them.
const OPERATORS: &[(&str, RedirectKind, &[super::Shell])] = &[
    ("&>>|", RedirectKind::AppendBoth, &[Zsh]),
    ("&>>!", RedirectKind::AppendBoth, &[Zsh]),
    ("&>>", RedirectKind::AppendBoth, &[Bash, Zsh]),
    ("&>|", RedirectKind::WriteBoth, &[Zsh]),
    ("&>!", RedirectKind::WriteBoth, &[Zsh]),
    ("&>", RedirectKind::WriteBoth, &[Bash, Zsh, Ksh]),
    (">>&|", RedirectKind::AppendBoth, &[Zsh]),
    (">>&!", RedirectKind::AppendBoth, &[Zsh]),
    (">>&", RedirectKind::AppendBoth, &[Zsh]),
    (">>|", RedirectKind::Append, &[Zsh]),
    (">>!", RedirectKind::Append, &[Zsh]),
    (">&|", RedirectKind::WriteBoth, &[Zsh]),
    (">&!", RedirectKind::WriteBoth, &[Zsh]),
    (">!", RedirectKind::Write, &[Zsh]),
    (">>", RedirectKind::Append, &[Bash, Zsh, Posix, Ksh]),
    (">&", RedirectKind::DuplicateOutput, &[Bash, Zsh, Posix, Ksh]),
    (">|", RedirectKind::Write, &[Bash, Zsh, Posix, Ksh]),
    // ksh replaces the file when the command has succeeded.
    (">;", RedirectKind::Write, &[Ksh]),
    (">", RedirectKind::Write, &[Bash, Zsh, Posix, Ksh]),
    ("<<<", RedirectKind::HereString, &[Bash, Zsh, Ksh]),
    ("<<", RedirectKind::Heredoc, &[Bash, Zsh, Posix, Ksh]),
    ("<&", RedirectKind::DuplicateInput, &[Bash, Zsh, Posix, Ksh]),
    ("<>;", RedirectKind::ReadWrite, &[Ksh]),
    ("<>", RedirectKind::ReadWrite, &[Bash, Zsh, Posix, Ksh]),
    ("<", RedirectKind::Read, &[Bash, Zsh, Posix, Ksh]),
];

impl Parser<'_, '_> {
    /// Parses a redirect, if there is one at the position.
    pub(super) fn redirect(&mut self) -> Parse<Option<Redirect>> {
        let start = self.at;
        let fd = match self.peek() {
            Some(b'<' | b'>') if !self.begins_process() && self.range_end().is_none() => None,
            Some(b'&') if self.second() == Some(b'>') && !self.is_shell(&[Posix]) => None,
            Some(b'0'..=b'9') => match self.descriptor() {
                Some(fd) => Some(fd),
                None => return Ok(None),
            },
            Some(b'{') if !self.is_shell(&[Posix]) => match self.named_descriptor() {
                Some(fd) => Some(fd),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let shell = self.state.shell;
        let operators = OPERATORS.iter().filter(|(.., shells)| shells.contains(&shell));
        let mut found = operators.filter_map(|(sign, kind, _)| Some((self.after(sign)?, *kind)));
        let (after, kind) = found.next().ok_or(Why::Syntax)?;
        self.at = after;
        if kind == RedirectKind::Heredoc {
            return self.heredoc(fd, start).map(Some);
        }
        self.blanks();
        let from = self.at;
        let target = self.target()?;
        // bash, 3.6.4: `>&word` writes both outputs to a file, if the word is no descriptor.
        let writes_both = kind == RedirectKind::DuplicateOutput
            && fd.is_none()
            && !is_descriptor(&self.joined_text(from, self.at));
        let kind = if writes_both { RedirectKind::WriteBoth } else { kind };
        Ok(Some(Redirect { fd, kind, target, span: self.span_from(start) }))
    }

    /// Parses all redirects after a compound command.
    pub(super) fn redirects(&mut self) -> Parse<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            let end = self.at;
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => {
                    self.at = end;
                    return Ok(redirects);
                }
            }
        }
    }

    fn target(&mut self) -> Parse<Word> {
        let start = self.at;
        let word = self.word(self.argument())?;
        if self.at == start { Err(Why::Syntax) } else { Ok(word) }
    }

    /// `2>`: the number. Only bash takes several digits; elsewhere they are a word before the redirect.
    fn descriptor(&mut self) -> Option<FdWord> {
        let digits_max = if self.is_shell(&[Bash]) { 9 } else { 1 };
        let mut number: u32 = 0;
        let (mut at, mut digits) = (self.at, 0);
        while let Some(digit @ b'0'..=b'9') = self.byte(at) {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            digits += 1;
            at = self.joined(at + 1);
        }
        let follows = matches!(self.byte(at), Some(b'<' | b'>')) && digits <= digits_max;
        // `3<(a)` is one word in bash.
        let is_process = self.byte(self.joined(at + 1)) == Some(b'(');
        (follows && !is_process).then(|| {
            self.at = at;
            FdWord::Number(number)
        })
    }

    /// `{name}>`, and `{name[1]}>` in bash and ksh.
    fn named_descriptor(&mut self) -> Option<FdWord> {
        let start = self.at + 1;
        let end = self.name_end(start)?;
        let mut close = end;
        if self.byte(end) == Some(b'[') && self.has_element_descriptors() {
            let is_index = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b']' | b'_');
            while self.byte(close).is_some_and(is_index) {
                close = self.joined(close + 1);
            }
        }
        let after = self.joined(close + 1);
        let follows = self.byte(close) == Some(b'}') && matches!(self.byte(after), Some(b'<' | b'>'));
        follows.then(|| {
            self.at = after;
            FdWord::Variable(self.joined_text(start, end))
        })
    }

    fn has_element_descriptors(&self) -> bool {
        self.is_shell(&[Bash, Ksh])
    }

    /// Reports whether the word from `start` to the position is `{name[...]}` before a redirect, with an index that
    /// may run commands. It is no word then, and the tree has no place for the index.
    pub(super) fn is_element_descriptor(&self, start: usize) -> bool {
        self.byte(start) == Some(b'{')
            && self.has_element_descriptors()
            && self.name_end(start + 1).is_some_and(|end| self.byte(end) == Some(b'['))
            && self.text(start, self.at).ends_with("]}")
            && matches!(self.byte(self.joined(self.at)), Some(b'<' | b'>'))
    }
}

/// A descriptor, `-`, or a descriptor that is moved.
fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    target == "-" || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
