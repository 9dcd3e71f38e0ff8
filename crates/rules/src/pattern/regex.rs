//! `regex` is RE2 in POSIX mode with the whole text matched: no `\d \s \w \b`, no `(?...)`, `.` does not match a newline, `^`
//! and `$` match at lines. Patterns are rewritten for the regex crate, which is linear too, and what RE2 would refuse is
//! refused here, with its position. Text that is not UTF-8 is matched with U+FFFD in place of the bad bytes, as Falco does.

use std::fmt::Write as _;

use memchr::memmem::Finder;

use crate::limits::{REGEX_BYTES_MAX, REGEX_NESTING_MAX};

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Regex {
    regex: regex::Regex,
    /// ASCII text that every match contains: finding it is far cheaper than matching.
    required: Finder<'static>,
}

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RegexError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Regex {
    pub(crate) fn new(pattern: &str) -> Result<Self, RegexError> {
        let (translated, required) = Translator::new(pattern).translate()?;
        let mut builder = regex::RegexBuilder::new(&format!(r"\A(?:{translated})\z"));
        builder.multi_line(true).size_limit(REGEX_BYTES_MAX).nest_limit(REGEX_NESTING_MAX);
        let regex = builder.build().map_err(|error| RegexError {
            message: if matches!(error, regex::Error::CompiledTooBig(_)) {
                format!("the pattern needs more than {REGEX_BYTES_MAX} bytes")
            } else {
                last_line(&error.to_string())
            },
            help: None,
        })?;
        let required = Finder::new(&required).into_owned();
        Ok(Self { regex, required })
    }

    /// Whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.required.find(text).is_some() && self.regex.is_match(&String::from_utf8_lossy(text))
    }
}

/// Whether `=`, `contains`, `startswith` or `endswith` could do what this pattern does.
pub(crate) fn simpler_than_regex(pattern: &str) -> bool {
    let rest = pattern.strip_prefix('^').or_else(|| pattern.strip_prefix(".*")).unwrap_or(pattern);
    let rest = rest.strip_suffix('$').or_else(|| rest.strip_suffix(".*")).unwrap_or(rest);
    !rest.contains(|char: char| r"\^$.|?*+()[]{}".contains(char))
}

/// The last line of the regex crate's errors says what is wrong; those before it show the rewritten pattern.
fn last_line(error: &str) -> String {
    let line = error.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Rewrites RE2's POSIX syntax for the regex crate.
struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    /// The open groups.
    level: usize,
    /// The literal ASCII text just read outside groups, and the longest so far.
    run: String,
    required: String,
    /// There is an alternative outside groups: no text is required.
    alternatives: bool,
}

impl Translator {
    fn new(pattern: &str) -> Self {
        Self {
            chars: pattern.chars().collect(),
            at: 0,
            out: String::new(),
            level: 0,
            run: String::new(),
            required: String::new(),
            alternatives: false,
        }
    }

    /// The pattern for the regex crate, and text that every match contains.
    fn translate(mut self) -> Result<(String, String), RegexError> {
        while let Some(char) = self.next() {
            match char {
                '\\' => {
                    let char = self.escape()?;
                    self.push_literal(char);
                }
                '[' => {
                    self.end_run();
                    self.set()?;
                }
                '(' if self.peek(0) == Some('?') => return Err(self.refused("(?", "this kind of group")),
                '*' | '+' | '?' => {
                    self.run.pop();
                    self.end_run();
                    self.out.push(char);
                    self.repeated_optionally();
                }
                '{' => self.repetition()?,
                '(' | ')' | '|' | '.' | '^' | '$' => self.operator(char),
                char => self.push_literal(char),
            }
        }
        self.end_run();
        Ok((self.out, if self.alternatives { String::new() } else { self.required }))
    }

    fn operator(&mut self, char: char) {
        self.end_run();
        match char {
            '(' => self.level += 1,
            ')' => self.level = self.level.saturating_sub(1),
            '|' => self.alternatives |= self.level == 0,
            _ => {}
        }
        self.out.push(char);
    }

    /// Writes a character of the text that is matched.
    fn push_literal(&mut self, char: char) {
        self.push(char);
        if char.is_ascii() && self.level == 0 {
            self.run.push(char);
        } else {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        if self.run.len() > self.required.len() {
            self.required.clone_from(&self.run);
        }
        self.run.clear();
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek(0)?;
        self.at += 1;
        Some(char)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Writes a character that stands for itself.
    fn push(&mut self, char: char) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "\\x{{{:x}}}", u32::from(char));
    }

