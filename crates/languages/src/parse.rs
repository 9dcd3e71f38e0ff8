//! Text to the common tree, within an amount of work. It alone names the parser, with `lower`, which reads its trees.

use std::ops::ControlFlow;

use castellan_event::Why;
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Range, Tree};

use crate::language::Language;
use crate::limits::{
    BRACKETS_MAX, HEREDOCS_MAX, LINE_PART_BYTES, OPEN_COMMENTS_MAX, PARSER_CALLS_MIN, PARSER_CALLS_PER_KIB,
    TEXT_BYTES_MAX,
};
use crate::tree::{Kind, Node};
use crate::work::Meter;
use crate::{applescript, batch, lower, powershell};

/// Parses a program, within units of work. What is too long, or takes too much work, is one hole; what is wrong is one where it
/// is wrong. Returns the work as well.
pub(crate) fn parse(language: Language, text: &str, work_max: u64) -> (Node, u64) {
    // The mark that ends a here-document is only seen before the end of a line.
    if language == Language::Ruby && text.contains("<<") && !text.ends_with('\n') {
        return parsed(language, &format!("{text}\n"), work_max);
    }
    parsed(language, text, work_max)
}

fn parsed(language: Language, text: &str, work_max: u64) -> (Node, u64) {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let hole = |why| Node::new((0, end), Kind::Hole(why));
    if text.len() > TEXT_BYTES_MAX {
        return (hole(Why::Size), 0);
    }
    let last_end = text.rfind("*/").unwrap_or(0);
    if text.get(last_end..).unwrap_or_default().matches("/*").count() > OPEN_COMMENTS_MAX {
        return (hole(Why::Budget), 0);
    }
    if language == Language::Ruby && heredocs(text) > HEREDOCS_MAX {
        return (hole(Why::Budget), 0);
    }
    if brackets(text) > BRACKETS_MAX {
        return (hole(Why::Nesting), 0);
    }
    let grammar = match language {
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Perl => ts_parser_perl::LANGUAGE,
        Language::Ruby => tree_sitter_ruby::LANGUAGE,
        Language::Php => tree_sitter_php::LANGUAGE_PHP,
        Language::Lua => tree_sitter_lua::LANGUAGE,
        // These have readers of their own.
        Language::PowerShell => return read_by(powershell::read, text, work_max),
        Language::Batch => return read_by(batch::read, text, work_max),
        Language::AppleScript => return read_by(applescript::read, text, work_max),
    };
    let ranges = if language == Language::Perl { short_lines(text) } else { Vec::new() };
    let per_call = language.work_per_parser_call();
    let (tree, work) = tree(&grammar.into(), text, &ranges, (work_max, per_call));
    let is_wrong = tree.as_ref().is_none_or(|tree| tree.root_node().has_error());
    if language == Language::JavaScript && (is_wrong || calls_with_types(text)) {
        let grammar = tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into();
        let (typed, more) = self::tree(&grammar, text, &[], (work_max.saturating_sub(work), per_call));
        let typed = typed.filter(|typed| !typed.root_node().has_error());
        if let Some(tree) = typed.or(tree) {
            return (lower::lower(language, text, tree.root_node()), work + more);
        }
        return (hole(Why::Budget), work + more);
    }
    let lowered = match tree {
        Some(tree) => lower::lower(language, text, tree.root_node()),
        None => hole(Why::Budget),
    };
    (lowered, work)
}

/// Whether something in JavaScript, which compares, may be a call in TypeScript: `f<T>(x)`.
fn calls_with_types(text: &str) -> bool {
    let mut parts = text.split('>');
    let mut before = parts.next().unwrap_or_default();
    let mut has_open = before.contains('<');
    for part in parts {
        if has_open && !before.ends_with('=') && part.trim_start().starts_with(['(', '`']) {
            return true;
        }
        has_open |= part.contains('<');
        before = part;
    }
    false
}

/// The parser's tree, `None` for what takes too much work; and the work that it took. `work` is how much it may take, and what each
/// call of the progress callback counts.
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

/// Reads a text by a reader of ours.
fn read_by(reader: fn(&str, &Meter) -> Node, text: &str, work_max: u64) -> (Node, u64) {
    let meter = Meter::of(work_max);
    let tree = reader(text, &meter);
    if meter.is_over() {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        return (Node::new((0, end), Kind::Hole(Why::Budget)), meter.units());
    }
    (tree, meter.units())
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

/// What may begin a here-document: `<<A`, `<<~A`, `<<'A'`.
fn heredocs(text: &str) -> usize {
    let begins = |rest: &str| rest.starts_with(|one: char| one.is_alphabetic() || "_~-\"'`".contains(one));
    text.match_indices("<<").filter(|(at, _)| text.get(at + 2..).is_some_and(begins)).count()
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
