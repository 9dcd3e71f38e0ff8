//! What TypeScript adds to JavaScript, as `tree-sitter-typescript` 0.23 reads it: types do nothing, the rest is brought
//! into forms that JavaScript has.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::{Lower, Names};
use crate::tree::{Kind, Node, Parameter, Rest};

impl Lower<'_> {
    pub(super) fn ts_statement(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "abstract_class_declaration" => {
                let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let name = self.declare(name);
                let class = self.js_class(node);
                Node::assign(at, Node::name(at, &name), class)
            }
            "enum_declaration" => self.ts_enum(node),
            "internal_module" | "module" => self.ts_namespace(node),
            "import_alias" => match Self::children(node).as_slice() {
                [name, of] => {
                    let value = self.js(*of);
                    let name = self.declare(self.text_of(*name));
                    Node::assign(at, Node::name(at, &name), value)
                }
                _ => self.error(node),
            },
            "interface_declaration"
            | "type_alias_declaration"
            | "ambient_declaration"
            | "function_signature" => {
                // The first word alone on its line is a name in JavaScript, and what follows runs.
                let line = self.text_of(node).lines().next().unwrap_or_default();
                match line.split_whitespace().count() {
                    0 | 1 => self.hole(node, Why::Syntax),
                    _ => Self::nothing(node),
                }
            }
            _ => self.js(node),
        }
    }

    pub(super) fn ts_expression(&mut self, node: Parsed<'_>) -> Node {
        let children = Self::children(node);
        let inner = match node.kind() {
            "as_expression" | "satisfies_expression" | "non_null_expression" | "instantiation_expression" => {
                children.first()
            }
            "type_assertion" => children.last(),
            "internal_module" => return self.ts_namespace(node),
            "extends_clause" => return self.js_field(node, "value"),
            "nested_identifier" => {
                let of = self.js_field(node, "object");
                let name =
                    node.child_by_field_name("property").map(|one| self.text_of(one)).unwrap_or_default();
                return Node::new(Self::at(node), Kind::Member(of.into(), name.into()));
            }
            _ => None,
        };
        match inner {
            Some(inner) => self.js(*inner),
            None => self.hole(node, Why::Unsupported),
        }
    }

    /// Its members are names in it, and members of an object outside.
    fn ts_enum(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let outer = self.declare(name);
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let mut parts = Vec::new();
        for member in node.child_by_field_name("body").map(Self::children).unwrap_or_default() {
            let value = member.child_by_field_name("value").map(|value| self.js(value));
            let key = member.child_by_field_name("name").unwrap_or(member);
            let key = self.declare(self.text_of(key).trim_matches(['\'', '"']));
            let value = value.unwrap_or_else(|| Node::new(at, Kind::Inert(vec![Self::nothing(member)])));
            parts.push(Node::assign(at, Node::name(at, &key), value));
        }
        self.ts_object(node, &outer, parts)
    }

    fn ts_namespace(&mut self, node: Parsed<'_>) -> Node {
        let name = node.child_by_field_name("name");
        let written = name.map(|one| self.text_of(one)).unwrap_or_default();
        let Some(body) = node.child_by_field_name("body") else { return Self::nothing(node) };
        let outer = self.declare(written.split('.').next().unwrap_or_default());
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let mut parts = self.js_statements(body);
        if written.contains('.') {
            // How its parts lie in each other is not followed.
            parts.push(self.hole(node, Why::Unsupported));
        }
        self.ts_object(node, &outer, parts)
    }

    /// A block whose names become members of an object.
    fn ts_object(&mut self, node: Parsed<'_>, outer: &str, parts: Vec<Node>) -> Node {
        let at = Self::at(node);
        let locals = self.locals();
        let entries = locals.iter().map(|name| (Node::text(at, name), Node::name(at, name))).collect();
        let object = Node::new(at, Kind::Map(entries));
        let object = Node::assign(at, Node::name(at, outer), object);
        let inside = Node::new(at, Kind::Sequence(parts.into_iter().chain([object]).collect()));
        Node::new(at, Kind::Scope(locals, inside.into()))
    }

    pub(super) fn ts_member(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "public_field_definition" => {
                let decorators = self.ts_decorators(node);
                let value = match node.child_by_field_name("value") {
                    Some(value) => self.js(value),
                    None => Self::nothing(node),
                };
                let member = self.js_named_member(node, node.child_by_field_name("name"), value);
                Node::new(at, Kind::Sequence(decorators.into_iter().chain([member]).collect()))
            }
            "method_signature" | "abstract_method_signature" | "index_signature" => Self::nothing(node),
            _ => self.error(node),
        }
    }

    /// `private x: T = 1`, `x?: T`
    pub(super) fn ts_parameter(&mut self, node: Parsed<'_>) -> Parameter {
        let default = node.child_by_field_name("value").map(|one| self.js(one));
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return Parameter { target: self.error(node), default, rest: Rest::One };
        };
        let rest = if pattern.kind() == "rest_pattern" { Rest::List } else { Rest::One };
        let inner = Self::children(pattern).first().copied().filter(|_| rest == Rest::List);
        Parameter { target: self.js_binding(inner.unwrap_or(pattern), false), default, rest }
    }

    /// Whether it only says of what type `this` is.
    pub(super) fn ts_is_this(node: Parsed<'_>) -> bool {
        node.child_by_field_name("pattern").is_some_and(|pattern| pattern.kind() == "this")
    }

    /// A parameter that becomes a member of the object.
    pub(super) fn ts_kept(&self, node: Parsed<'_>) -> Option<Node> {
        let at = Self::at(node);
        let mut cursor = node.walk();
        let is_kept = node
            .children(&mut cursor)
            .any(|child| matches!(child.kind(), "accessibility_modifier" | "override_modifier" | "readonly"));
        let name = node.child_by_field_name("pattern").filter(|_| is_kept)?;
        let name = self.text_of(name);
        let member = Kind::Member(Node::name(at, "this").into(), name.into());
        Some(Node::assign(at, Node::new(at, member), Node::name(at, name)))
    }

    /// What decorators of a field or parameter compute.
    pub(super) fn ts_decorators(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let decorators = Self::fields(node, "decorator");
        let mut parts = Vec::new();
        for decorator in decorators {
            let inner = self.js_decorator(decorator);
            let nothing = Node::new(inner.at, Kind::Constant);
            // It is called with what it decorates.
            parts.push(Node::new(inner.at, Kind::Call(inner.into(), vec![nothing])));
        }
        parts
    }
}