    /// In POSIX mode there are no lazy operators: `x+?` is `(x+)?`.
    fn repeated_optionally(&mut self) {
        while self.peek(0) == Some('?') {
            self.at += 1;
            self.out.push_str("{0,1}");
        }
    }

    /// `{2}`, `{2,}`, `{2,3}`; any other brace stands for itself.
    fn repetition(&mut self) -> Result<(), RegexError> {
        let rest: String = self.chars.iter().skip(self.at).take_while(|char| **char != '}').collect();
        let (low, high) = rest.split_once(',').unwrap_or((&rest, &rest));
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let closed = self.peek(rest.chars().count()) == Some('}');
        if !closed || !number(low) || !(number(high) || high.is_empty()) {
            self.push_literal('{');
            return Ok(());
        }
        self.run.pop();
        self.end_run();
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

    /// The character of an escape whose backslash has been read.
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

    /// A bracket expression whose `[` has been read.
    fn set(&mut self) -> Result<(), RegexError> {
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.at += 1;
            // A negated set does match a newline in RE2, as it does here.
            self.out.push('^');
        }
        let first = self.at;
        loop {
            let unclosed = || RegexError { message: "`[` without `]`".to_owned(), help: None };
            let char = self.next().ok_or_else(unclosed)?;
            match char {
                ']' if self.at - 1 > first => break,
                '[' if self.peek(0) == Some(':') => self.class()?,
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

    /// A character of a set, or the range that it begins.
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

#[cfg(test)]
mod tests {
    use super::{Regex, simpler_than_regex};

    #[test]
    fn matches_as_re2_posix() {
        for (pattern, text, expected) in [
            ("rm", "rm", true),
            ("rm", "rm -rf", false),
            ("rm.*", "rm -rf", true),
            ("rm.*", "rm\n-rf", false),
            ("^rm$\n^ls$", "rm\nls", true),
            ("a**", "aaa", true),
            ("a+?", "", true),
            ("a{2}?", "", true),
            ("a{2}?", "a", false),
            ("a{,2}", "a{,2}", true),
            ("[[:alpha:]]+", "abc", true),
            ("[[:^alpha:]]+", "123", true),
            ("[a&&b]+", "&a", true),
            ("[]x]+", "]x", true),
            ("[^a]", "\n", true),
            (r"a\.b", "a.b", true),
            (r"\x41\102", "AB", true),
            (".", "é", true),
            ("a|b", "b", true),
            ("(a|b)*c", "abac", true),
            ("abc*", "ab", true),
            ("abc{0}", "ab", true),
            ("ab|c", "c", true),
            ("x(ab|c)", "xc", true),
        ] {
            let regex = Regex::new(pattern).unwrap();
            assert_eq!(regex.matches(text.as_bytes()), expected, "{pattern} on {text}");
        }
        assert!(Regex::new("a.*").unwrap().matches(b"a\xff\xfe"), "bad bytes do not hide the rest");
    }

    #[test]
    fn refuses_what_re2_posix_refuses() {
        for pattern in [
            r"\s",
            r"\d+",
            r"[\w]",
            r"\bx",
            "(?i)rm",
            "(?:a)",
            "a{1001}",
            "[a",
            "a\\",
            "*a",
            "(a",
            "a)",
            "[[:nope:]]",
            r"\pL",
            r"\1",
            r"\Ax",
            "[b-a]",
        ] {
            assert!(Regex::new(pattern).is_err(), "{pattern}");
        }
        let error = Regex::new(r".*\s.*").unwrap_err();
        assert_eq!(error.help.as_deref(), Some("use [[:space:]]"));
    }

    #[test]
    fn patterns_that_need_no_regex() {
        for (pattern, expected) in [
            ("", true),
            (".*", true),
            ("rm", true),
            ("^rm", true),
            ("rm$", true),
            (".*rm.*", true),
            ("^rm.*$", false),
            (".", false),
            ("[a-z]+", false),
            ("a|b", false),
        ] {
            assert_eq!(simpler_than_regex(pattern), expected, "{pattern}");
        }
    }
}
