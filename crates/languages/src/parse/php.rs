//! PHP by `php-rs-parser`. Only this module and `lower/php` use its types.

use bumpalo::Bump;
use castellan_event::Why;
use php_rs_parser::{ParseOptions, parse_arena_with};

use crate::limits::{PARSER_STACK_MIN, PARSER_STACK_PER_BYTE};
use crate::lower::php;
use crate::tree::{Kind, Node, Span};

mod older;

/// Parses a program. The first syntax error gives a `Hole` at its place, after the parts that the parser recovered:
/// another version of PHP may run them.
pub(super) fn parse(text: &str) -> Result<Node, Why> {
    let stack = PARSER_STACK_MIN + PARSER_STACK_PER_BYTE * text.len();
    stacker::maybe_grow(stack, stack, || Ok(parsed(text)))
}

fn parsed(text: &str) -> Node {
    let (tree, error) = parsed_once(text);
    let old = older::text(text).map(|old| parsed_once(&old));
    let tree = match old {
        Some((old, None)) => Node::new(tree.at, Kind::Either(vec![tree, old])),
        // An older PHP runs nothing of it.
        Some((_, Some(_))) | None => tree,
    };
    let Some(at) = error else { return tree };
    Node::new(tree.at, Kind::Sequence(vec![tree, Node::new(at, Kind::Hole(Why::Syntax))]))
}

/// Returns the tree, and the place of the first error.
fn parsed_once(text: &str) -> (Node, Option<Span>) {
    let arena = Bump::new();
    let parsed = parse_arena_with(&arena, text, &ParseOptions::default().source_map(false));
    let error = parsed.errors.first().map(|error| (error.span().start, error.span().end));
    (php(text, &parsed.program), error)
}
