//! Numbers and texts.

use oxc_ast::ast::{StringLiteral, TemplateElement, TemplateLiteral};

use super::super::Lower;
use super::span;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn js_string(node: &StringLiteral<'_>) -> Node {
        let at = span(node);
        // A half of a surrogate pair is no character.
        if node.lone_surrogates {
            return Node::unknown(at);
        }
        Node::text(at, &node.value)
    }

    pub(super) fn js_template(&mut self, node: &TemplateLiteral<'_>) -> Node {
        let mut parts = Vec::new();
        let mut values = node.expressions.iter();
        for text in &node.quasis {
            parts.extend(fixed(text));
            parts.extend(values.next().map(|value| self.js(value)));
        }
        Node::new(span(node), Kind::Join(parts))
    }
}

/// The text between two values. An escape without a meaning has no text; only a tag may have such a template.
fn fixed(node: &TemplateElement<'_>) -> Option<Node> {
    let at = span(node);
    match &node.value.cooked {
        Some(text) if !node.lone_surrogates => (!text.is_empty()).then(|| Node::text(at, text)),
        _ => Some(Node::unknown(at)),
    }
}

/// A whole number, or data.
pub(super) fn number(value: f64) -> Kind {
    let whole = value as i64;
    if whole as f64 == value { Kind::Number(whole) } else { Kind::Constant }
}
