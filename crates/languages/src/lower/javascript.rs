//! JavaScript and TypeScript, as `oxc_parser` 0.146 reads them.

use oxc_ast::ast::{Directive, Program, Statement};
use oxc_span::GetSpan;

use super::Lower;
use crate::tree::{Kind, Node, Span};

mod definitions;
mod expressions;
mod literals;
mod modules;
mod statements;
mod targets;
mod typescript;

/// Returns the common tree of a program.
pub(crate) fn javascript(text: &str, program: &Program<'_>) -> Node {
    Lower::of(text).js_body(span(program), &program.directives, &program.body)
}

impl Lower<'_> {
    /// The texts at the beginning, which may be the value of the whole, and the statements.
    fn js_body(&mut self, at: Span, directives: &[Directive<'_>], body: &[Statement<'_>]) -> Node {
        let texts = directives.iter().map(|one| Self::js_string(&one.expression));
        let mut parts: Vec<Node> = texts.collect();
        parts.extend(self.js_statements(body));
        Node::sequence(at, parts)
    }

    /// Statements in order, but functions first: they have their names from the beginning.
    fn js_statements(&mut self, body: &[Statement<'_>]) -> Vec<Node> {
        let is_function = |one: &&Statement<'_>| matches!(one, Statement::FunctionDeclaration(_));
        let (functions, others): (Vec<_>, Vec<_>) = body.iter().partition(is_function);
        functions.into_iter().chain(others).map(|one| self.js_statement(one)).collect()
    }

    /// A part with names of its own.
    fn js_scope(&mut self, at: Span, lower: impl FnOnce(&mut Self) -> Node) -> Node {
        self.begin_block();
        let inside = lower(self);
        Node::new(at, Kind::Scope(self.locals(), inside.into()))
    }
}

/// The parser's place of a node.
fn span(node: &impl GetSpan) -> Span {
    let span = node.span();
    (span.start, span.end)
}
