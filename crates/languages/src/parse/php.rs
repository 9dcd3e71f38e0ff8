//! PHP by `php-rs-parser`. Only this module and `lower/php` use its types.

use bumpalo::Bump;
use castellan_event::Why;
use php_rs_parser::{ParseOptions, parse_arena_with};

use crate::limits::{PARSER_STACK_MIN, PARSER_STACK_PER_BYTE};
use crate::lower::php;
use crate::tree::{Kind, Node};

/// Parses a program. The first syntax error gives a `Hole` at its place, after the parts that the parser recovered:
/// another version of PHP may run them.
pub(super) fn parse(text: &str) -> Result<Node, Why> {
    let stack = PARSER_STACK_MIN + PARSER_STACK_PER_BYTE * text.len();
    stacker::maybe_grow(stack, stack, || Ok(parsed(text)))
}

fn parsed(text: &str) -> Node {
    let arena = Bump::new();
    let parsed = parse_arena_with(&arena, text, &ParseOptions::default().source_map(false));
    let tree = php(text, &parsed.program);
    let Some(error) = parsed.errors.first() else { return tree };
    let at = error.span();
    let hole = Node::new((at.start, at.end), Kind::Hole(Why::Syntax));
    Node::new(tree.at, Kind::Sequence(vec![tree, hole]))
}
