//! Functions, classes and what decorates them.

use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::{Lower, Names};
use crate::limits::LAYERS_MAX;
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest};

impl Lower<'_> {
    /// Gives a name its function or class.
    pub(super) fn definition(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut decorators = Vec::new();
        let mut definition = node;
        if node.kind() == "decorated_definition" {
            for child in Self::children(node).into_iter().filter(|child| child.kind() == "decorator") {
                let children = Self::children(child);
                decorators.extend(children.first().copied());
            }
            definition = node.child_by_field_name("definition").unwrap_or(node);
        }
        if decorators.len() > LAYERS_MAX {
            return self.hole(node, Why::Nesting);
        }
        let is_static = decorators.iter().any(|one| self.text_of(*one) == "staticmethod");
        let decorators: Vec<Node> = decorators.into_iter().map(|one| self.expression(one)).collect();
        let name = definition.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let name = self.declare(name);
        let mut value = match definition.kind() {
            "function_definition" => {
                let is_member = self.scopes.last().is_some_and(|scope| scope.is_class);
                self.function(definition, is_member && !is_static)
            }
            "class_definition" => self.class(definition),
            _ => self.error(definition),
        };
        for decorator in decorators.into_iter().rev() {
            value = Node::new(decorator.at, Kind::Call(decorator.into(), vec![value]));
        }
        Node::assign(at, Node::name(at, &name), value)
    }

    pub(super) fn function(&mut self, node: Parsed<'_>, takes_self: bool) -> Node {
        let at = Self::at(node);
        let given = node.child_by_field_name("parameters").map(Self::children).unwrap_or_default();
        let defaults: Vec<Option<Node>> = given
            .iter()
            .map(|one| one.child_by_field_name("value").map(|value| self.expression(value)))
            .collect();
        let mut annotations = self.annotations(node.child_by_field_name("return_type"));
        for one in &given {
            annotations.extend(self.annotations(one.child_by_field_name("type")));
        }
        self.scopes.push(Names::default());
        let mut parameters = Vec::new();
        for (one, default) in given.into_iter().zip(defaults) {
            parameters.extend(self.parameter(one, default));
        }
        let body = node.child_by_field_name("body");
        let body = match (node.kind(), body) {
            ("lambda", Some(body)) => {
                let value = self.expression(body);
                Node::new(value.at, Kind::Return(Some(value.into())))
            }
            (_, body) => self.optional(body, node),
        };
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this: false, takes_self };
        after(annotations, Node::new(at, Kind::Function(Rc::new(function))))
    }

    /// What runs when a type is read: the calls in it, and texts in which there are calls. Names alone may be given a
    /// meaning later.
    pub(super) fn annotations(&mut self, node: Option<Parsed<'_>>) -> Vec<Node> {
        let mut found = Vec::new();
        let mut left: Vec<Parsed<'_>> = node.into_iter().collect();
        while let Some(node) = left.pop() {
            match node.kind() {
                "call" => found.push(self.expression(node)),
                "string" if self.text_of(node).contains('(') => {
                    let text = self.expression(node);
                    let at = text.at;
                    found.push(Node::new(at, Kind::Call(Node::name(at, "eval").into(), vec![text])));
                }
                _ => left.extend(Self::children(node)),
            }
        }
        found
    }

    fn parameter(&mut self, node: Parsed<'_>, default: Option<Node>) -> Option<Parameter> {
        let (inner, rest) = match node.kind() {
            "keyword_separator" | "positional_separator" => return None,
            "default_parameter" | "typed_default_parameter" => (node.child_by_field_name("name")?, Rest::One),
            "typed_parameter" => {
                let inner = *Self::children(node).first()?;
                (inner, rest_of(inner))
            }
            _ => (node, rest_of(node)),
        };
        let target = match rest {
            Rest::One | Rest::Named => self.target(inner),
            Rest::List | Rest::Map => {
                let name = *Self::children(inner).first()?;
                self.target(name)
            }
        };
        Some(Parameter { target, default, rest })
    }

    fn class(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let bases = node.child_by_field_name("superclasses").map(Self::children).unwrap_or_default();
        let bases = bases.into_iter().map(|one| self.argument(one)).collect();
        self.scopes.push(Names { is_class: true, ..Names::default() });
        let body = self.optional(node.child_by_field_name("body"), node);
        let locals = self.locals();
        let class = Class { bases, locals, body };
        Node::new(at, Kind::Class(Rc::new(class)))
    }
}

/// What runs first, if anything does, and the value.
pub(super) fn after(first: Vec<Node>, value: Node) -> Node {
    if first.is_empty() {
        return value;
    }
    let at = value.at;
    Node::new(at, Kind::Sequence(vec![Node::new(at, Kind::Inert(first)), value]))
}

fn rest_of(node: Parsed<'_>) -> Rest {
    match node.kind() {
        "list_splat_pattern" => Rest::List,
        "dictionary_splat_pattern" => Rest::Map,
        _ => Rest::One,
    }
}
