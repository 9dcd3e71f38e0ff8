//! A whole call as text, so that a person approves only text that the person has read. Nothing is cut, the terminal
//! executes none of it, and no line imitates castellan's own. This module must not know the use of the text.

use std::fmt::Write as _;
use std::io::Write;

use castellan_daemon::ShownCall;
use serde_json::Value as Json;

use super::super::explain::tree;
use super::super::pending::{write_head, write_reasons};
use crate::output::{FAINT, printable, terminal_columns};

/// Prefix of each line of the call.
const OURS: &str = "    │ ";

/// Prefix of a continuation, where the terminal would break the line.
const GOES_ON: &str = "    ┆ ";

pub(super) fn text(shown: &ShownCall) -> anyhow::Result<String> {
    let mut out = Vec::new();
    write_head(&mut out, &shown.call)?;
    let width = terminal_columns().saturating_sub(OURS.chars().count()).max(WIDTH_MIN);
    write!(out, "{}", input(&shown.whole_input, width))?;
    write_reasons(&mut out, &shown.call)?;
    tree::write(&mut out, &shown.explanation, "    ")?;
    let ShownCall { record, input_sha256, .. } = shown;
    writeln!(out, "    {FAINT}call {record} in the log, input {}{FAINT:#}", printable(input_sha256))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
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
            // A non-ASCII character may be two columns wide.
            let columns = if c.is_ascii() { 1 } else { 2 };
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
