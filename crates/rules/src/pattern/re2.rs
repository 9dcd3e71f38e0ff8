//! RE2's POSIX syntax, rewritten for the regex crate. A pattern that RE2 rejects in this mode is rejected. It knows the
//! syntax of patterns, not their matches.

use std::fmt::Write as _;

/// The reason why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RegexError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// A pattern for the regex crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    /// Without [`ANYTHING`] at its ends.
    pub(super) text: String,
    /// Any text may come before the match.
    pub(super) anything_before: bool,
    /// Any text may come after the match.
    pub(super) anything_behind: bool,
}

/// The usual start and end of patterns, equal in the source and in the translation.
pub(super) const ANYTHING: &str = "(.|\n)*";

/// Returns the pattern for the regex crate.
pub(super) fn translate(pattern: &str) -> Result<Translated, RegexError> {
    let chars = pattern.chars().collect();
    let translator =
        Translator { chars, at: 0, out: String::new(), depth: 0, last_group: 0, is_alternation: false };
    translator.translate()
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    /// Number of open groups.
    depth: usize,
    /// Start of the last group that is in no other group.
    last_group: usize,
    /// An alternation is outside all groups. Then the start and the end of the pattern belong to one alternative only.
    is_alternation: bool,
}

impl Translator {
    fn translate(mut self) -> Result<Translated, RegexError> {
        while let Some(char) = self.next() {
            match char {
                '\\' => {
                    let char = self.escape()?;
                    self.push(char);
                }
                '[' => self.set()?,
                '(' if self.peek(0) == Some('?') => return Err(self.refused("(?", "this kind of group")),
                '*' | '+' | '?' => {
                    self.out.push(char);
                    self.repeated_optionally();
                }
                '{' => self.repetition()?,
                '(' | ')' | '|' => {
                    self.note_group(char);
                    self.out.push(char);
                }
                '.' | '^' | '$' => self.out.push(char),
                char => self.push(char),
            }
        }
        Ok(self.without_anything())
    }

    fn note_group(&mut self, char: char) {
        match char {
            '(' => {
                if self.depth == 0 {
                    self.last_group = self.out.len();
                }
                self.depth += 1;
            }
            // The later parser reports a surplus parenthesis.
            ')' => self.depth = self.depth.saturating_sub(1),
            _ => self.is_alternation |= self.depth == 0,
        }
    }

    fn without_anything(self) -> Translated {
        let (mut text, mut anything_before, mut anything_behind) = (self.out.as_str(), false, false);
        if !self.is_alternation {
            if self.out.get(self.last_group..) == Some(ANYTHING) {
                anything_behind = true;
                text = text.get(..self.last_group).unwrap_or_default();
            }
            // A further repetition changes the meaning of the group.
            let rest = text.strip_prefix(ANYTHING).filter(|rest| !rest.starts_with(['*', '+', '?', '{']));
            if let Some(rest) = rest {
                anything_before = true;
                text = rest;
            }
        }
        Translated { text: text.to_owned(), anything_before, anything_behind }
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek(0)?;
        self.at += 1;
        Some(char)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Writes a literal character.
    fn push(&mut self, char: char) {
        if regex_syntax::is_meta_character(char) {
            self.out.push('\\');
        }
        self.out.push(char);
    }

    /// POSIX mode has no lazy operators: `x+?` is `(x+)?`.
    fn repeated_optionally(&mut self) {
        while self.peek(0) == Some('?') {
            self.at += 1;
            self.out.push_str("{0,1}");
        }
    }

    /// Translates `{2}`, `{2,}`, `{2,3}`; any other brace is a literal.
    fn repetition(&mut self) -> Result<(), RegexError> {
        let rest: String = self.chars.iter().skip(self.at).take_while(|char| **char != '}').collect();
        let (low, high) = rest.split_once(',').unwrap_or((&rest, &rest));
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let closed = self.peek(rest.chars().count()) == Some('}');
        if !closed || !number(low) || !(number(high) || high.is_empty()) {
            self.push('{');
            return Ok(());
        }
        if [low, high]
            .iter()
            .any(|text| !text.is_empty() && text.parse().map_or(true, |count: u32| count > 1000))
        {
            return Err(RegexError {
                message: format!("`{{{rest}}}` repeats more than 1000 times"),
                help: None,
            });
        }
        self.at += rest.chars().count() + 1;
        let _ = write!(self.out, "{{{rest}}}");
        self.repeated_optionally();
        Ok(())
    }

    /// Translates the character of an escape after its backslash.
    fn escape(&mut self) -> Result<char, RegexError> {
        let Some(char) = self.next() else {
            return Err(RegexError { message: "the pattern ends in a backslash".to_owned(), help: None });
        };
        Ok(match char {
            'a' => '\u{7}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => return self.hex(),
            '0'..='7' if char == '0' || self.peek(0).is_some_and(|next| next.is_digit(8)) => {
                return self.octal(char);
            }
            char if char.is_ascii() && !char.is_ascii_alphanumeric() => char,
            char => return Err(self.refused(&format!("\\{char}"), "this escape")),
        })
    }

    fn hex(&mut self) -> Result<char, RegexError> {
        let digits: String = if self.peek(0) == Some('{') {
            self.at += 1;
            let digits: String = self.chars.iter().skip(self.at).take_while(|char| **char != '}').collect();
            self.at += digits.chars().count() + 1;
            digits
        } else {
            let digits = self.chars.iter().skip(self.at).take(2).collect();
            self.at += 2;
            digits
        };
        let char = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        char.ok_or_else(|| RegexError { message: format!("`\\x{digits}` is not a character"), help: None })
    }

    fn octal(&mut self, first: char) -> Result<char, RegexError> {
        let mut value = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let Some(digit) = self.peek(0).and_then(|char| char.to_digit(8)) else { break };
            value = value * 8 + digit;
            self.at += 1;
        }
        char::from_u32(value).ok_or_else(|| RegexError { message: "not a character".to_owned(), help: None })
    }

