//! `import` and `export`.

use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn js_import(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        if self.is_type_only(node) {
            return Self::nothing(node);
        }
        let required = Self::children(node).into_iter().find(|child| child.kind() == "import_require_clause");
        if let Some(clause) = required {
            let source = clause.child_by_field_name("source");
            let name = Self::children(clause).first().copied();
            let (Some(source), Some(name)) = (source, name) else { return self.error(clause) };
            return self.js_imported(source, name, None);
        }
        let Some(source) = node.child_by_field_name("source") else { return self.error(node) };
        let mut parts = Vec::new();
        let clauses = Self::children(node).into_iter().filter(|child| child.kind() == "import_clause");
        for clause in clauses.flat_map(Self::children) {
            match clause.kind() {
                "identifier" => parts.push(self.js_imported(source, clause, Some("default"))),
                "namespace_import" => {
                    for name in Self::children(clause) {
                        parts.push(self.js_imported(source, name, None));
                    }
                }
                "named_imports" => {
                    for one in Self::children(clause) {
                        let Some(name) = one.child_by_field_name("name") else { continue };
                        let alias = one.child_by_field_name("alias").unwrap_or(name);
                        let member = self.text_of(name).trim_matches(['\'', '"']);
                        parts.push(self.js_imported(source, alias, Some(member)));
                    }
                }
                _ => parts.push(self.error(clause)),
            }
        }
        if parts.is_empty() {
            parts.push(self.js_load(source));
        }
        Node::new(at, Kind::Sequence(parts))
    }

    /// `import type`, `export type`: only types, of which nothing is left when it runs.
    fn is_type_only(&self, node: Parsed<'_>) -> bool {
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| !child.is_named() && child.kind() == "type")
    }

    fn js_load(&mut self, source: Parsed<'_>) -> Node {
        let name = self.js(source);
        Node::new(Self::at(source), Kind::Load(name.into()))
    }

    fn js_imported(&mut self, source: Parsed<'_>, alias: Parsed<'_>, member: Option<&str>) -> Node {
        let at = Self::at(alias);
        let mut value = self.js_load(source);
        if let Some(member) = member {
            value = Node::new(at, Kind::Member(value.into(), member.into()));
        }
        let alias = self.declare(self.text_of(alias));
        Node::assign(at, Node::name(at, &alias), value)
    }

    pub(super) fn js_export(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        if self.is_type_only(node) {
            return Self::nothing(node);
        }
        if let Some(source) = node.child_by_field_name("source") {
            return self.js_load(source);
        }
        let mut parts = Vec::new();
        if let Some(declaration) = node.child_by_field_name("declaration") {
            parts.push(self.js_statement(declaration));
        }
        let mut assigned = Self::children(node).into_iter().filter(|child| {
            matches!(
                child.kind(),
                "identifier" | "call_expression" | "new_expression" | "object" | "import_alias"
            ) && parts.is_empty()
        });
        let value = node.child_by_field_name("value").or(assigned.next_back());
        if let Some(value) = value {
            // Another may call it.
            let value = self.js(value);
            parts.push(Node::new(at, Kind::Call(Node::new(at, Kind::Constant).into(), vec![value])));
        }
        Node::new(at, Kind::Sequence(parts))
    }
}
