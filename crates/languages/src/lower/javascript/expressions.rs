//! Expressions.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::escapes::{number, unescaped};
use super::super::{Lower, Names};
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn js(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.js_expression(node))
    }

    pub(super) fn js_field(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(child) => self.js(child),
            None => self.hole(node, Why::Syntax),
        }
    }

    fn js_all(&mut self, node: Parsed<'_>) -> Vec<Node> {
        Self::children(node).into_iter().map(|one| self.js(one)).collect()
    }

    /// The elements of an array or pattern; a comma without one leaves a place empty.
    pub(super) fn js_elements<'p>(&self, node: Parsed<'p>) -> Vec<Option<Parsed<'p>>> {
        let mut cursor = node.walk();
        let mut elements = Vec::new();
        let mut last = None;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "," => elements.push(last.take()),
                "[" | "]" | "comment" | "html_comment" => {}
                _ => {
                    // Without a comma between them, where something is wrong.
                    elements.extend(last.replace(child).map(Some));
                }
            }
        }
        elements.extend(last.map(Some));
        elements
    }

    fn js_expression(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "identifier" | "this" | "shorthand_property_identifier" => {
                return Node::name(at, self.text_of(node));
            }
            "meta_property" => return Node::name(at, "import.meta"),
            "number" => number(self.text_of(node)).map_or(Kind::Constant, Kind::Number),
            "true" => Kind::Number(1),
            "false" => Kind::Number(0),
            "null" | "undefined" | "regex" => Kind::Constant,
            "super" => Kind::Call(Node::name(at, "super").into(), Vec::new()),
            "string" => return self.js_string(node),
            "template_string" => return self.js_template(node),
            "parenthesized_expression" => match Self::children(node).as_slice() {
                [inner] => return self.js(*inner),
                _ => Kind::Sequence(self.js_all(node)),
            },
            "await_expression" => match Self::children(node).first() {
                Some(inner) => return self.js(*inner),
                None => Kind::Constant,
            },
            "sequence_expression" => Kind::Sequence(self.js_all(node)),
            "member_expression" => {
                let of = self.js_field(node, "object");
                let name =
                    node.child_by_field_name("property").map(|one| self.text_of(one)).unwrap_or_default();
                Kind::Member(of.into(), name.into())
            }
            "subscript_expression" => {
                let of = self.js_field(node, "object");
                Kind::Index(of.into(), self.js_field(node, "index").into())
            }
            "call_expression" => return self.js_call(node),
            "new_expression" => {
                let callee = self.js_field(node, "constructor");
                let arguments = node.child_by_field_name("arguments").map(|list| self.js_all(list));
                Kind::New(callee.into(), arguments.unwrap_or_default())
            }
            "array" => {
                let elements = self.js_elements(node).into_iter();
                Kind::List(
                    elements.map(|one| one.map_or_else(|| Self::nothing(node), |one| self.js(one))).collect(),
                )
            }
            "object" => return self.js_object(node),
            "spread_element" => match Self::children(node).first() {
                Some(inner) => Kind::Spread(self.js(*inner).into()),
                None => Kind::Hole(Why::Syntax),
            },
            "binary_expression" => return self.js_binary(node),
            "unary_expression" => return self.js_unary(node),
            "update_expression" | "assignment_expression" => return self.js_assignment(node),
            "ternary_expression" => {
                let condition = self.js_field(node, "condition");
                let bodies = vec![self.js_field(node, "consequence"), self.js_field(node, "alternative")];
                Kind::Sequence(vec![condition, Node::new(at, Kind::Either(bodies))])
            }
            "augmented_assignment_expression" => return self.js_augmented(node),
            "function_expression" | "generator_function" | "function" => return self.js_named_function(node),
            "arrow_function" => return self.js_function(node, false),
            "class" => return self.js_class(node),
            "yield_expression" => {
                self.jumps += 1;
                Kind::Yield(Self::children(node).first().map(|one| self.js(*one).into()))
            }
            "import" => return Node::name(at, "import"),
            _ => return self.ts_expression(node),
        };
        Node::new(at, kind)
    }

    fn js_assignment(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let (value, target) = if node.kind() == "update_expression" {
            (Node::new(at, Kind::Inert(vec![Self::nothing(node)])), node.child_by_field_name("argument"))
        } else {
            (self.js_field(node, "right"), node.child_by_field_name("left"))
        };
        let Some(target) = target else { return value };
        let target = self.js_target(target);
        Node::assign(at, target, value)
    }

    /// A function that sees its own name.
    fn js_named_function(&mut self, node: Parsed<'_>) -> Node {
        let Some(name) = node.child_by_field_name("name") else { return self.js_function(node, true) };
        let at = Self::at(node);
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let name = self.declare(self.text_of(name));
        let function = self.js_function(node, true);
        let locals = self.locals();
        Node::new(at, Kind::Scope(locals, Node::assign(at, Node::name(at, &name), function).into()))
    }

    fn js_call(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let arguments = match node.child_by_field_name("arguments") {
            // A tag is given a list of texts, and the values: that the texts come apart does not matter.
            Some(template) if template.kind() == "template_string" => {
                let text = self.js_template(template);
                let values = Self::children(template).into_iter();
                let values = values.filter(|one| one.kind() == "template_substitution");
                let values: Vec<_> = values.flat_map(Self::children).collect();
                let values: Vec<Node> = values.into_iter().map(|one| self.js(one)).collect();
                std::iter::once(Node::new(at, Kind::List(vec![text]))).chain(values).collect()
            }
            Some(list) => self.js_all(list),
            None => Vec::new(),
        };
        let Some(function) = node.child_by_field_name("function") else { return self.error(node) };
        if function.kind() == "import" {
            let mut arguments = arguments.into_iter();
            let name = arguments.next().unwrap_or_else(|| self.error(node));
            return Node::new(at, Kind::Load(name.into()));
        }
        let mut callee = self.js(function);
        if function.kind() == "super" {
            callee = Node::new(callee.at, Kind::Member(callee.into(), "constructor".into()));
        }
        Node::new(at, Kind::Call(callee.into(), arguments))
    }

    fn js_object(&mut self, node: Parsed<'_>) -> Node {
        let mut entries = Vec::new();
        for child in Self::children(node) {
            let at = Self::at(child);
            entries.push(match child.kind() {
                "pair" => {
                    (self.js_key(child.child_by_field_name("key"), child), self.js_field(child, "value"))
                }
                "shorthand_property_identifier" => (Node::text(at, self.text_of(child)), self.js(child)),
                "method_definition" => {
                    let key = self.js_key(child.child_by_field_name("name"), child);
                    (key, self.js_method(child))
                }
                "spread_element" => (self.js(child), Self::nothing(child)),
                _ => (self.error(child), Self::nothing(child)),
            });
        }
        Node::new(Self::at(node), Kind::Map(entries))
    }

    fn js_chain(&mut self, node: Parsed<'_>, operators: &[&str]) -> Vec<Node> {
        Self::operands(node, operators).into_iter().map(|one| self.js(one)).collect()
    }

    fn js_binary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default() {
            "+" => Kind::Add(self.js_chain(node, &["+"])),
            "&&" | "||" | "??" => Kind::Or(self.js_chain(node, &["&&", "||", "??"])),
            "*" => {
                let left = self.js_field(node, "left");
                Kind::Multiply(left.into(), self.js_field(node, "right").into())
            }
            other => {
                let other = [other];
                Kind::Inert(self.js_chain(node, &other))
            }
        };
        Node::new(at, kind)
    }

    fn js_unary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let argument = self.js_field(node, "argument");
        let minus = node.child_by_field_name("operator").is_some_and(|one| one.kind() == "-");
        match argument.kind {
            Kind::Number(number) if minus => Node::new(at, Kind::Number(number.saturating_neg())),
            _ => Node::new(at, Kind::Inert(vec![argument])),
        }
    }

    fn js_augmented(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let right = self.js_field(node, "right");
        let Some(left) = node.child_by_field_name("left") else { return right };
        let before = self.js(left);
        let target = self.js_target(left);
        let value = match node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default() {
            "+=" => Kind::Add(vec![before, right]),
            "||=" | "&&=" | "??=" => Kind::Or(vec![before, right]),
            _ => Kind::Inert(vec![before, right]),
        };
        Node::assign(at, target, Node::new(at, value))
    }

    fn js_string(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let written = self.text_of(node);
        let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        match unescaped(inside) {
            Some(text) => Node::text(at, &text),
            None => Node::new(at, Kind::Inert(vec![Self::nothing(node)])),
        }
    }

    fn js_template(&mut self, node: Parsed<'_>) -> Node {
        let mut parts = Vec::new();
        for child in Self::children(node) {
            let at = Self::at(child);
            if child.kind() == "template_substitution" {
                let inner = Self::children(child);
                parts.extend(inner.into_iter().map(|one| self.js(one)));
                continue;
            }
            parts.push(match (child.kind(), unescaped(self.text_of(child))) {
                ("string_fragment" | "escape_sequence", Some(text)) => Node::text(at, &text),
                ("string_fragment" | "escape_sequence", None) => {
                    Node::new(at, Kind::Inert(vec![Self::nothing(child)]))
                }
                _ => self.error(child),
            });
        }
        Node::new(Self::at(node), Kind::Join(parts))
    }
}
