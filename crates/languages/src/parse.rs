//! Parses text into the common tree, within an amount of work. Only this module and `lower` use the parsers' types.

use std::ops::ControlFlow;

use castellan_event::Why;
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Range, Tree};

use crate::language::Language;
use crate::limits::{
    BRACKETS_MAX, HEREDOCS_MAX, HTML_MARKS_MAX, LINE_PART_BYTES, OPEN_COMMENTS_MAX, PARSER_CALLS_MIN,
    PARSER_CALLS_PER_KIB, PARSER_WORK_PER_KIB, TEXT_BYTES_MAX,
};
use crate::tree::{Kind, Node};
use crate::work::Meter;
use crate::{applescript, batch, lower, powershell};

pub(crate) mod guard;
mod python;

/// Characters that end a line of JavaScript.
const LINE_ENDS: &[char] = &['\n', '\r', '\u{2028}', '\u{2029}'];

/// Nodes of JavaScript in which no comment begins.
const AS_TEXT: &[&str] = &[
    "string",
    "string_fragment",
    "template_string",
    "comment",
    "regex",
    "regex_pattern",
    "jsx_text",
    "hash_bang_line",
];

/// Parses a program within units of work, and returns the tree and the units used. A text that is too long or takes too
/// much work gives one `Hole`. A wrong part gives a `Hole` at its place.
pub(crate) fn parse(language: Language, text: &str, work_max: u64) -> (Node, u64) {
    // The grammar only finds the end mark of a here-document before a line end.
    if language == Language::Ruby && text.contains("<<") && !text.ends_with('\n') {
        return parsed(language, &format!("{text}\n"), work_max);
    }
    match returns_as_lines(language, text) {
        Some(text) => parsed(language, &text, work_max),
        None => parsed(language, text, work_max),
    }
}

/// Replaces lone carriage returns by newlines, in languages where they end a line and the reader does not know that.
fn returns_as_lines(language: Language, text: &str) -> Option<String> {
    let ends_lines = matches!(language, Language::Python | Language::PowerShell | Language::AppleScript);
    if !ends_lines || !text.contains('\r') {
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
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let hole = |why| Node::new((0, end), Kind::Hole(why));
    if let Some(why) = refused(language, text) {
        return (hole(why), 0);
    }
    let grammar = match language {
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Perl => ts_parser_perl::LANGUAGE,
        Language::Ruby => tree_sitter_ruby::LANGUAGE,
        Language::Php => tree_sitter_php::LANGUAGE_PHP,
        Language::Lua => tree_sitter_lua::LANGUAGE,
        Language::Python => {
            let work = PARSER_WORK_PER_KIB * (text.len() as u64 / 1024);
            let tree = if work > work_max { Err(Why::Budget) } else { python::parse(text) };
            return (tree.unwrap_or_else(hole), work.min(work_max));
        }
        // These languages have hand-written readers.
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
            return (javascript(text, &tree), work + more);
        }
        return (hole(Why::Budget), work + more);
    }
    let lowered = match tree {
        Some(tree) if language == Language::JavaScript => javascript(text, &tree),
        Some(tree) => lower::lower(language, text, tree.root_node()),
        None => hole(Why::Budget),
    };
    (lowered, work)
}

/// Reason not to parse a text: its size, or signs that make a grammar's parser slow.
fn refused(language: Language, text: &str) -> Option<Why> {
    if text.len() > TEXT_BYTES_MAX {
        return Some(Why::Size);
    }
    if language == Language::Python {
        return None;
    }
    let last_end = text.rfind("*/").unwrap_or(0);
    let open_comments = text.get(last_end..).unwrap_or_default().matches("/*").count();
    let is_slow = language == Language::Ruby && heredocs(text) > HEREDOCS_MAX;
    if open_comments > OPEN_COMMENTS_MAX || is_slow {
        return Some(Why::Budget);
    }
    (brackets(text) > BRACKETS_MAX).then_some(Why::Nesting)
}

/// Returns the lowered tree of JavaScript. An HTML comment, which only scripts have and the grammar reads as operators,
/// gives a `Hole`.
fn javascript(text: &str, tree: &Tree) -> Node {
    let root = tree.root_node();
    let lowered = lower::lower(Language::JavaScript, text, root);
    let is_code = |at: usize, size: usize| {
        let node = root.descendant_for_byte_range(at, at + size);
        // The grammar does not know that a carriage return ends an HTML comment.
        node.is_none_or(|node| match node.kind() {
            "html_comment" => text.get(node.byte_range()).is_none_or(|text| text.contains('\r')),
            kind => !AS_TEXT.contains(&kind),
        })
    };
    // The look-up takes time, so a mark after many others is reported without it.
    let is_comment = |place: usize, at: usize, mark: &str| place >= HTML_MARKS_MAX || is_code(at, mark.len());
    let mut opens = text.match_indices("<!--").enumerate();
    let opens = opens.find(|(place, (at, mark))| is_comment(*place, *at, mark));
    let closes = || {
        let begins = |at: usize| {
            let before = text.get(..at).unwrap_or_default();
            let before =
                before.trim_end_matches(|one: char| one.is_whitespace() && !LINE_ENDS.contains(&one));
            before.is_empty() || before.ends_with(LINE_ENDS) || before.ends_with("*/")
        };
        let mut closes = text.match_indices("-->").filter(|(at, _)| begins(*at)).enumerate();
        closes.find(|(place, (at, mark))| is_comment(*place, *at, mark))
    };
    let Some((_, (at, comment))) = opens.or_else(closes) else { return lowered };
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let hole = Node::new((place(at), place(at + comment.len())), Kind::Hole(Why::Unsupported));
    Node::new(lowered.at, Kind::Sequence(vec![hole, lowered]))
}

/// Reports whether a comparison in JavaScript may be a call in TypeScript: `f<T>(x)`.
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

/// Reads a text by a hand-written reader.
fn read_by(reader: fn(&str, &Meter) -> Node, text: &str, work_max: u64) -> (Node, u64) {
    let meter = Meter::of(work_max);
    let tree = reader(text, &meter);
    if meter.is_over() {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        return (Node::new((0, end), Kind::Hole(Why::Budget)), meter.units());
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

/// Counts the possible beginnings of here-documents: `<<A`, `<<~A`, `<<'A'`.
fn heredocs(text: &str) -> usize {
    let begins = |rest: &str| rest.starts_with(|one: char| one.is_alphabetic() || "_~-\"'`".contains(one));
    text.match_indices("<<").filter(|(at, _)| text.get(at + 2..).is_some_and(begins)).count()
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
