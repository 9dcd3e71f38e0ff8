//! Text to the common tree, within an amount of work. It alone names the parser, with `lower`, which reads its trees.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use castellan_event::Why;
use tree_sitter::{LogType, ParseOptions, ParseState, Parser};

use crate::language::Language;
use crate::limits::{
    BRACKETS_MAX, CONTINUATIONS_MAX, ERRORS_UNCOUNTED_BYTES, PARSER_CALLS_MIN, PARSER_CALLS_PER_KIB,
    PARSER_ERRORS_MAX, TEXT_BYTES_MAX,
};
use crate::{applescript, batch, lower, powershell};
use crate::tree::{Kind, Node};

/// Parses a program. What is too long, or takes too much work, is one hole; what is wrong is one where it is wrong.
pub(crate) fn parse(language: Language, text: &str) -> Node {
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
        Language::PowerShell => return powershell::read(text),
        Language::Batch => return batch::read(text),
        Language::AppleScript => return applescript::read(text),
    };
    if parser.set_language(&grammar.into()).is_err() {
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
