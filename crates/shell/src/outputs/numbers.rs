//! The number of a line: `grep -n PATTERN FILE | head -1 | cut -d: -f1`. A number cannot be code. Several numbers have
//! line ends between them, which end a comment or a command of the text around them. This module must not know the use
//! of a number.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::{Given, lines};
use crate::text::Text;

/// The rest of a numbered line, and of numbered lines.
const LINE: &str = "$(a line)";
const LINES: &str = "$(lines)";

/// A digit and any characters after it: not a number, because each program that does not cut keeps the reason of its
/// input.
const DIGITS: &str = "[0-9]*";

/// The written form of the number of one line.
const NUMBER: &str = "$((line))";

/// Letters of options that change neither the numbers nor the colon after them.
const LETTERS: &str = "nEFPivwxos";

/// Returns the output of a program that prints, passes on or cuts numbered lines.
pub(super) fn numbered(name: &str, given: Given<'_>) -> Option<Text> {
    if matches!(name, "egrep" | "fgrep" | "grep" | "ggrep") && numbers_lines(given.args) {
        return Some(numbered_text(LINES));
    }
    let rest = given.input.and_then(rest_of_numbered)?;
    if lines::keeps(name, given.args) {
        let is_one = matches!(name, "head" | "tail") && prints_one(&given.known()?);
        return if is_one { Some(numbered_text(LINE)) } else { given.input.cloned() };
    }
    (rest == LINE && cuts_numbers(name, &given.known()?)).then(|| Text::unknown(Why::Arithmetic, NUMBER))
}

/// Reports whether `grep` with these arguments prints `NUMBER:LINE` for one file or its input. Several files have their
/// names before the numbers.
fn numbers_lines(args: &[Arg]) -> bool {
    let (options, operands): (Vec<&Arg>, Vec<&Arg>) =
        args.iter().partition(|arg| arg.prefix().starts_with('-'));
    let is_plain = |arg: &&Arg| {
        let letters = arg.as_str().and_then(|arg| arg.strip_prefix('-'));
        letters.is_some_and(|letters| letters.chars().all(|one| LETTERS.contains(one)))
    };
    let is_one = |arg: &&Arg| !arg.splits() && arg.why() != Some(Why::Glob);
    options.iter().all(is_plain)
        && options.iter().any(|arg| arg.prefix().contains('n'))
        && matches!(operands.len(), 1 | 2)
        && operands.iter().all(is_one)
}

fn numbered_text(rest: &str) -> Text {
    let mut text = Text::unknown(Why::Glob, DIGITS);
    text.push_str(":");
    text.push_unknown(Why::File, rest);
    text
}

/// Returns [`LINE`] or [`LINES`] for a text of [`numbered_text`].
fn rest_of_numbered(text: &Text) -> Option<&str> {
    match text.pieces() {
        [
            Piece::Unknown { why: Why::Glob, written },
            Piece::Text(colon),
            Piece::Unknown { why: Why::File, written: rest },
        ] if written == DIGITS && colon == ":" => Some(rest),
        _ => None,
    }
}

/// Reports whether `head` or `tail` prints one line.
fn prints_one(args: &[&str]) -> bool {
    matches!(args, ["-1" | "-n1"] | ["-n", "1"])
}

/// Reports whether a program prints only what is before the first colon of each line.
fn cuts_numbers(name: &str, args: &[&str]) -> bool {
    match (name, args) {
        ("cut", args) => {
            matches!(args, ["-d:", "-f1"] | ["-f1", "-d:"] | ["-d", ":", "-f", "1"] | ["-d", ":", "-f1"])
        }
        ("awk" | "gawk" | "mawk", ["-F:", program] | ["-F", ":", program]) => {
            program.replace(' ', "") == "{print$1}"
        }
        _ => false,
    }
}
