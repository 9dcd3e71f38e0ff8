//! Literals of text, with values in them.

use ruby_prism::{Node as Parsed, NodeList};

use super::super::Lower;
use super::{function_call, span};
use crate::tree::{Kind, Node, Span};

impl Lower<'_> {
    /// A literal of text, of a symbol, of a pattern, or a command in backticks.
    pub(super) fn rb_text(&mut self, node: &Parsed<'_>) -> Option<Node> {
        let at = span(&node.location());
        let is_pattern = node.as_regular_expression_node().is_some()
            || node.as_interpolated_regular_expression_node().is_some()
            || node.as_match_last_line_node().is_some()
            || node.as_interpolated_match_last_line_node().is_some();
        let is_command = node.as_x_string_node().is_some() || node.as_interpolated_x_string_node().is_some();
        let inside = by_kind! { node;
            as_symbol_node one => return Some(piece(at, one.unescaped())),
            as_string_node one => vec![piece(at, one.unescaped())],
            as_x_string_node one => vec![piece(at, one.unescaped())],
            as_regular_expression_node one => vec![piece(at, one.unescaped())],
            as_match_last_line_node one => vec![piece(at, one.unescaped())],
            as_interpolated_string_node one => self.rb_parts(&one.parts()),
            as_interpolated_symbol_node one => self.rb_parts(&one.parts()),
            as_interpolated_x_string_node one => self.rb_parts(&one.parts()),
            as_interpolated_regular_expression_node one => self.rb_parts(&one.parts()),
            as_interpolated_match_last_line_node one => self.rb_parts(&one.parts()),
            _ => return None,
        };
        let text = Node::new(at, Kind::Join(inside));
        Some(match () {
            () if is_command => function_call(at, "`", vec![text]),
            () if is_pattern => Node::inert(at, vec![text]),
            () => text,
        })
    }

    fn rb_parts(&mut self, parts: &NodeList<'_>) -> Vec<Node> {
        let part = |one: Parsed<'_>| {
            let at = span(&one.location());
            by_kind! { one;
                as_string_node text => piece(at, text.unescaped()),
                as_embedded_statements_node code => self.rb_statements(at, code.statements()),
                as_embedded_variable_node one => self.rb(&one.variable()),
                _ => self.rb(&one),
            }
        };
        parts.iter().map(part).collect()
    }
}

/// A text that is no UTF-8 is not known.
fn piece(at: Span, bytes: &[u8]) -> Node {
    std::str::from_utf8(bytes).map_or_else(|_| Node::unknown(at), |text| Node::text(at, text))
}
