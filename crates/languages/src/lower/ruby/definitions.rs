//! Methods, blocks, classes, and what values are given to.

use std::collections::HashSet;
use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::{Lower, Names};
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest};

impl Lower<'_> {
    /// `def x`, `def self.x`
    pub(super) fn rb_method(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(name) = node.child_by_field_name("name").map(|one| self.text_of(one).to_owned()) else {
            return self.error(node);
        };
        let function = self.rb_function(node, true);
        let own = if node.kind() == "singleton_method" { format!("self.{name}") } else { name.clone() };
        let method: Rc<str> = format!("->{name}").into();
        let kept = format!("def at {}", at.0);
        let mut value = Node::name(at, &kept);
        if !self.ruby.methods.insert(Rc::clone(&method)) {
            value = Node::new(at, Kind::Or(vec![Node::name(at, &method), value]));
        }
        let mut parts = vec![
            Node::assign(at, Node::name(at, &kept), function),
            Node::assign(at, Node::name(at, &method), value),
        ];
        if self.ruby.classes > 0 {
            self.declare(&own);
            parts.push(Node::assign(at, Node::name(at, &own), Node::name(at, &kept)));
        }
        parts.push(Node::text(at, &name));
        Node::new(at, Kind::Sequence(parts))
    }

    /// A method, which sees nothing outside of it, or a block.
    pub(super) fn rb_function(&mut self, node: Parsed<'_>, is_method: bool) -> Node {
        let at = Self::at(node);
        self.scopes.push(Names::default());
        self.ruby.known.push((HashSet::new(), !is_method));
        let mut parameters = Vec::new();
        if is_method {
            self.declare("self");
            parameters.push(Parameter { target: Node::name(at, "self"), default: None, rest: Rest::One });
        }
        let mut before = Vec::new();
        let given = node.child_by_field_name("parameters").map(Self::children).unwrap_or_default();
        let mut takes_block = false;
        for one in given {
            if one.kind() == "block_parameter" {
                takes_block = true;
                if let Some(name) = one.child_by_field_name("name") {
                    let name = self.rb_own(self.text_of(name));
                    before.push(Node::assign(at, Node::name(at, &name), Node::name(at, "&")));
                }
                continue;
            }
            parameters.push(self.rb_parameter(one));
        }
        if !is_method && parameters.is_empty() {
            for name in ["_1", "it"] {
                let target = Node::name(at, &self.rb_own(name));
                let rest = Rest::One;
                if name == "_1" {
                    parameters.push(Parameter { target, default: None, rest });
                } else {
                    before.push(Node::assign(at, target, Node::name(at, "_1")));
                }
            }
        }
        if is_method || takes_block {
            self.declare("&");
            // Before those that take all others.
            let own = usize::from(is_method).min(parameters.len());
            let block = Parameter { target: Node::name(at, "&"), default: None, rest: Rest::Named };
            parameters.insert(own, block);
        }
        let body = self.rb_optional(node.child_by_field_name("body"), node);
        before.push(body);
        let body = Node::new(at, Kind::Sequence(before));
        let locals = self.locals();
        self.ruby.known.pop();
        let function = Function { parameters, locals, body, has_this: false, takes_self: is_method };
        Node::new(at, Kind::Function(Rc::new(function)))
    }

    fn rb_parameter(&mut self, node: Parsed<'_>) -> Parameter {
        let at = Self::at(node);
        let name = node.child_by_field_name("name").map(|one| self.text_of(one).to_owned());
        let rest = match node.kind() {
            "splat_parameter" | "forward_parameter" => Rest::List,
            "hash_splat_parameter" => Rest::Map,
            _ => Rest::One,
        };
        if node.kind() == "destructured_parameter" {
            let targets = Self::children(node).into_iter().map(|one| {
                let parameter = self.rb_parameter(one);
                match parameter.rest {
                    Rest::One | Rest::Named => parameter.target,
                    Rest::List | Rest::Map => Node::new(at, Kind::Spread(parameter.target.into())),
                }
            });
            let target = Node::new(at, Kind::List(targets.collect()));
            return Parameter { target, default: None, rest };
        }
        let default = node.child_by_field_name("value").map(|one| self.rb(one));
        let name = match (name, node.kind()) {
            (Some(name), _) => name,
            (None, "identifier") => self.text_of(node).to_owned(),
            // Without a name it is only handed on.
            (None, _) => self.text_of(node).to_owned(),
        };
        let name = self.rb_own(&name);
        Parameter { target: Node::name(at, &name), default, rest }
    }

    /// `class X`, `module X`
    pub(super) fn rb_class(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(name) = node.child_by_field_name("name") else { return self.error(node) };
        let name = self.text_of(name).trim_start_matches("::").to_owned();
        let parent =
            node.child_by_field_name("superclass").and_then(|one| Self::children(one).first().copied());
        let mut parts = Vec::new();
        let mut bases = Vec::new();
        if let Some(parent) = parent {
            let value = self.rb(parent);
            // What a library's class does when it is called through this one is not followed.
            parts.push(Node::new(at, Kind::Call(Self::nothing(node).into(), vec![value])));
            bases.push(self.rb(parent));
        }
        self.scopes.push(Names { is_class: true, ..Names::default() });
        self.ruby.known.push((HashSet::new(), false));
        self.ruby.classes += 1;
        let body = self.rb_optional(node.child_by_field_name("body"), node);
        self.ruby.classes -= 1;
        self.ruby.known.pop();
        let locals = self.locals();
        let class = Node::new(at, Kind::Class(Rc::new(Class { bases, locals, body })));
        parts.push(Node::assign(at, Node::name(at, &name), class));
        Node::new(at, Kind::Sequence(parts))
    }

    pub(super) fn rb_assignment(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(left) = node.child_by_field_name("left") else { return self.error(node) };
        if node.kind() == "operator_assignment" {
            let operator = node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default();
            if left.kind() == "identifier" {
                self.rb_declare(self.text_of(left));
            }
            let before = self.rb(left);
            let right = self.rb_field(node, "right");
            let target = self.rb_target(left);
            let value = match operator {
                "+=" => Kind::Add(vec![before, right]),
                "||=" | "&&=" => Kind::Or(vec![before, right]),
                "*=" => Kind::Multiply(before.into(), right.into()),
                _ => Kind::Inert(vec![before, right]),
            };
            return Node::assign(at, target, Node::new(at, value));
        }
        // A variable is one from its assignment on, its value included.
        let target = self.rb_target(left);
        let right = match node.child_by_field_name("right") {
            Some(list) if list.kind() == "right_assignment_list" => self.rb_list(list),
            Some(value) => self.rb(value),
            None => self.error(node),
        };
        Node::assign(at, target, right)
    }

    /// What an assignment gives a value to.
    pub(super) fn rb_target(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.rb_target_of(node))
    }

    fn rb_target_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "identifier" => Node::name(at, &self.rb_declare(self.text_of(node))),
            "instance_variable" | "class_variable" | "global_variable" => self.rb_variable(node),
            "constant" => {
                let name = self.text_of(node);
                if self.ruby.classes > 0 {
                    self.declare(name);
                }
                Node::name(at, name)
            }
            "scope_resolution" => Node::name(at, self.text_of(node).trim_start_matches("::")),
            "element_reference" => match self.rb_element(node) {
                // A part that is given a value is not followed.
                Node { kind: Kind::Call(_, parts), .. } => Node::new(at, Kind::Inert(parts)),
                other => other,
            },
            "call" => {
                let of = match node.child_by_field_name("receiver") {
                    Some(of) => self.rb(of),
                    None => return self.hole(node, Why::Unsupported),
                };
                let name =
                    node.child_by_field_name("method").map(|one| self.text_of(one)).unwrap_or_default();
                Node::new(at, Kind::Member(of.into(), format!("@{name}").into()))
            }
            "left_assignment_list" | "destructured_left_assignment" => {
                let targets = Self::children(node).into_iter().map(|one| self.rb_target(one)).collect();
                Node::new(at, Kind::List(targets))
            }
            "rest_assignment" | "splat_argument" => match Self::children(node).first() {
                Some(inner) => {
                    let target = self.rb_target(*inner);
                    Node::new(at, Kind::Spread(target.into()))
                }
                None => Self::nothing(node),
            },
            _ => self.hole(node, Why::Unsupported),
        }
    }

    pub(super) fn rb_variable(&self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = self.text_of(node);
        if node.kind() == "instance_variable" && self.ruby.classes > 0 {
            return Node::new(at, Kind::Member(Node::name(at, "self").into(), name.into()));
        }
        Node::name(at, name)
    }

    /// `a[b]`
    pub(super) fn rb_element(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(object) = node.child_by_field_name("object") else { return self.error(node) };
        let of = self.rb(object);
        let indexes: Vec<_> = Self::children(node)
            .into_iter()
            .filter(|one| *one != object && !one.kind().contains("block"))
            .collect();
        if self.text_of(object).trim_start_matches("::") == "Dir" {
            let member = Node::new(at, Kind::Member(of.into(), "glob".into()));
            let given = indexes.into_iter().map(|one| self.rb(one)).collect();
            return Node::new(at, Kind::Call(member.into(), given));
        }
        match indexes.as_slice() {
            [range] if range.kind() == "range" => {
                let from = range.child_by_field_name("begin").map(|one| self.rb(one).into());
                let to = range.child_by_field_name("end").map(|end| {
                    let end = self.rb(end);
                    // The end belongs to it.
                    match (end.kind, self.text_of(*range).contains("...")) {
                        (Kind::Number(-1), false) => Box::new(Self::nothing(*range)),
                        (Kind::Number(end), false) => {
                            Box::new(Node::new(at, Kind::Number(end.saturating_add(1))))
                        }
                        (kind, true) => Box::new(Node::new(at, kind)),
                        (kind, false) => Box::new(Node::new(at, Kind::Inert(vec![Node::new(at, kind)]))),
                    }
                });
                Node::new(at, Kind::Slice(of.into(), [from, to, None]))
            }
            [one] => {
                let index = self.rb(*one);
                Node::new(at, Kind::Index(of.into(), index.into()))
            }
            _ => {
                let mut parts = vec![of];
                parts.extend(indexes.into_iter().map(|one| self.rb(one)));
                self.rb_function_call(at, "element.of", parts)
            }
        }
    }
}
