//! Colours and texts for people. Control characters from an agent are escaped, so the terminal does not execute them.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use castellan_event::{Verdict, is_invisible};
use clap::builder::styling::AnsiColor;
pub(crate) use clap::builder::styling::Style;
use serde_json::Value as Json;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::limits::COLUMNS_DEFAULT;

mod table;

pub(crate) use table::{Cell, write_row, write_table};

/// Denied or broken.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Asked or doubtful.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// Allowed or sound.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Less important.
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const PLAIN: Style = Style::new();

/// The beginning of a message to a person, in the form of clap's own messages. A message has no other one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefix(&'static str, Style);

/// Something was not done.
pub(crate) const ERROR: Prefix = Prefix("error", BAD);
/// Something may be unwanted.
pub(crate) const WARNING: Prefix = Prefix("warning", WARN);
/// Something is good to know.
pub(crate) const NOTE: Prefix = Prefix("note", Style::new().bold());

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prefix(word, style) = self;
        write!(f, "{style}{word}:{style:#}")
    }
}

/// Returns the colour of a verdict.
pub(crate) fn verdict_style(verdict: &str) -> Style {
    match verdict {
        "deny" => BAD,
        "ask" => WARN,
        "allow" => GOOD,
        _ => FAINT,
    }
}

/// Returns a verdict as people read it. JSON, records, configuration and case files have the verdict's own word.
pub(crate) fn verdict_word(verdict: &str) -> &str {
    if verdict == Verdict::Defer.as_str() { "agent decides" } else { verdict }
}

/// Writes messages, one per line.
pub(crate) fn write_messages(
    out: &mut impl Write,
    prefix: Prefix,
    lines: &[impl AsRef<str>],
) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{prefix} {}", printable(line.as_ref())))
}

/// Returns the columns for tables: `COLUMNS`, else those of the terminal, else a default.
pub(crate) fn columns() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    named.filter(|columns| *columns > 0).unwrap_or_else(terminal_columns)
}

/// Returns the columns into which a table has to fit; `None` for output that programs read line by line.
fn table_columns() -> Option<usize> {
    let is_read = std::env::var_os("COLUMNS").is_none() && !io::stdout().is_terminal();
    (!is_read).then(columns)
}

/// Returns the columns of the terminal itself, or a default for other output. A text that a person approves is laid out
/// by these: `COLUMNS` may come from a file that an agent can change.
pub(crate) fn terminal_columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(COLUMNS_DEFAULT)
}

