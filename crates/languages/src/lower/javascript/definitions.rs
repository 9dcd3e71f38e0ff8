//! Functions, classes, and what values are given to.

use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::{Lower, Names};
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest};

impl Lower<'_> {
    pub(super) fn js_function(&mut self, node: Parsed<'_>, has_this: bool) -> Node {
        let at = Self::at(node);
        self.scopes.push(Names::default());
        let given = match (node.child_by_field_name("parameters"), node.child_by_field_name("parameter")) {
            (Some(list), _) => Self::children(list),
            (None, Some(one)) => vec![one],
            (None, None) => Vec::new(),
        };
        let given: Vec<Parsed<'_>> = given.into_iter().filter(|one| !Self::ts_is_this(*one)).collect();
        let kept: Vec<Node> = given.iter().filter_map(|one| self.ts_kept(*one)).collect();
        let mut decorators = Vec::new();
        let mut parameters = Vec::new();
        for one in given {
            decorators.extend(self.ts_decorators(one));
            parameters.push(self.js_parameter(one));
        }
        let body = match node.child_by_field_name("body") {
            Some(body) if body.kind() == "statement_block" => {
                let parts = self.js_statements(body);
                Node::new(Self::at(body), Kind::Sequence(kept.into_iter().chain(parts).collect()))
            }
            Some(body) => {
                let value = self.js(body);
                Node::new(value.at, Kind::Return(Some(value.into())))
            }
            None => Self::nothing(node),
        };
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this, takes_self: false };
        let function = Node::new(at, Kind::Function(Rc::new(function)));
        if decorators.is_empty() {
            return function;
        }
        Node::new(at, Kind::Sequence(decorators.into_iter().chain([function]).collect()))
    }

    fn js_parameter(&mut self, node: Parsed<'_>) -> Parameter {
        match node.kind() {
            "assignment_pattern" => {
                let default = node.child_by_field_name("right").map(|one| self.js(one));
                let target = match node.child_by_field_name("left") {
                    Some(left) => self.js_binding(left, false),
                    None => self.hole(node, Why::Syntax),
                };
                Parameter { target, default, rest: Rest::One }
            }
            "rest_pattern" => {
                let target = match Self::children(node).first() {
                    Some(inner) => self.js_binding(*inner, false),
                    None => self.hole(node, Why::Syntax),
                };
                Parameter { target, default: None, rest: Rest::List }
            }
            "required_parameter" | "optional_parameter" => self.ts_parameter(node),
            _ => Parameter { target: self.js_binding(node, false), default: None, rest: Rest::One },
        }
    }

    pub(super) fn js_class(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut bases = Vec::new();
        for child in Self::children(node) {
            match child.kind() {
                "class_heritage" => bases.extend(self.js_bases(child)),
                "decorator" => bases.push(Node::new(at, Kind::Inert(vec![self.js_decorator(child)]))),
                _ => {}
            }
        }
        self.scopes.push(Names { is_class: true, ..Names::default() });
        let mut parts = Vec::new();
        for member in node.child_by_field_name("body").map(Self::children).unwrap_or_default() {
            parts.push(self.js_member(member));
        }
        let locals = self.locals();
        let body = Node::new(at, Kind::Sequence(parts));
        Node::new(at, Kind::Class(Rc::new(Class { bases, locals, body })))
    }

    fn js_bases(&mut self, heritage: Parsed<'_>) -> Vec<Node> {
        let clauses = Self::children(heritage).into_iter().filter(|one| one.kind() != "implements_clause");
        clauses.map(|one| self.js(one)).collect()
    }

    pub(super) fn js_decorator(&mut self, node: Parsed<'_>) -> Node {
        match Self::children(node).first() {
            Some(inner) => self.js(*inner),
            None => self.hole(node, Why::Syntax),
        }
    }

    /// A method. One that runs when the member is read stands for what it gives as well.
    pub(super) fn js_method(&mut self, node: Parsed<'_>) -> Node {
        let made = self.js_function(node, true);
        let mut cursor = node.walk();
        let is_getter = node.children(&mut cursor).any(|child| child.kind() == "get");
        let Kind::Function(function) = &made.kind else { return made };
        if !is_getter {
            return made;
        }
        let at = made.at;
        let again = Node::new(at, Kind::Function(Rc::clone(function)));
        Node::new(at, Kind::Either(vec![again, Node::new(at, Kind::Call(made.into(), Vec::new()))]))
    }

    fn js_member(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "method_definition" => {
                let decorators = self.ts_decorators(node);
                let function = self.js_method(node);
                let key = node.child_by_field_name("name");
                let member = self.js_named_member(node, key, function);
                Node::new(at, Kind::Sequence(decorators.into_iter().chain([member]).collect()))
            }
            "field_definition" => {
                let value = match node.child_by_field_name("value") {
                    Some(value) => self.js(value),
                    None => Self::nothing(node),
                };
                let key = node.child_by_field_name("property");
                let decorators = self.ts_decorators(node);
                let member = self.js_named_member(node, key, value);
                Node::new(at, Kind::Sequence(decorators.into_iter().chain([member]).collect()))
            }
            "class_static_block" => {
                let body = node.child_by_field_name("body");
                self.js_optional(body, node)
            }
            "decorator" => Node::new(at, Kind::Inert(vec![self.js_decorator(node)])),
            _ => self.ts_member(node),
        }
    }

    /// A member whose name is computed may have any.
    pub(super) fn js_named_member(&mut self, node: Parsed<'_>, key: Option<Parsed<'_>>, value: Node) -> Node {
        let at = Self::at(node);
        let Some(key) = key else { return value };
        if key.kind() == "computed_property_name" {
            let key = Self::children(key).first().map(|one| self.js(*one));
            let nothing = Node::new(at, Kind::Constant);
            let call = Node::new(at, Kind::Call(nothing.into(), vec![value]));
            return Node::new(at, Kind::Sequence(key.into_iter().chain([call]).collect()));
        }
        let name = self.declare(self.text_of(key).trim_matches(['\'', '"']));
        Node::assign(at, Node::name(at, &name), value)
    }

    /// Names that a declaration makes.
    pub(super) fn js_binding(&mut self, node: Parsed<'_>, is_var: bool) -> Node {
        self.deeper(node, |lower| lower.js_pattern(node, Some(is_var)))
    }

    /// What an assignment gives a value to.
    pub(super) fn js_target(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.js_pattern(node, None))
    }

    fn js_inner(&mut self, node: Parsed<'_>, declares: Option<bool>) -> Node {
        self.deeper(node, |lower| lower.js_pattern(node, declares))
    }

    fn js_pattern(&mut self, node: Parsed<'_>, declares: Option<bool>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" | "undefined" => {
                let name = self.text_of(node);
                match declares {
                    Some(true) => Node::name(at, &self.declare_outside(name)),
                    Some(false) => Node::name(at, &self.declare(name)),
                    None => Node::name(at, name),
                }
            }
            "array_pattern" | "array" => {
                let targets = self
                    .js_elements(node)
                    .into_iter()
                    .map(|one| match one {
                        Some(one) => self.js_inner(one, declares),
                        None => Self::nothing(node),
                    })
                    .collect();
                Node::new(at, Kind::List(targets))
            }
            "object_pattern" | "object" => {
                let entries = Self::children(node)
                    .into_iter()
                    .map(|one| self.js_pattern_entry(one, declares))
                    .collect();
                Node::new(at, Kind::Map(entries))
            }
            "assignment_pattern" | "object_assignment_pattern" => {
                let default = self.js_field(node, "right");
                let target = match node.child_by_field_name("left") {
                    Some(left) => self.js_inner(left, declares),
                    None => self.hole(node, Why::Syntax),
                };
                Node::new(at, Kind::Or(vec![target, default]))
            }
            "rest_pattern" | "spread_element" => match Self::children(node).first() {
                Some(inner) => {
                    let inner = self.js_inner(*inner, declares);
                    Node::new(at, Kind::Spread(inner.into()))
                }
                None => self.hole(node, Why::Syntax),
            },
            "parenthesized_expression" => match Self::children(node).first() {
                Some(inner) => self.js_inner(*inner, declares),
                None => self.hole(node, Why::Syntax),
            },
            _ => self.js(node),
        }
    }

    /// The key, and what its value is given to.
    fn js_pattern_entry(&mut self, node: Parsed<'_>, declares: Option<bool>) -> (Node, Node) {
        let at = Self::at(node);
        match node.kind() {
            "pair_pattern" | "pair" => {
                let key = self.js_key(node.child_by_field_name("key"), node);
                let target = match node.child_by_field_name("value") {
                    Some(value) => self.js_inner(value, declares),
                    None => self.hole(node, Why::Syntax),
                };
                (key, target)
            }
            "rest_pattern" | "spread_element" => (self.js_inner(node, declares), Self::nothing(node)),
            "object_assignment_pattern" => {
                let name = node.child_by_field_name("left").map(|one| self.text_of(one)).unwrap_or_default();
                (Node::text(at, name), self.js_inner(node, declares))
            }
            _ => (Node::text(at, self.text_of(node)), self.js_inner(node, declares)),
        }
    }

    pub(super) fn js_key(&mut self, key: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        match key {
            None => self.hole(around, Why::Syntax),
            Some(key) => match key.kind() {
                "property_identifier" | "private_property_identifier" => {
                    Node::text(Self::at(key), self.text_of(key))
                }
                "computed_property_name" => match Self::children(key).first() {
                    Some(inner) => self.js(*inner),
                    None => self.hole(key, Why::Syntax),
                },
                _ => self.js(key),
            },
        }
    }
}
