//! Literals of text, with values in them.

use castellan_event::Why;
use ruff_python_ast::{
    BytesLiteral, ConversionFlag, ExprBytesLiteral, ExprFString, ExprStringLiteral, ExprTString, FStringPart,
    InterpolatedElement, InterpolatedStringElement, StringLiteral,
};

use super::{Lower, span};
use crate::tree::{Kind, Node, Span};

/// A half of a surrogate pair, `\ud800`, is this character for the parser.
const REPLACED: char = '\u{fffd}';

impl Lower<'_> {
    pub(super) fn string(&self, node: &ExprStringLiteral) -> Node {
        joined(span(node), node.value.iter().map(|one| self.literal(one)).collect())
    }

    fn literal(&self, node: &StringLiteral) -> Node {
        self.piece(span(node), &node.value)
    }

    /// A text with a half of a surrogate pair is not known.
    fn piece(&self, at: Span, value: &str) -> Node {
        let is_written =
            || self.text.get(at.0 as usize..at.1 as usize).is_some_and(|text| text.contains(REPLACED));
        if value.contains(REPLACED) && !is_written() {
            return Node::unknown(at);
        }
        Node::text(at, value)
    }

    /// Each byte is the character of its number.
    pub(super) fn bytes(node: &ExprBytesLiteral) -> Node {
        let text = |one: &BytesLiteral| one.value.iter().copied().map(char::from).collect::<String>();
        joined(span(node), node.value.iter().map(|one| Node::text(span(one), &text(one))).collect())
    }

    pub(super) fn formatted(&mut self, node: &ExprFString) -> Node {
        let mut parts = Vec::new();
        for part in &node.value {
            match part {
                FStringPart::Literal(one) => parts.push(self.literal(one)),
                FStringPart::FString(one) => parts.extend(one.elements.iter().map(|one| self.element(one))),
            }
        }
        Node::new(span(node), Kind::Join(parts))
    }

    pub(super) fn template_text(&mut self, node: &ExprTString) -> Node {
        let elements = node.value.iter().flat_map(|one| &one.elements);
        let parts = elements.map(|one| self.element(one)).collect();
        Node::new(span(node), Kind::Join(parts))
    }

    fn element(&mut self, node: &InterpolatedStringElement) -> Node {
        match node {
            InterpolatedStringElement::Literal(one) => self.piece(span(one), &one.value),
            InterpolatedStringElement::Interpolation(one) => {
                self.deeper_at(span(one), |lower| lower.interpolation(one))
            }
        }
    }

    /// A value in a text; one with a format of its own is not known.
    fn interpolation(&mut self, node: &InterpolatedElement) -> Node {
        let value = self.expression(&node.expression);
        let has_conversion = !matches!(node.conversion, ConversionFlag::None | ConversionFlag::Str);
        if node.format_spec.is_none() && node.debug_text.is_none() && !has_conversion {
            return value;
        }
        let inner = node.format_spec.iter().flat_map(|format| &format.elements);
        let parts: Vec<Node> = inner
            .filter(|one| matches!(one, InterpolatedStringElement::Interpolation(_)))
            .map(|one| self.element(one))
            .collect();
        Node::inert(span(node), std::iter::once(value).chain(parts).collect())
    }
}

/// Texts that stand next to each other are one text.
fn joined(at: Span, mut parts: Vec<Node>) -> Node {
    match parts.len() {
        1 => parts.pop().unwrap_or_else(|| Node::hole(at, Why::Syntax)),
        _ => Node::new(at, Kind::Join(parts)),
    }
}
