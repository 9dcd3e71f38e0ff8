//! Functions, classes, constants, and what values are given to.

use std::collections::HashSet;
use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::{Lower, Names};
use super::names::{Around, constant};
use super::unknown;
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest};

/// Whether a statement declares a class, or what is like one.
pub(super) fn is_class(kind: &str) -> bool {
    matches!(kind, "class_declaration" | "trait_declaration" | "interface_declaration" | "enum_declaration")
}

impl<'t> Lower<'t> {
    /// Classes in an order in which those that others are made of come first.
    pub(super) fn php_in_order<'p>(&self, classes: Vec<Parsed<'p>>) -> Vec<Parsed<'p>> {
        let name = |class: &Parsed<'p>| class.child_by_field_name("name").map(|one| self.text_of(one));
        let mut left = classes;
        let mut ordered = Vec::new();
        let mut before = usize::MAX;
        while !left.is_empty() && left.len() < before {
            before = left.len();
            let missing: HashSet<&str> = left.iter().filter_map(name).collect();
            let waits = |class: &Parsed<'p>| {
                let own = name(class);
                self.php_bases(*class).iter().any(|base| {
                    let base = self.text_of(*base);
                    missing.contains(base) && own != Some(base)
                })
            };
            let (waiting, ready): (Vec<_>, Vec<_>) = left.into_iter().partition(waits);
            ordered.extend(ready);
            left = waiting;
        }
        ordered.extend(left);
        ordered
    }

    /// What a class is made of: its base, interfaces and traits.
    fn php_bases<'p>(&self, class: Parsed<'p>) -> Vec<Parsed<'p>> {
        let is_name = |node: &Parsed<'p>| matches!(node.kind(), "name" | "qualified_name" | "relative_name");
        let body = class.child_by_field_name("body").map(Self::children).unwrap_or_default();
        let traits = body.into_iter().filter(|member| member.kind() == "use_declaration");
        let clauses = Self::children(class)
            .into_iter()
            .filter(|child| matches!(child.kind(), "base_clause" | "class_interface_clause"));
        clauses.chain(traits).flat_map(Self::children).filter(is_name).collect()
    }

    pub(super) fn php_named_function(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let name = super::function_name(&self.php.own(name));
        let function = self.php_function(node, true);
        Node::assign(at, Node::name(at, &name), function)
    }

    pub(super) fn php_function(&mut self, node: Parsed<'_>, has_this: bool) -> Node {
        let at = Self::at(node);
        // An arrow function sees the names around.
        let is_block = node.kind() == "arrow_function";
        self.scopes.push(Names { is_block, ..Names::default() });
        let given = node.child_by_field_name("parameters").map(Self::children).unwrap_or_default();
        let mut parameters = Vec::new();
        let mut kept = Vec::new();
        for one in given {
            parameters.push(self.php_parameter(one));
            if one.kind() == "property_promotion_parameter" {
                kept.push(self.php_promoted(one));
            }
        }
        parameters.extend(self.php_captured(node));
        let near = self.php.around.last_mut().map(|around| std::mem::replace(&mut around.is_near, false));
        let body = match node.child_by_field_name("body") {
            Some(body) if body.kind() == "compound_statement" => {
                let parts = self.php_statements(body);
                Node::new(Self::at(body), Kind::Sequence(kept.into_iter().chain(parts).collect()))
            }
            Some(body) => {
                let value = self.php_expression(body);
                Node::new(value.at, Kind::Return(Some(value.into())))
            }
            None => Self::nothing(node),
        };
        if let (Some(around), Some(near)) = (self.php.around.last_mut(), near) {
            around.is_near = near;
        }
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this, takes_self: false };
        Node::new(at, Kind::Function(Rc::new(function)))
    }

    fn php_parameter(&mut self, node: Parsed<'_>) -> Parameter {
        let default = node.child_by_field_name("default_value").map(|one| self.php_expression(one));
        let name = self.php_parameter_name(node);
        let target = Node::name(Self::at(node), &self.declare(name));
        let rest = if node.kind() == "variadic_parameter" { Rest::List } else { Rest::One };
        Parameter { target, default, rest }
    }

    fn php_parameter_name(&self, node: Parsed<'_>) -> &'t str {
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        name.trim_start_matches(['&', ' '])
    }

    /// `private $x` as a parameter of the constructor.
    fn php_promoted(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = self.php_parameter_name(node);
        let member = Kind::Member(Node::name(at, "this").into(), name.into());
        Node::assign(at, Node::new(at, member), Node::name(at, name))
    }

    /// What a function takes from where it is made: parameters that no call gives, with what they are then.
    fn php_captured(&mut self, node: Parsed<'_>) -> Vec<Parameter> {
        let clauses = Self::children(node);
        let clause = clauses.iter().find(|child| child.kind() == "anonymous_function_use_clause");
        let captured = clause.map(|clause| Self::children(*clause)).unwrap_or_default();
        let mut parameters = Vec::new();
        for one in captured {
            let at = Self::at(one);
            if one.kind() == "by_ref" {
                let name = self.text_of(one).trim_start_matches(['&', ' ']);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.outer.insert(name.into());
                }
                continue;
            }
            if parameters.is_empty() {
                let rest = Node::name(at, &self.declare("further arguments"));
                parameters.push(Parameter { target: rest, default: None, rest: Rest::List });
            }
            let name = self.declare(self.text_of(one));
            let value = Node::name(at, &name);
            let target = Node::name(at, &name);
            parameters.push(Parameter { target, default: Some(value), rest: Rest::One });
        }
        parameters
    }

    pub(super) fn php_named_class(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let name = super::class_name(&self.php.own(name));
        let class = self.php_class(node, Some(name.clone()));
        Node::assign(at, Node::name(at, &name), class)
    }

    /// A class with its members; properties keep their `$`, methods are in small letters.
    pub(super) fn php_class(&mut self, node: Parsed<'_>, name: Option<String>) -> Node {
        let at = Self::at(node);
        let named = self.php_bases(node);
        let mut bases = Vec::new();
        for base in named {
            bases.push(self.php_class_of(base));
        }
        let own = Self::children(node).into_iter().find(|child| child.kind() == "base_clause");
        let base = own.and_then(|clause| Self::children(clause).first().copied());
        let base = base.map(|base| self.php.class(self.text_of(base)));
        self.php.around.push(Around { name, base, is_static: false, is_near: true });
        self.scopes.push(Names { is_class: true, ..Names::default() });
        let members = node.child_by_field_name("body").map(Self::children).unwrap_or_default();
        let parts = members.into_iter().map(|member| self.php_member(member)).collect();
        let locals = self.locals();
        self.php.around.pop();
        let body = Node::new(at, Kind::Sequence(parts));
        Node::new(at, Kind::Class(Rc::new(Class { bases, locals, body })))
    }

    fn php_member(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "method_declaration" => {
                let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let name = self.declare(&name.to_ascii_lowercase());
                let is_static = Self::children(node).iter().any(|child| child.kind() == "static_modifier");
                if let Some(around) = self.php.around.last_mut() {
                    around.is_static = is_static;
                }
                let function = self.deeper(node, |lower| lower.php_function(node, true));
                Node::assign(at, Node::name(at, &name), function)
            }
            "property_declaration" => {
                let mut parts = Vec::new();
                for one in Self::children(node) {
                    if one.kind() == "property_hook_list" {
                        parts.extend(self.php_hooks(one));
                    }
                    let Some(name) = one.child_by_field_name("name") else { continue };
                    let value = match one.child_by_field_name("default_value") {
                        Some(value) => self.php_expression(value),
                        None => continue,
                    };
                    let name = self.declare(self.text_of(name));
                    parts.push(Node::assign(at, Node::name(at, &name), value));
                }
                Node::new(at, Kind::Sequence(parts))
            }
            "const_declaration" => self.php_constants(node),
            "enum_case" => {
                let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let name = self.declare(&constant(name));
                Node::assign(at, Node::name(at, &name), unknown(at))
            }
            // Traits stand among the bases; their methods are found by their own names only.
            "use_declaration" => match Self::children(node).iter().any(|child| child.kind() == "use_list") {
                true => self.hole(node, Why::Unsupported),
                false => Self::nothing(node),
            },
            "attribute_list" => Self::nothing(node),
            _ => self.error(node),
        }
    }

    fn php_hooks(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let mut parts = Vec::new();
        for hook in Self::children(node).into_iter().filter(|one| one.kind() == "property_hook") {
            let at = Self::at(hook);
            let name = self.declare(&format!("property hook {}", hook.start_byte()));
            let function = self.php_function(hook, true);
            parts.push(Node::assign(at, Node::name(at, &name), function));
        }
        parts
    }

    pub(super) fn php_constants(&mut self, node: Parsed<'_>) -> Node {
        let mut parts = Vec::new();
        for one in Self::children(node).into_iter().filter(|one| one.kind() == "const_element") {
            let at = Self::at(one);
            if let [name, value] = Self::children(one).as_slice() {
                let value = self.php_expression(*value);
                let name = self.declare(&constant(self.text_of(*name)));
                parts.push(Node::assign(at, Node::name(at, &name), value));
            }
        }
        Node::new(Self::at(node), Kind::Sequence(parts))
    }

    /// What an assignment gives a value to.
    pub(super) fn php_target(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.php_pattern(node))
    }

    fn php_pattern(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "list_literal" | "array_creation_expression" => self.php_list_target(node),
            "by_ref" | "parenthesized_expression" => match Self::children(node).first() {
                Some(inner) => self.php_target(*inner),
                None => self.error(node),
            },
            "subscript_expression" => {
                let children = Self::children(node);
                let Some((of, index)) = children.split_first() else { return self.error(node) };
                let of = self.php_target(*of);
                let index = match index.first() {
                    Some(index) => self.php_expression(*index),
                    // A new element at the end.
                    None => Node::new(at, Kind::Spread(Self::nothing(node).into())),
                };
                Node::new(at, Kind::Index(of.into(), index.into()))
            }
            _ => self.php_expression(node),
        }
    }

    /// `[$a, , $b]` or `['k' => $a]`: a target for each place, or for each key.
    fn php_list_target(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut cursor = node.walk();
        let all: Vec<Parsed<'_>> = node.children(&mut cursor).collect();
        let mut targets = Vec::new();
        let mut entries = Vec::new();
        let mut key = None;
        let mut is_open = true;
        for child in all {
            match child.kind() {
                "," => {
                    if is_open {
                        targets.push(Self::nothing(child));
                    }
                    is_open = true;
                }
                "array_element_initializer" => {
                    is_open = false;
                    match Self::children(child).as_slice() {
                        [name, value] => {
                            let name = self.php_expression(*name);
                            entries.push((name, self.php_target(*value)));
                        }
                        [value] => targets.push(self.php_target(*value)),
                        _ => targets.push(self.error(child)),
                    }
                }
                "=>" => {
                    // What stood before was the key.
                    key = targets.pop();
                }
                _ if child.is_named() && child.kind() != "comment" => {
                    is_open = false;
                    match key.take() {
                        Some(key) => entries.push((key, self.php_target(child))),
                        None => targets.push(self.php_target(child)),
                    }
                }
                _ => {}
            }
        }
        let kind = if entries.is_empty() { Kind::List(targets) } else { Kind::Map(entries) };
        Node::new(at, kind)
    }
}
