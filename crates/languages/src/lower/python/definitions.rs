//! Functions, classes and their decorators.

use std::rc::Rc;

use castellan_event::Why;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{
    Decorator, Expr, ExprLambda, Parameter as Given, Parameters, StmtClassDef, StmtFunctionDef,
};

use super::super::{Lower, Names};
use super::span;
use crate::limits::LAYERS_MAX;
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest, Span};

impl Lower<'_> {
    pub(super) fn function_definition(&mut self, node: &StmtFunctionDef) -> Node {
        self.definition(span(node), &node.decorator_list, &node.name, |lower| {
            let is_static =
                |one: &Decorator| matches!(&one.expression, Expr::Name(name) if name.id == "staticmethod");
            let is_member = lower.scopes.last().is_some_and(|scope| scope.is_class);
            let takes_self = is_member && !node.decorator_list.iter().any(is_static);
            let (at, returns) = (span(node), node.returns.as_deref());
            lower.function(at, Some(&node.parameters), returns, takes_self, |lower| {
                lower.block(at, &node.body)
            })
        })
    }

    pub(super) fn class_definition(&mut self, node: &StmtClassDef) -> Node {
        self.definition(span(node), &node.decorator_list, &node.name, |lower| lower.class(node))
    }

    /// Gives a name its function or class.
    fn definition(
        &mut self,
        at: Span,
        decorators: &[Decorator],
        name: &str,
        define: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        if decorators.len() > LAYERS_MAX {
            return Node::hole(at, Why::Nesting);
        }
        let decorators = self.expressions(decorators.iter().map(|one| &one.expression));
        let name = self.declare(name);
        let mut value = define(self);
        for decorator in decorators.into_iter().rev() {
            value = Node::call(decorator.at, decorator, vec![value]);
        }
        Node::assign(at, Node::name(at, &name), value)
    }

    pub(super) fn lambda(&mut self, node: &ExprLambda) -> Node {
        self.function(span(node), node.parameters.as_deref(), None, false, |lower| {
            let value = lower.expression(&node.body);
            Node::new(value.at, Kind::Return(Some(value.into())))
        })
    }

    fn function(
        &mut self,
        at: Span,
        parameters: Option<&Parameters>,
        returns: Option<&Expr>,
        takes_self: bool,
        body: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        let given: Vec<(&Given, Option<&Expr>, Rest)> = parameters.map(given).unwrap_or_default();
        let defaults: Vec<Option<Node>> =
            given.iter().map(|(_, default, _)| default.map(|value| self.expression(value))).collect();
        let types = given.iter().filter_map(|(one, ..)| one.annotation.as_deref());
        let annotations = self.annotations(returns.into_iter().chain(types));
        self.scopes.push(Names::default());
        let mut parameters = Vec::new();
        for ((one, _, rest), default) in given.into_iter().zip(defaults) {
            let target = Node::name(span(one), &self.declare(&one.name));
            parameters.push(Parameter { target, default, rest });
        }
        let body = body(self);
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this: false, takes_self };
        after(annotations, Node::new(at, Kind::Function(Rc::new(function))))
    }

    /// Code that runs when a type is read: the calls in it, and texts with calls. Names alone may get a meaning later.
    pub(super) fn annotations<'p>(&mut self, types: impl IntoIterator<Item = &'p Expr>) -> Vec<Node> {
        let mut found = Vec::new();
        for one in types {
            let mut left = Inner(vec![one]);
            while let Some(node) = left.0.pop() {
                let at = span(node);
                let written = || self.text.get(at.0 as usize..at.1 as usize).unwrap_or_default();
                match node {
                    Expr::Call(_) => found.push(self.expression(node)),
                    Expr::StringLiteral(_) | Expr::FString(_) if written().contains('(') => {
                        let text = self.expression(node);
                        found.push(Node::library(at, "eval", vec![text]));
                    }
                    _ => walk_expr(&mut left, node),
                }
            }
        }
        found
    }

    fn class(&mut self, node: &StmtClassDef) -> Node {
        let bases = node.arguments.as_ref().map(|bases| self.arguments(bases)).unwrap_or_default();
        self.scopes.push(Names { is_class: true, ..Names::default() });
        let body = self.block(span(node), &node.body);
        let locals = self.locals();
        let class = Class { bases, locals, body };
        Node::new(span(node), Kind::Class(Rc::new(class)))
    }
}

/// Parameters in the order of the text, with their defaults.
fn given(parameters: &Parameters) -> Vec<(&Given, Option<&Expr>, Rest)> {
    let Parameters { posonlyargs, args, vararg, kwonlyargs, kwarg, .. } = parameters;
    let first = posonlyargs.iter().chain(args).map(|one| (&one.parameter, one.default.as_deref(), Rest::One));
    let named = kwonlyargs.iter().map(|one| (&one.parameter, one.default.as_deref(), Rest::One));
    let list = vararg.iter().map(|one| (&**one, None, Rest::List));
    let map = kwarg.iter().map(|one| (&**one, None, Rest::Map));
    first.chain(list).chain(named).chain(map).collect()
}

/// Expressions that are left to visit. The parser's tree may be deep, so a visit does not recurse.
struct Inner<'p>(Vec<&'p Expr>);

impl<'p> SourceOrderVisitor<'p> for Inner<'p> {
    fn visit_expr(&mut self, node: &'p Expr) {
        self.0.push(node);
    }
}

/// Code that runs first, if there is any, and the value.
pub(super) fn after(first: Vec<Node>, value: Node) -> Node {
    if first.is_empty() {
        return value;
    }
    let at = value.at;
    Node::sequence(at, vec![Node::inert(at, first), value])
}
