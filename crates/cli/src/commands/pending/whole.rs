//! A whole call as text, so that a person approves only text that the person has read. Nothing is cut, the terminal
//! executes none of it, and no line imitates castellan's own. This module must not know the use of the text.

use std::fmt::Write as _;
use std::io::Write;

use castellan_daemon::ShownCall;
use serde_json::Value as Json;

use super::{write_head, write_reasons};
use crate::commands::explain::tree;
use crate::output::{FAINT, printable};

/// Prefix of each line of the call.
const OURS: &str = "    │ ";

/// Prefix of a continuation, where the terminal would break the line.
const GOES_ON: &str = "    ┆ ";

/// Returns the lines of a call for a screen: every line fits into this number of columns.
pub(crate) fn wrapped(shown: &ShownCall, columns: usize) -> anyhow::Result<Vec<String>> {
    let begin = if columns < WIDTH_MIN { "" } else { GOES_ON };
    Ok(text(shown, columns)?.lines().flat_map(|line| wrap(line, columns, begin)).collect())
}

/// Returns the lines of a call for a terminal with this number of columns.
pub(crate) fn text(shown: &ShownCall, columns: usize) -> anyhow::Result<String> {
    let mut out = Vec::new();
    write_head(&mut out, &shown.call)?;
    let prefix = OURS.chars().map(columns_of).sum();
    let width = columns.saturating_sub(prefix).max(WIDTH_MIN);
    write!(out, "{}", input(&shown.whole_input, width))?;
    write_reasons(&mut out, &shown.call)?;
    tree::write(&mut out, &shown.explanation, "    ")?;
    let ShownCall { record, input_sha256, .. } = shown;
    writeln!(out, "    {FAINT}call {record} in the log, input {}{FAINT:#}", printable(input_sha256))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Breaks a line into lines of at most this number of columns. Each further line begins with `begin`, so that no text
/// starts a line of its own. castellan's own styles take no columns.
fn wrap(line: &str, columns_max: usize, begin: &str) -> Vec<String> {
    let indent: usize = begin.chars().map(columns_of).sum();
    let (mut lines, mut last, mut columns) = (Vec::new(), String::new(), 0);
    let mut is_style = false;
    for c in line.chars() {
        // Untrusted text holds no escape character: `printable` has replaced it.
        is_style |= c == '\u{1b}';
        let width = if is_style { 0 } else { columns_of(c) };
        if columns + width > columns_max && columns > 0 {
            lines.push(std::mem::replace(&mut last, begin.to_owned()));
            columns = indent;
        }
        last.push(c);
        columns += width;
        is_style &= c != 'm';
    }
    lines.push(last);
    lines
}

/// Returns the most columns that a printable character can take: a non-ASCII character may be two columns wide.
fn columns_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Minimum columns of text, for a terminal that reports less.
const WIDTH_MIN: usize = 20;

/// Returns each field of the input with its lines.
fn input(input: &Json, width: usize) -> String {
    let mut shown = String::new();
    let Json::Object(fields) = input else {
        lines(&mut shown, &input.to_string(), width);
        return shown;
    };
    for (name, value) in fields {
        let _ = writeln!(shown, "    {}", printable(name));
        match value {
            Json::String(text) => lines(&mut shown, text, width),
            other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_)) => {
                lines(&mut shown, &format!("{other:#}"), width)
            }
        }
    }
    shown
}

fn lines(shown: &mut String, text: &str, width: usize) {
    for line in text.split('\n') {
        let mut begin = OURS;
        let mut rest = 0;
        let mut piece = String::new();
        for c in printable(line).chars() {
            let columns = columns_of(c);
            if rest + columns > width {
                let _ = writeln!(shown, "{begin}{piece}");
                (begin, rest) = (GOES_ON, 0);
                piece.clear();
            }
            rest += columns;
            piece.push(c);
        }
        let _ = writeln!(shown, "{begin}{piece}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(whole: &Json, expected: &str) {
        assert_eq!(input(whole, 20), expected);
    }

    #[test]
    fn every_line_is_there_and_says_whose_it_is() {
        check(
            &json!({"command": "a\n\nlet this happen? [y/N]", "timeout": 5}),
            "    command\n    │ a\n    │ \n    │ let this happen? [y/\n    ┆ N]\n    timeout\n    │ 5\n",
        );
        check(
            &json!({"x": {"y": ["z"]}}),
            "    x\n    │ {\n    │   \"y\": [\n    │     \"z\"\n    │   ]\n    │ }\n",
        );
        check(&json!("text"), "    │ \"text\"\n");
        let long = "x".repeat(100_000);
        let shown = input(&json!({ "content": long }), 20);
        assert_eq!(shown.matches('x').count(), 100_000);
    }

    #[test]
    fn a_line_is_broken_at_its_columns() {
        let styled = format!("{FAINT}abcdef{FAINT:#}");
        assert_eq!(wrap(&styled, 4, "> "), [format!("{FAINT}abcd"), format!("> ef{FAINT:#}")]);
        assert_eq!(wrap("字字x", 3, ""), ["字", "字x"]);
        assert_eq!(wrap("", 3, "> "), [""]);
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        check(
            &json!({"a\u{1b}[2J": "b\r\u{1b}]0;x\u{7}\u{202e}c\u{200b}d"}),
            "    a\\u{1b}[2J\n    │ b\\r\\u{1b}]0;x\\u{7}\\u\n    ┆ {202e}c\\u{200b}d\n",
        );
    }

    #[test]
    fn wide_characters_do_not_reach_the_next_line() {
        check(&json!({"c": "字".repeat(11)}), &format!("    c\n    │ {}\n    ┆ 字\n", "字".repeat(10)));
    }
}
