//! Python by the parser of ruff. Only this module and `lower/python` use its types.

use std::borrow::Cow;

use castellan_event::Why;
use ruff_python_ast::{Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged;

use crate::limits::{ERRORS_MAX, PARSER_STACK_MIN, PARSER_STACK_PER_BYTE};
use crate::lower::{python, span};
use crate::tree::{Kind, Node};

mod encoding;

/// Bytes EF BB BF: Python reads them in a file, not in the text of `-c` or `exec`.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Parses a program. A syntax error gives a `Hole` at its place, after the parts that the parser recovered: another
/// version of Python may run them.
pub(super) fn parse(text: &str) -> Result<Node, Why> {
    if !encoding::is_as_read(text) {
        return Err(Why::Encoding);
    }
    // The parser takes more stack when it needs it, but the drop of its tree does not.
    let stack = PARSER_STACK_MIN + PARSER_STACK_PER_BYTE * text.len();
    stacker::maybe_grow(stack, stack, || parsed(&without_indentation(text)))
}

/// Replaces the indentation of the first line by form feeds, which indent nothing. Python's `eval` ignores it.
fn without_indentation(text: &str) -> Cow<'_, str> {
    let rest = text.trim_start_matches([' ', '\t']);
    match text.len() - rest.len() {
        0 => Cow::Borrowed(text),
        indentation => Cow::Owned("\u{c}".repeat(indentation) + rest),
    }
}

fn parsed(text: &str) -> Result<Node, Why> {
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest());
    let parsed = parse_unchecked(text, options);
    let Mod::Module(program) = parsed.syntax() else { return Err(Why::Syntax) };
    let tree = python(text, program);
    let mark = text.starts_with(BYTE_ORDER_MARK).then_some(((0, 3), Why::Encoding));
    // Python reads no text with a NUL; the parser takes one in a literal or comment.
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let nul = text.find('\0').map(|at| ((place(at), place(at + 1)), Why::Syntax));
    let errors = parsed.errors().iter().map(|error| (span(&error.location), Why::Syntax));
    let of_later = parsed.unsupported_syntax_errors().iter().map(|error| (span(&error.range()), Why::Syntax));
    let holes = mark.into_iter().chain(nul).chain(errors).chain(of_later).take(ERRORS_MAX);
    let holes: Vec<Node> = holes.map(|(at, why)| Node::new(at, Kind::Hole(why))).collect();
    if holes.is_empty() {
        return Ok(tree);
    }
    Ok(Node::new(tree.at, Kind::Sequence(std::iter::once(tree).chain(holes).collect())))
}
