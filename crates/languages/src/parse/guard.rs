//! The texts that the daemon parses itself. The time or stack of a foreign parser may grow faster than the text. This
//! module must not know parsers.

use crate::language::Language;
use crate::limits::{
    HERE_BYTES_MAX, HERE_OPENINGS_MAX, JAVASCRIPT_HERE_BYTES_MAX, JAVASCRIPT_HERE_OPENINGS_MAX,
    TEXT_BYTES_MAX,
};

/// The process that reads a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Process {
    /// The daemon. Parsers of others read only small texts there.
    Daemon,
    /// The helper, which has limits of time, memory and stack.
    Helper,
}

impl Process {
    /// Reports whether the process reads this text. No parser reads a text over the limit of all texts.
    pub(crate) fn reads(self, language: Language, text: &str) -> bool {
        match self {
            Process::Helper => true,
            Process::Daemon => text.len() > TEXT_BYTES_MAX || is_small(language, text),
        }
    }
}

fn is_small(language: Language, text: &str) -> bool {
    let (bytes_max, openings_max) = match language {
        Language::Python | Language::Ruby | Language::Php => (HERE_BYTES_MAX, HERE_OPENINGS_MAX),
        Language::JavaScript => (JAVASCRIPT_HERE_BYTES_MAX, JAVASCRIPT_HERE_OPENINGS_MAX),
        // tree-sitter has no limit of its own: 2 KiB of Perl can take 170 ms, and its scanner may not end.
        Language::Perl | Language::Lua => return false,
        // castellan's own readers bound their work and stack.
        Language::PowerShell | Language::Batch | Language::AppleScript => return true,
    };
    text.len() <= bytes_max && openings(text) <= openings_max
}

/// Counts what may open a level, also in literals and comments. A closing sign in a comment closes nothing, so the number
/// of open levels would be no bound.
fn openings(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{' | b'<' | b'`')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_texts_are_read_in_the_daemon() {
        let check = |language, text: &str, expected| {
            let begin: String = text.chars().take(20).collect();
            assert_eq!(Process::Daemon.reads(language, text), expected, "{language} {begin:?}");
            assert!(Process::Helper.reads(language, text), "{language} {begin:?}");
        };
        let times = |text: &str, count| text.repeat(count);
        check(Language::Python, "", true);
        check(Language::Python, &times("x", HERE_BYTES_MAX), true);
        check(Language::Python, &times("x", HERE_BYTES_MAX + 1), false);
        for opening in ["(", "[", "{", "<", "`"] {
            for language in [Language::Python, Language::Ruby, Language::Php] {
                check(language, &times(opening, HERE_OPENINGS_MAX), true);
                check(language, &times(opening, HERE_OPENINGS_MAX + 1), false);
            }
        }
        // A closing sign takes nothing away.
        check(Language::Python, &times("# (\n)", HERE_OPENINGS_MAX + 1), false);
        check(Language::JavaScript, &times("x", JAVASCRIPT_HERE_BYTES_MAX), true);
        check(Language::JavaScript, &times("x", JAVASCRIPT_HERE_BYTES_MAX + 1), false);
        check(Language::JavaScript, &times("`", JAVASCRIPT_HERE_OPENINGS_MAX), true);
        check(Language::JavaScript, &times("/*(\n)*/", JAVASCRIPT_HERE_OPENINGS_MAX + 1), false);
        for language in [Language::Perl, Language::Lua] {
            check(language, "", false);
            check(language, "x", false);
        }
        check(Language::PowerShell, &times("(", HERE_BYTES_MAX + 1), true);
        check(Language::Perl, &times("(", TEXT_BYTES_MAX + 1), true);
    }
}