    /// Translates a bracket expression after its `[`.
    fn set(&mut self) -> Result<(), RegexError> {
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.at += 1;
            // A negated set matches a newline in RE2, and in the regex crate.
            self.out.push('^');
        }
        let first = self.at;
        loop {
            let unclosed = || RegexError { message: "`[` without `]`".to_owned(), help: None };
            let char = self.next().ok_or_else(unclosed)?;
            match char {
                ']' if self.at - 1 > first => break,
                '[' if self.peek(0) == Some(':') => self.class()?,
                '-' if self.at - 1 > first && self.peek(0) != Some(']') => {
                    let message = "`-` may only be first or last in `[...]`, or between two characters";
                    return Err(RegexError {
                        message: message.to_owned(),
                        help: Some("use `\\-`".to_owned()),
                    });
                }
                char => self.range(char)?,
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn class(&mut self) -> Result<(), RegexError> {
        const CLASSES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "word", "xdigit",
        ];
        let name: String = self.chars.iter().skip(self.at + 1).take_while(|char| **char != ':').collect();
        let bare = name.strip_prefix('^').unwrap_or(&name);
        let end = self.at + 1 + name.chars().count();
        let closed = self.chars.get(end) == Some(&':') && self.chars.get(end + 1) == Some(&']');
        if !closed || !CLASSES.contains(&bare) {
            return Err(RegexError { message: format!("`[:{name}:]` is not a class"), help: None });
        }
        let _ = write!(self.out, "[:{name}:]");
        self.at = end + 2;
        Ok(())
    }

    /// Translates a character of a set, or the range that begins with it.
    fn range(&mut self, char: char) -> Result<(), RegexError> {
        let low = if char == '\\' { self.escape()? } else { char };
        self.push(low);
        if self.peek(0) == Some('-') && self.peek(1).is_some_and(|char| char != ']') {
            self.at += 1;
            let char = self.next().unwrap_or_default();
            let high = if char == '\\' { self.escape()? } else { char };
            self.out.push('-');
            self.push(high);
        }
        Ok(())
    }

    fn refused(&self, what: &str, kind: &str) -> RegexError {
        let replacement = [
            (r"\d", "[0-9]"),
            (r"\D", "[^0-9]"),
            (r"\s", "[[:space:]]"),
            (r"\S", "[^[:space:]]"),
            (r"\w", "[0-9A-Za-z_]"),
            (r"\W", "[^0-9A-Za-z_]"),
            (r"\b", "(^|.*[^0-9A-Za-z_]) before and ($|[^0-9A-Za-z_].*) after the word"),
            ("(?", "tolower(field) for `(?i)`, and ( for `(?:`"),
        ];
        let help =
            replacement.iter().find(|(refused, _)| *refused == what).map(|(_, help)| format!("use {help}"));
        let message =
            format!("`{what}` is not valid in a pattern: {kind} does not exist in RE2's POSIX mode");
        RegexError { message, help }
    }
}
