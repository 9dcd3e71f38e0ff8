//! Reserved words of each shell: bash "Reserved Words", POSIX 2.4, zshmisc "RESERVED WORDS", ksh "Commands".

use castellan_event::Why;

use super::Shell;
use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::cursor::{Parse, Parser};

/// A reserved word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Bang,
    Case,
    Close,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    End,
    Esac,
    Fi,
    For,
    Foreach,
    Function,
    If,
    In,
    Namespace,
    Open,
    Repeat,
    Select,
    Test,
    TestEnd,
    Then,
    Time,
    Until,
    While,
}

const ALL: &[Shell] = &[Bash, Zsh, Posix, Ksh];
const RICH: &[Shell] = &[Bash, Zsh, Ksh];

const KEYWORDS: &[(&str, Keyword, &[Shell])] = &[
    ("!", Keyword::Bang, ALL),
    ("[[", Keyword::Test, RICH),
    ("]]", Keyword::TestEnd, &[Bash]),
    ("case", Keyword::Case, ALL),
    ("coproc", Keyword::Coproc, &[Bash, Zsh]),
    ("do", Keyword::Do, ALL),
    ("done", Keyword::Done, ALL),
    ("elif", Keyword::Elif, ALL),
    ("else", Keyword::Else, ALL),
    ("end", Keyword::End, &[Zsh]),
    ("esac", Keyword::Esac, ALL),
    ("fi", Keyword::Fi, ALL),
    ("for", Keyword::For, ALL),
    ("foreach", Keyword::Foreach, &[Zsh]),
    ("function", Keyword::Function, RICH),
    ("if", Keyword::If, ALL),
    // zsh knows it after `for` and `case` only.
    ("in", Keyword::In, &[Bash, Posix, Ksh]),
    ("namespace", Keyword::Namespace, &[Ksh]),
    ("repeat", Keyword::Repeat, &[Zsh]),
    ("select", Keyword::Select, RICH),
    ("then", Keyword::Then, ALL),
    ("time", Keyword::Time, RICH),
    ("until", Keyword::Until, ALL),
    ("while", Keyword::While, ALL),
    ("{", Keyword::Open, ALL),
    ("}", Keyword::Close, ALL),
];

/// Reserved words that begin no command.
pub(super) const CLOSERS: &[Keyword] = &[
    Keyword::Close,
    Keyword::Do,
    Keyword::Done,
    Keyword::Elif,
    Keyword::Else,
    Keyword::End,
    Keyword::Esac,
    Keyword::Fi,
    Keyword::In,
    Keyword::TestEnd,
    Keyword::Then,
];

/// Their first bytes.
const FIRST: &[u8] = b"![]{}cdefinrstuw";

/// Bytes of the longest reserved word.
const KEYWORD_BYTES: usize = 9;

/// Reports whether a byte, or the end of the text, ends a word (bash "metacharacter").
pub(super) fn ends_word(byte: Option<u8>) -> bool {
    matches!(byte, None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'))
}

impl Parser<'_, '_> {
    /// Returns the reserved word at the position, and the offset after it.
    pub(super) fn keyword(&mut self) -> Option<(Keyword, usize)> {
        // Most words are none: the first byte tells.
        let first = self.peek()?;
        if !FIRST.contains(&first) {
            return None;
        }
        // Where a command begins, zsh takes the brace alone: `{rm a}`.
        if first == b'{' && self.is_shell(&[Zsh]) {
            return Some((Keyword::Open, self.at + 1));
        }
        let mut word = [0; KEYWORD_BYTES];
        let mut length = 0;
        let mut at = self.at;
        while !(ends_word(self.byte(at)) || length > 0 && self.leaves_brace(at)) {
            *word.get_mut(length)? = self.byte(at)?;
            length += 1;
            at = self.joined(at + 1);
        }
        let word = word.get(..length)?;
        // `!(a)` is a pattern, and in zsh `if(a)`.
        let is_pattern = match self.state.shell {
            Zsh => self.begins_pattern(at),
            Ksh => self.byte(at) == Some(b'(') && word == b"!",
            Bash | Posix => false,
        };
        if is_pattern {
            return None;
        }
        let (_, keyword, shells) = KEYWORDS.iter().find(|(name, ..)| name.as_bytes() == word)?;
        self.is_shell(shells).then_some((*keyword, at))
    }

    /// Reports whether zsh gives the `}` at an offset back: it ends a word without its `{` (see `leave_brace`).
    pub(super) fn leaves_brace(&self, at: usize) -> bool {
        self.is_shell(&[Zsh]) && self.byte(at) == Some(b'}') && ends_word(self.byte(self.joined(at + 1)))
    }

    pub(super) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        match self.keyword() {
            Some((found, after)) if found == keyword => {
                self.at = after;
                true
            }
            _ => false,
        }
    }

    pub(super) fn expect_keyword(&mut self, keyword: Keyword) -> Parse<()> {
        if self.eat_keyword(keyword) { Ok(()) } else { Err(Why::Syntax) }
    }

    /// Moves after `in`, which every shell knows after the name of `for` and the word of `case`.
    pub(super) fn eat_in(&mut self) -> bool {
        match self.after("in") {
            Some(after) if ends_word(self.byte(self.joined(after))) && self.range_end_at(after).is_none() => {
                self.at = after;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, KEYWORD_BYTES, KEYWORDS};

    #[test]
    fn every_word_passes_the_first_look() {
        for (word, ..) in KEYWORDS {
            assert!(word.len() <= KEYWORD_BYTES && FIRST.contains(&word.as_bytes()[0]), "{word}");
        }
    }
}
