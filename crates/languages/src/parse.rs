//! Text to the common tree, within an amount of work. It alone names the parser, with `lower`, which reads its trees.

use std::ops::ControlFlow;

use castellan_event::Why;
use tree_sitter::{ParseOptions, Parser};

use crate::language::Language;
use crate::limits::{PARSER_CALLS_MIN, PARSER_CALLS_PER_KIB, TEXT_BYTES_MAX};
use crate::lower;
use crate::tree::{Kind, Node};

/// Parses a program. What is too long, or takes too much work, is one hole; what is wrong is one where it is wrong.
pub(crate) fn parse(language: Language, text: &str) -> Node {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let hole = |why| Node::new((0, end), Kind::Hole(why));
    if text.len() > TEXT_BYTES_MAX {
        return hole(Why::Size);
    }
    let mut parser = Parser::new();
    let grammar = match language {
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
    };
    if parser.set_language(&grammar.into()).is_err() {
        return hole(Why::Unsupported);
    }
    let most = PARSER_CALLS_MIN + PARSER_CALLS_PER_KIB * (text.len() / 1024);
    let mut calls = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        calls += 1;
        if calls > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    match parser.parse_with_options(&mut read, None, Some(options)) {
        Some(tree) => lower::lower(language, text, tree.root_node()),
        None => hole(Why::Budget),
    }
}
