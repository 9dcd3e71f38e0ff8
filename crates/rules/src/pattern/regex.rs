//! `regex` is RE2 in POSIX mode on the whole text: no `\d \s \w \b`, no `(?...)`, `.` does not match a newline, `^` and
//! `$` match at lines. Patterns are rewritten (`re2`) for the regex crate, which is linear too. As in Falco, text that
//! is not UTF-8 is matched with U+FFFD in place of the bad bytes.

use std::sync::OnceLock;

use regex_syntax::hir::Hir;

use crate::limits::{REGEX_BYTES_MAX, REGEX_NESTING_MAX};
use crate::pattern::literals;
use crate::pattern::re2::{self, ANYTHING, RegexError, Translated};

/// A pattern that is known to compile. Most patterns of a large set never run, because a required text is missing. So
/// the matcher is built on first use.
#[derive(Debug, Clone)]
pub(crate) struct Regex {
    /// The pattern for the regex crate.
    translated: Box<str>,
    matcher: OnceLock<regex::Regex>,
    literals: Box<[Clause]>,
}

/// Texts such that every match contains at least one of them.
pub(crate) type Clause = Box<[Box<[u8]>]>;

impl Regex {
    pub(crate) fn new(pattern: &str) -> Result<Self, RegexError> {
        let translated = re2::translate(pattern)?;
        // Parsed without its anchors: `a)|(b` would close the group around it.
        let hir = parse(&translated.text)?;
        let states = literals::states_at_most(&hir);
        let literals = literals::clauses(&hir).into();
        let translated = whole(&translated).into_boxed_str();
        let matcher = OnceLock::new();
        // Only a pattern that is certainly below the limit is built later.
        if states.saturating_mul(STATE_BYTES) > REGEX_BYTES_MAX {
            let built =
                builder(&translated).size_limit(REGEX_BYTES_MAX).build().map_err(|error| RegexError {
                    message: if matches!(error, regex::Error::CompiledTooBig(_)) {
                        format!("the pattern needs more than {REGEX_BYTES_MAX} bytes")
                    } else {
                        last_line(&error.to_string())
                    },
                    help: None,
                })?;
            matcher.get_or_init(|| built);
        }
        Ok(Self { translated, matcher, literals })
    }

    /// Reports whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.matcher.get_or_init(|| self.build()).is_match(&String::from_utf8_lossy(text))
    }

    /// Builds the matcher. It cannot fail: the same parser parsed the pattern at load, and the nesting limit has room
    /// for the anchors. No size limit applies, because the size was bounded at load.
    #[expect(
        clippy::panic,
        reason = "neither answer would be safe under every rule; a panic denies the call"
    )]
    fn build(&self) -> regex::Regex {
        let built = builder(&self.translated).size_limit(usize::MAX).build();
        built.unwrap_or_else(|error| panic!("a pattern that was checked does not build: {error}"))
    }

    /// Reports whether the matcher is built on first use, because it is certainly small.
    pub(crate) fn waits(&self) -> bool {
        self.matcher.get().is_none()
    }

    #[cfg(test)]
    pub(super) fn builds_within(&self, bytes: usize) -> bool {
        builder(&self.translated).size_limit(bytes).build().is_ok()
    }

    /// Drops the literals after their use.
    pub(crate) fn forget_literals(&mut self) {
        self.literals = Box::default();
    }

    /// Returns the clauses: every match contains a text of each.
    pub(crate) fn literals(&self) -> &[Clause] {
        &self.literals
    }
}

/// Returns the pattern for whole texts. A pattern that may begin with anything has no anchor at its start, and likewise
/// at its end. The matcher can then skip to texts that begin the rest, and stop at the first match.
fn whole(Translated { text, anything_before, anything_behind }: &Translated) -> String {
    let before = if *anything_before { "" } else { r"\A" };
    let behind = if *anything_behind { "" } else { r"\z" };
    format!("{before}(?:{text}){behind}")
}

/// Maximum bytes of one state of a compiled pattern, with its transitions.
const STATE_BYTES: usize = 64;

fn parse(translated: &str) -> Result<Hir, RegexError> {
    // The same settings as in the regex crate.
    let mut parser =
        regex_syntax::ParserBuilder::new().multi_line(true).nest_limit(REGEX_NESTING_MAX).build();
    parser
        .parse(translated)
        .map_err(|error| RegexError { message: last_line(&error.to_string()), help: None })
}

fn builder(translated: &str) -> regex::RegexBuilder {
    let mut builder = regex::RegexBuilder::new(translated);
    // The anchoring group and its sequence are levels too. In the output of regex-syntax, each level has a group of its
    // own, and so has each repetition and sequence in it.
    builder.multi_line(true).nest_limit(REGEX_NESTING_MAX * 4 + 2);
    builder
}

/// Reports whether `=`, `contains`, `startswith` or `endswith` could replace this pattern.
pub(crate) fn simpler_than_regex(pattern: &str) -> bool {
    let rest = pattern.strip_prefix('^').or_else(|| pattern.strip_prefix(".*")).unwrap_or(pattern);
    let rest = rest.strip_suffix('$').or_else(|| rest.strip_suffix(".*")).unwrap_or(rest);
    !rest.contains(|char: char| r"\^$.|?*+()[]{}".contains(char))
}

