//! TypeScript's additions to JavaScript: types have no effect, the rest is lowered to forms that JavaScript has.

use oxc_ast::ast::{
    FormalParameter, TSEnumDeclaration, TSImportEqualsDeclaration, TSModuleReference, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody, TSTypeName,
};

use super::super::Lower;
use super::modules::load;
use super::span;
use crate::tree::{Kind, Node, Span};

impl Lower<'_> {
    /// The members are names inside, and members of an object outside.
    pub(super) fn ts_enum(&mut self, node: &TSEnumDeclaration<'_>) -> Node {
        self.ts_object(span(node), &node.id.name, |lower| {
            let mut parts = Vec::new();
            for member in &node.body.members {
                let at = span(member);
                let value = match &member.initializer {
                    Some(value) => lower.js(value),
                    None => Node::unknown(at),
                };
                let key = lower.declare(&member.id.static_name());
                parts.push(Node::assign(at, Node::name(at, &key), value));
            }
            parts
        })
    }

    pub(super) fn ts_namespace(&mut self, node: &TSNamespaceDeclaration<'_>) -> Node {
        self.deeper_at(span(node), |lower| {
            lower.ts_object(span(node), &node.id.name, |lower| match &node.body {
                TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => vec![lower.ts_namespace(inner)],
                TSNamespaceDeclarationBody::TSModuleBlock(block) => lower.js_statements(&block.body),
            })
        })
    }

    /// A block whose names become members of an object.
    fn ts_object(&mut self, at: Span, outer: &str, parts: impl FnOnce(&mut Self) -> Vec<Node>) -> Node {
        let outer = self.declare(outer);
        self.begin_block();
        let mut parts = parts(self);
        let locals = self.locals();
        let entries = locals.iter().map(|name| (Node::text(at, name), Node::name(at, name))).collect();
        parts.push(Node::assign(at, Node::name(at, &outer), Node::new(at, Kind::Map(entries))));
        Node::new(at, Kind::Scope(locals, Node::sequence(at, parts).into()))
    }

    /// `import a = require('b')`, `import a = b.c`
    pub(super) fn ts_import(&mut self, node: &TSImportEqualsDeclaration<'_>) -> Node {
        if node.import_kind.is_type() {
            return Node::nothing(span(node));
        }
        self.js_named(span(node), Some(&node.id), |lower| match &node.module_reference {
            TSModuleReference::ExternalModuleReference(one) => load(&one.expression),
            TSModuleReference::IdentifierReference(one) => Node::name(span(&**one), &one.name),
            TSModuleReference::QualifiedName(one) => {
                lower.ts_member(span(&**one), &one.left, &one.right.name)
            }
        })
    }

    fn ts_member(&mut self, at: Span, of: &TSTypeName<'_>, name: &str) -> Node {
        self.deeper_at(at, |lower| {
            let of = match of {
                TSTypeName::IdentifierReference(one) => Node::name(span(&**one), &one.name),
                TSTypeName::QualifiedName(one) => lower.ts_member(span(&**one), &one.left, &one.right.name),
                TSTypeName::ThisExpression(one) => Node::name(span(&**one), "this"),
            };
            Node::member(at, of, name)
        })
    }

    /// A parameter that becomes a member of the object.
    pub(super) fn ts_kept(node: &FormalParameter<'_>) -> Option<Node> {
        let at = span(node);
        let name = node.pattern.get_identifier_name().filter(|_| node.has_modifier())?;
        let member = Kind::Member(Node::name(at, "this").into(), name.as_str().into());
        Some(Node::assign(at, Node::new(at, member), Node::name(at, &name)))
    }
}
