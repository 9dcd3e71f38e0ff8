//! Python 3.14, as `ruff_python_parser` 0.0.10 reads it.

use ruff_python_ast::{Expr, ModModule, Stmt};
use ruff_text_size::Ranged;

use super::Lower;
use crate::tree::{Node, Span};

mod definitions;
mod expressions;
mod imports;
mod matches;
mod statements;
mod texts;

/// Returns the common tree of a program.
pub(crate) fn python(text: &str, program: &ModModule) -> Node {
    Lower::of(text).block(span(program), &program.body)
}

impl Lower<'_> {
    /// Statements, one after the other.
    fn block(&mut self, at: Span, body: &[Stmt]) -> Node {
        Node::sequence(at, body.iter().map(|one| self.statement(one)).collect())
    }

    fn expressions<'p>(&mut self, parts: impl IntoIterator<Item = &'p Expr>) -> Vec<Node> {
        parts.into_iter().map(|one| self.expression(one)).collect()
    }

    /// All parts run, and their value is data.
    fn inert<'p>(&mut self, at: Span, parts: impl IntoIterator<Item = &'p Expr>) -> Node {
        Node::inert(at, self.expressions(parts))
    }

    /// The place to which a value is given.
    fn target(&mut self, node: &Expr) -> Node {
        let at = span(node);
        match node {
            Expr::Name(name) => {
                let name = self.declare(&name.id);
                Node::name(at, &name)
            }
            Expr::Tuple(several) => self.targets(at, &several.elts),
            Expr::List(several) => self.targets(at, &several.elts),
            Expr::Starred(rest) => {
                let inner = self.deeper_at(at, |lower| lower.target(&rest.value));
                Node::spread(at, inner)
            }
            _ => self.expression(node),
        }
    }

    fn targets(&mut self, at: Span, several: &[Expr]) -> Node {
        self.deeper_at(at, |lower| Node::list(at, several.iter().map(|one| lower.target(one)).collect()))
    }
}

/// The parser's place of a node.
pub(crate) fn span(node: &impl Ranged) -> Span {
    (node.start().to_u32(), node.end().to_u32())
}