/// Returns the columns that a text without control characters takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Cuts a text to a number of columns and marks the cut with `…`.
pub(crate) fn cut(text: &str, columns_max: usize) -> String {
    if width(text) <= columns_max {
        return text.to_owned();
    }
    let mut left = columns_max.saturating_sub(1);
    let fits = |c: &char| {
        let columns = UnicodeWidthChar::width(*c).unwrap_or_default();
        let is_room = columns <= left;
        left = left.saturating_sub(columns);
        is_room
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

/// Writes a text in lines of at most `columns`, broken at words, with `indent` before each. Writes nothing for an empty
/// text.
pub(crate) fn write_wrapped(
    out: &mut impl Write,
    text: &str,
    style: Style,
    indent: &str,
    columns: usize,
) -> io::Result<()> {
    let room = columns.saturating_sub(width(indent)).max(WRAPPED_MIN);
    let text = printable(text);
    wrapped(&text, room).iter().try_for_each(|line| writeln!(out, "{indent}{style}{line}{style:#}"))
}

/// Breaks a text at words.
fn wrapped(text: &str, columns: usize) -> Vec<Cow<'_, str>> {
    // A hyphen is no place to break: it begins options.
    let options = textwrap::Options::new(columns).word_splitter(textwrap::WordSplitter::NoHyphenation);
    let mut lines = textwrap::wrap(text, options);
    lines.retain(|line| !line.is_empty());
    lines
}

/// Writes pairs of a text and its description side by side, or below each other on a narrow terminal.
pub(crate) fn write_pairs(
    out: &mut impl Write,
    pairs: &[(String, String)],
    indent: &str,
    columns: usize,
) -> io::Result<()> {
    let first = pairs.iter().map(|(text, _)| width(&printable(text))).max().unwrap_or_default();
    let below = " ".repeat(width(indent) + first + 2);
    let is_narrow = width(&below) + DESCRIPTION_MIN > columns;
    for (text, description) in pairs {
        let text = printable(text);
        if is_narrow {
            writeln!(out, "{indent}{text}")?;
            write_wrapped(out, description, FAINT, &indent.repeat(2), columns)?;
            continue;
        }
        let mut lines = Vec::new();
        write_wrapped(&mut lines, description, FAINT, &below, columns)?;
        let lines = String::from_utf8_lossy(&lines);
        let rest = lines.strip_prefix(&below).unwrap_or("\n");
        write!(out, "{indent}{text}{:1$}{rest}", "", first - width(&text) + 2)?;
    }
    Ok(())
}

/// Minimum columns of a description beside its text.
const DESCRIPTION_MIN: usize = 30;

/// Minimum columns of a wrapped text.
const WRAPPED_MIN: usize = 20;

/// Returns an error and its causes in one line.
pub(crate) fn message(error: &anyhow::Error) -> String {
    printable_lines(&format!("{error:#}"))
}

/// Returns a word as a shell reads it: in single quotes, unless it is plain.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@,+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns a number with its noun: `1 file`, `2 files`.
pub(crate) fn counted<N: Copy + fmt::Display + From<u8> + PartialEq>(count: N, what: &str) -> String {
    if count == N::from(1) { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns an age in its largest unit: `3m`.
pub(crate) fn age(seconds: u64) -> String {
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(|| format!("{seconds}s"), |(length, unit)| format!("{}{unit}", seconds / length))
}

/// Escapes every control and bidirectional-format character, newlines included.
pub(crate) fn printable(text: &str) -> String {
    escaped(text, is_invisible)
}

/// Escapes like [`printable`], but keeps newlines.
pub(crate) fn printable_lines(text: &str) -> String {
    escaped(text, |c| c != '\n' && is_invisible(c))
}

fn escaped(text: &str, must_be: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if must_be(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Returns JSON as text on several lines. Characters that a person does not see are escapes: some of them are commands to a
/// terminal, and an agent chooses many of the texts.
pub(crate) fn json_text(value: &Json) -> String {
    let mut shown = String::new();
    for c in format!("{value:#}").chars() {
        if c == '\n' || !is_invisible(c) {
            shown.push(c);
        } else {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    shown
}

/// Writes JSON by [`json_text`].
pub(crate) fn write_json(out: &mut impl Write, value: &Json) -> io::Result<()> {
    writeln!(out, "{}", json_text(value))
}

/// Returns a text with each run of white space, newlines included, as one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_their_columns() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("äöüß", 3, "äö…"),
            ("字字", 4, "字字"),
            ("字字字", 4, "字…"),
            ("字字字", 5, "字字…"),
            ("abc", 0, "…"),
        ] {
            assert_eq!(cut(text, columns), expected, "{text}");
        }
    }

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        assert_eq!(printable("a\u{1b}[2Jb\tc\u{202e}d"), "a\\u{1b}[2Jb\\tc\\u{202e}d");
        assert_eq!(printable_lines("a\nb\r"), "a\nb\\r");
        assert_eq!(printable("a\u{200b}b\u{e0061}\u{2028}c"), "a\\u{200b}b\\u{e0061}\\u{2028}c");
        assert_eq!(printable("größe ✓"), "größe ✓");
    }

    #[test]
    fn json_tells_a_terminal_nothing_and_keeps_its_values() {
        let value = serde_json::json!({ "a\u{9b}2J": ["\u{1b}[2J\u{202e}\n", "größe ✓ \u{e0061}", 7] });
        let text = json_text(&value);
        assert!(text.chars().all(|c| c == '\n' || !is_invisible(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), value);
        assert!(
            text.contains("\\u009b2J") && text.contains("\\udb40\\udc61") && text.contains("größe ✓"),
            "{text}"
        );
    }

    #[test]
    fn causes_follow_what_they_caused() {
        assert_eq!(message(&anyhow::anyhow!("full\u{1b}").context("the log")), "the log: full\\u{1b}");
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(
            [0_u64, 1, 2].map(|count| counted(count, "failure")),
            ["0 failures", "1 failure", "2 failures"]
        );
    }

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_is() {
        let check = |word: &str, expected: &str| assert_eq!(quoted(word), expected);
        check("level.session", "level.session");
        check("", "''");
        check("Bash(cargo test:*)", "'Bash(cargo test:*)'");
        check("it's $x", r"'it'\''s $x'");
    }

    #[test]
    fn a_cut_is_marked() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("äbcdefg", 6), "äbcde…");
    }
}
