//! Text to the common tree, within an amount of work. It alone names the parser, with `lower`, which reads its trees.

use std::ops::ControlFlow;

use castellan_event::Why;
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Range};

use crate::language::Language;
use crate::limits::{
    BRACKETS_MAX, LINE_PART_BYTES, PARSER_CALLS_MIN, PARSER_CALLS_PER_KIB, TEXT_BYTES_MAX,
    WORK_PER_PARSER_CALL,
};
use crate::lower;
use crate::tree::{Kind, Node};

/// Parses a program, within units of work. What is too long, or takes too much work, is one hole; what is wrong is one where it
/// is wrong. Returns the work as well.
pub(crate) fn parse(language: Language, text: &str, work_max: u64) -> (Node, u64) {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let hole = |why| Node::new((0, end), Kind::Hole(why));
    if text.len() > TEXT_BYTES_MAX {
        return (hole(Why::Size), 0);
    }
    if brackets(text) > BRACKETS_MAX {
        return (hole(Why::Nesting), 0);
    }
    let mut parser = Parser::new();
    let grammar = match language {
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Perl => ts_parser_perl::LANGUAGE,
    };
    if parser.set_language(&grammar.into()).is_err() {
        return (hole(Why::Unsupported), 0);
    }
    if language == Language::Perl && parser.set_included_ranges(&short_lines(text)).is_err() {
        return (hole(Why::Unsupported), 0);
    }
    let of_text = PARSER_CALLS_MIN + PARSER_CALLS_PER_KIB * (text.len() as u64 / 1024);
    let most = of_text.min(work_max / WORK_PER_PARSER_CALL);
    let mut calls = 0;
    let mut progress = |_: &ParseState| {
        calls += 1;
        if calls <= most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    let tree = match parser.parse_with_options(&mut read, None, Some(options)) {
        Some(tree) => lower::lower(language, text, tree.root_node()),
        None => hole(Why::Budget),
    };
    (tree, calls * WORK_PER_PARSER_CALL)
}

/// The text in parts that touch each other, so that its lines are short. Perl's scanner asks for the column at each token, which is
/// counted from where the line begins. A part that begins within a line is told that it begins at its second column.
fn short_lines(text: &str) -> Vec<Range> {
    let mut parts = Vec::new();
    let mut start = (0, Point { row: 0, column: 0 });
    let mut point = start.1;
    for (at, letter) in text.char_indices() {
        if point.column >= LINE_PART_BYTES {
            parts.push(Range { start_byte: start.0, end_byte: at, start_point: start.1, end_point: point });
            point = Point { row: point.row + 1, column: 1 };
            start = (at, point);
        }
        point = match letter {
            '\n' => Point { row: point.row + 1, column: 0 },
            _ => Point { row: point.row, column: point.column + letter.len_utf8() },
        };
    }
    parts.push(Range { start_byte: start.0, end_byte: text.len(), start_point: start.1, end_point: point });
    parts
}

/// The most brackets that are open at once; those in literals count too.
fn brackets(text: &str) -> usize {
    let mut open = 0_usize;
    let mut most = 0;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                open += 1;
                most = most.max(open);
            }
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}
