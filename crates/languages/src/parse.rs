//! Parses text into the common tree, within an amount of work. Only this module and `lower` use the parsers' types.

use std::ops::ControlFlow;

use castellan_event::Why;
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Range, Tree};

use crate::language::Language;
use crate::limits::{
    BRACKETS_MAX, LINE_PART_BYTES, OPEN_COMMENTS_MAX, PARSER_CALLS_MIN, PARSER_CALLS_PER_KIB,
    PARSER_WORK_PER_KIB, TEXT_BYTES_MAX,
};
use crate::tree::{Kind, Node};
use crate::work::Meter;
use crate::{applescript, batch, lower, powershell};

pub(crate) mod guard;
mod javascript;
mod perl;
mod php;
mod python;
mod ruby;

/// Parses a program within units of work, and returns the tree and the units used. A text that is too long or takes too
/// much work gives one `Hole`. A wrong part gives a `Hole` at its place.
pub(crate) fn parse(language: Language, text: &str, work_max: u64) -> (Node, u64) {
    match with_line_ends(language, text) {
        Some(text) => parsed(language, &text, work_max),
        None => parsed(language, text, work_max),
    }
}

/// Returns the text with the line ends that its parser needs, or `None` if it has them.
fn with_line_ends(language: Language, text: &str) -> Option<String> {
    match language {
        Language::Python | Language::PowerShell | Language::AppleScript => returns_as_lines(text),
        // In a here-document without an end, the grammar's scanner waits for a newline, even after the end of the text.
        Language::Perl => (!text.ends_with('\n')).then(|| format!("{text}\n")),
        Language::JavaScript | Language::Ruby | Language::Php | Language::Lua | Language::Batch => None,
    }
}

/// Replaces lone carriage returns by newlines, for readers that do not know that these end a line.
fn returns_as_lines(text: &str) -> Option<String> {
    if !text.contains('\r') {
        return None;
    }
    let mut letters = text.chars().peekable();
    let mut lines = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let is_end = letter == '\r' && letters.peek() != Some(&'\n');
        lines.push(if is_end { '\n' } else { letter });
    }
    Some(lines)
}

fn parsed(language: Language, text: &str, work_max: u64) -> (Node, u64) {
    if let Some(why) = refused(language, text) {
        return (hole(text, why), 0);
    }
    let grammar = match language {
        Language::Perl => ts_parser_perl::LANGUAGE,
        Language::Lua => tree_sitter_lua::LANGUAGE,
        Language::Python => return read_at_price(python::parse, text, work_max),
        Language::JavaScript => return read_at_price(javascript::parse, text, work_max),
        Language::Ruby => return read_at_price(ruby::parse, text, work_max),
        Language::Php => return read_at_price(php::parse, text, work_max),
        // These languages have hand-written readers.
        Language::PowerShell => return read_by(powershell::read, text, work_max),
        Language::Batch => return read_by(batch::read, text, work_max),
        Language::AppleScript => return read_by(applescript::read, text, work_max),
    };
    let ranges = if language == Language::Perl { short_lines(text) } else { Vec::new() };
    let per_call = language.work_per_parser_call();
    let (tree, work) = tree(&grammar.into(), text, &ranges, (work_max, per_call));
    let lowered = match tree {
        Some(tree) => lower::lower(language, text, tree.root_node()),
        None => hole(text, Why::Budget),
    };
    (lowered, work)
}

/// Reason not to parse a text: its size, or signs that make a grammar's parser slow.
fn refused(language: Language, text: &str) -> Option<Why> {
    if text.len() > TEXT_BYTES_MAX {
        return Some(Why::Size);
    }
    if matches!(language, Language::Python | Language::JavaScript | Language::Ruby | Language::Php) {
        return None;
    }
    if language == Language::Perl
        && let Some(why) = perl::refused(text)
    {
        return Some(why);
    }
    let last_end = text.rfind("*/").unwrap_or(0);
    let open_comments = text.get(last_end..).unwrap_or_default().matches("/*").count();
    if open_comments > OPEN_COMMENTS_MAX {
        return Some(Why::Budget);
    }
    (brackets(text) > BRACKETS_MAX).then_some(Why::Nesting)
}

/// Returns the parser's tree, or `None` if it takes too much work, and the work used. `work`: the limit, and the units
/// per callback call.
fn tree(
    grammar: &tree_sitter::Language,
    text: &str,
    ranges: &[Range],
    work: (u64, u64),
) -> (Option<Tree>, u64) {
    let (work_max, per_call) = work;
    let mut parser = Parser::new();
    if parser.set_language(grammar).is_err() || parser.set_included_ranges(ranges).is_err() {
        return (None, 0);
    }
    let of_text = PARSER_CALLS_MIN + PARSER_CALLS_PER_KIB * (text.len() as u64 / 1024);
    let most = of_text.min(work_max / per_call);
    let mut calls = 0;
    let mut progress = |_: &ParseState| {
        calls += 1;
        if calls <= most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    (tree, calls * per_call)
}

/// Reads a text by a parser whose work is known from the size of the text.
fn read_at_price(reader: fn(&str) -> Result<Node, Why>, text: &str, work_max: u64) -> (Node, u64) {
    let work = PARSER_WORK_PER_KIB * (text.len() as u64 / 1024);
    let tree = if work > work_max { Err(Why::Budget) } else { reader(text) };
    (tree.unwrap_or_else(|why| hole(text, why)), work.min(work_max))
}

/// The whole text is not understood.
fn hole(text: &str, why: Why) -> Node {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    Node::new((0, end), Kind::Hole(why))
}

/// Reads a text by a hand-written reader.
fn read_by(reader: fn(&str, &Meter) -> Node, text: &str, work_max: u64) -> (Node, u64) {
    let meter = Meter::of(work_max);
    let tree = reader(text, &meter);
    if meter.is_over() {
        return (hole(text, Why::Budget), meter.units());
    }
    (tree, meter.units())
}

/// Splits the text into adjacent ranges, so that its lines are short. Perl's scanner asks at each token for the column,
/// which is counted from the line's start. A range that begins within a line claims to begin at its second column.
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

/// Returns the largest number of open brackets; includes brackets in literals.
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
