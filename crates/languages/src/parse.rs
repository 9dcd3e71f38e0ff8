//! Text to the common tree, within an amount of work. It alone names the parser, with `lower`, which reads its trees.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use castellan_event::Why;
use tree_sitter::{LogType, ParseOptions, ParseState, Parser, Point, Range};

use crate::language::Language;
use crate::limits::{
    BRACKETS_MAX, CONTINUATIONS_MAX, ERRORS_UNCOUNTED_BYTES, LINE_PART_BYTES, PARSER_CALLS_MIN,
    PARSER_CALLS_PER_KIB, PARSER_ERRORS_MAX, TEXT_BYTES_MAX,
};
use crate::lower;
use crate::tree::{Kind, Node};

/// Parses a program. What is too long, or takes too much work, is one hole; what is wrong is one where it is wrong.
pub(crate) fn parse(language: Language, text: &str) -> Node {
    // The mark that ends a here-document is only seen before the end of a line.
    if language == Language::Ruby && text.contains("<<") && !text.ends_with('\n') {
        return parsed(language, &format!("{text}\n"));
    }
    parsed(language, text)
}

fn parsed(language: Language, text: &str) -> Node {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let hole = |why| Node::new((0, end), Kind::Hole(why));
    if text.len() > TEXT_BYTES_MAX {
        return hole(Why::Size);
    }
    if text.matches("\\\n").count() + text.matches("\\\r").count() > CONTINUATIONS_MAX {
        return hole(Why::Budget);
    }
    if brackets(text) > BRACKETS_MAX {
        return hole(Why::Nesting);
    }
    let mut parser = Parser::new();
    let grammar = match language {
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Perl => ts_parser_perl::LANGUAGE,
        Language::Ruby => tree_sitter_ruby::LANGUAGE,
    };
    if parser.set_language(&grammar.into()).is_err() {
        return hole(Why::Unsupported);
    }
    if language == Language::Perl && parser.set_included_ranges(&short_lines(text)).is_err() {
        return hole(Why::Unsupported);
    }
    let most = PARSER_CALLS_MIN + PARSER_CALLS_PER_KIB * (text.len() / 1024);
    let errors = Arc::new(AtomicUsize::new(0));
    if text.len() > ERRORS_UNCOUNTED_BYTES {
        // No callback counts errors, whose cost grows with the errors before; the log tells them.
        let counted = Arc::clone(&errors);
        parser.set_logger(Some(Box::new(move |kind, line: &str| {
            if kind == LogType::Parse && ERROR_LINES.iter().any(|begin| line.starts_with(begin)) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        })));
    }
    let mut calls = 0;
    let mut progress = |_: &ParseState| {
        calls += 1;
        let goes_on = calls <= most && errors.load(Ordering::Relaxed) <= PARSER_ERRORS_MAX;
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    match parser.parse_with_options(&mut read, None, Some(options)) {
        Some(tree) => lower::lower(language, text, tree.root_node()),
        None => hole(Why::Budget),
    }
}

/// How the parser's log begins to tell of an error (tree-sitter 0.27).
const ERROR_LINES: &[&str] = &["detect_error", "skip_token", "recover"];

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
