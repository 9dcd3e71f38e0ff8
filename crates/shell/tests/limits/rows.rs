//! The hostile texts, one row for each way to reach a limit.

mod code;
mod values;
mod words;

use castellan_event::{Role, Why};

use super::{Ends, Row};

/// Limits that lose no information, with the reason.
const LOOK_AHEAD: &str = "beyond it `((` begins commands, which are found: tests/syntax/linear.rs";

pub(crate) const EXEMPT: &[(&str, &str)] = &[
    ("COMMENTS_MAX", "driven by comments_have_a_limit; a comment runs nothing"),
    ("ARITHMETIC_BYTES_PER_WORK", PRICE),
    ("BRACE_COPIES_PER_WORK", PRICE),
    ("BYTES_PER_WORK", PRICE),
    ("CHEAP_BYTES_PER_WORK", PRICE),
    ("COMPARISONS_PER_WORK", PRICE),
    ("COPIED_PER_WORK", PRICE),
    ("ENTRIES_PER_WORK", PRICE),
    ("PARSED_PER_WORK", PRICE),
    ("MADE_FILES_MAX", "a file that the text wrote and that is not told is unknown to whoever looks into it"),
    ("PARENS_BYTES_MIN", LOOK_AHEAD),
    ("PARENS_FACTOR_MAX", LOOK_AHEAD),
    ("WORK_OF_PARSING", PRICE),
    ("WORK_OF_SED", PRICE),
];

/// Costs: the work limit bounds their sum.
const PRICE: &str = "a price, no limit";

/// Returns every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    code::ROWS.iter().chain(values::ROWS).chain(words::ROWS)
}

fn times(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// Returns branches, one of which runs.
fn branches(count: usize, one: impl Fn(usize) -> String, last: &str) -> String {
    let others = times(count, |at| format!("if [ -f a ]; then {}; el", one(at)));
    format!("{others}se {last}; fi\n")
}

/// Returns a text inside `count` functions that call each other.
fn in_functions(count: usize, text: &str) -> String {
    let calls = times(count, |at| format!("f{}() {{\nf{at}\n}}\n", at + 1));
    format!("f0() {{\n{text}\n}}\n{calls}f{count}\n")
}

/// Returns a text in nested groups: three functions of thirty levels each reach the depth limit of the walk.
fn deep(count: usize, text: &str) -> String {
    let group =
        |levels: usize, text: &str| format!("{}{text}\n{}", "{ ".repeat(levels), "}\n".repeat(levels));
    format!(
        "f() {{\n{}}}\ng() {{\n{}}}\n{}\n",
        group(count.saturating_sub(50), text),
        group(25, "f"),
        group(25, "g")
    )
}