/// Returns the parsed pattern for inspection; `None` for a rejected pattern.
pub(crate) fn hir(pattern: &str) -> Option<Hir> {
    let Translated { text, anything_before, anything_behind } = re2::translate(pattern).ok()?;
    let anything = |may_be: bool| if may_be { ANYTHING } else { "" };
    parse(&format!("{}{text}{}", anything(anything_before), anything(anything_behind))).ok()
}

/// Returns the last line of the regex crate's error: the reason. The lines before it show the rewritten pattern.
fn last_line(error: &str) -> String {
    let line = error.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
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
            ("[-a]+[a-]+[^-]", "-a-ab", true),
            ("[+--]", ",", true),
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
            ("(.|\\n)*b", "a\nb", true),
            ("(.|\\n)*b", "a\nbc", false),
            ("b(.|\\n)*", "b\na", true),
            ("b(.|\\n)*", "ab", false),
            ("(.|\\n)*b(.|\\n)*", "a\nb\nc", true),
            ("(.|\\n)*b(.|\\n)*", "a\nc", false),
            ("(.|\\n)*(.|\\n)*", "", true),
            ("(.|\\n)**b", "ab", true),
            ("(.|\\n)*^b$(.|\\n)*", "a\nb\nc", true),
            ("(.|\\n)*^b$(.|\\n)*", "ab", false),
            ("(.|\\n)*b|c", "ac", false),
            ("(.|\\n)*b|c", "c", true),
            ("(.|\\n)*(b|[^c])é(.|\\n)*", "xaéx", true),
            (".*b(.|\\n)*", "a\nb", false),
            ("(.|\\n)+b", "b", false),
            ("(.|\\n){2}b", "a\nb", true),
            ("(.|\\n)?b|c", "\nb", true),
            ("((.|\\n))b", "\nb", true),
            ("\\((.|\\n)*b", "(\nb", true),
            ("x-/<>:\"'`!%,;=@_#&~é\t", "x-/<>:\"'`!%,;=@_#&~é\t", true),
            ("[/<#&~:.*+?|(){}$ é-]+", "~é-/{$", true),
            ("[#-&]+", "$%", true),
            ("[a~~b]+", "~", true),
            ("(.|\\n)*(a{2}|b)?c", "xaac", true),
        ] {
            let regex = Regex::new(pattern).unwrap();
            assert_eq!(regex.matches(text.as_bytes()), expected, "{pattern} on {text}");
        }
        assert!(Regex::new("a.*").unwrap().matches(b"a\xff\xfe"), "bad bytes do not hide the rest");
        assert!(Regex::new("(.|\\n)*a(.|\\n)*").unwrap().matches(b"\xff\na\xfe"), "nor on both sides");
    }

    #[test]
    fn what_may_stand_before_and_after_is_not_searched() {
        for (pattern, expected) in [
            ("(.|\\n)*ab", r"(?:ab)\z"),
            ("ab(.|\\n)*", r"\A(?:ab)"),
            ("(.|\\n)*ab(.|\\n)*", "(?:ab)"),
            (".*ab.*", r"\A(?:.*ab.*)\z"),
            ("(.|\\n)*a|b", "\\A(?:(.|\n)*a|b)\\z"),
            ("(.|\\n)*", r"\A(?:)"),
            ("(.|\\n)**a", "\\A(?:(.|\n)**a)\\z"),
            ("(.|\\n)*{2}a", "\\A(?:(.|\n)*{2}a)\\z"),
            ("(.|\\n)*?a", "\\A(?:(.|\n)*{0,1}a)\\z"),
            ("(a(.|\\n)*)", "\\A(?:(a(.|\n)*))\\z"),
            ("(\\(.|\\n)*", "\\A(?:(\\(.|\n)*)\\z"),
            ("(.|\\n)*(a|(b|c))[|](.|\\n)*", r"(?:(a|(b|c))[\|])"),
            ("(.|\\n)*(a|b)|c(.|\\n)*", "\\A(?:(.|\n)*(a|b)|c(.|\n)*)\\z"),
        ] {
            assert_eq!(&*Regex::new(pattern).unwrap().translated, expected, "{pattern}");
        }
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
            ")(",
            "a)|(b",
            "[a-b-c]",
            "[ab-c-]-[x-y-]-[x-y-z]",
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

    #[test]
    fn a_pattern_that_loads_builds_however_deep_it_is() {
        let nested =
            |open: &str, close: &str, depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
        let mut refused = 0;
        for (open, close) in [("(", ")"), ("(x", ")"), ("(x|", ")"), ("(x|y", "z)*")] {
            for depth in 1..60 {
                match Regex::new(&nested(open, close, depth)) {
                    Ok(regex) => assert!(regex.builds_within(usize::MAX), "{open} {depth}"),
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 0, "the limit is reached");
    }
}
