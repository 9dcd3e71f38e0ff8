//! `import` and `export`.

use oxc_ast::ast::{
    ExportDefaultDeclaration, ExportDefaultDeclarationKind, ImportDeclaration, ImportDeclarationSpecifier,
    ModuleDeclaration, StringLiteral,
};

use super::super::Lower;
use super::span;
use crate::tree::{Node, Span};

impl Lower<'_> {
    /// `import type` and `export type` are gone when the program runs.
    pub(super) fn js_module(&mut self, node: &ModuleDeclaration<'_>) -> Node {
        let at = span(node);
        match node {
            ModuleDeclaration::ImportDeclaration(one) if one.import_kind.is_value() => self.js_import(one),
            ModuleDeclaration::ExportAllDeclaration(one) if one.export_kind.is_value() => load(&one.source),
            ModuleDeclaration::ExportFromDeclaration(one) if one.export_kind.is_value() => load(&one.source),
            ModuleDeclaration::ExportDeclaration(one) => self.js_declaration(&one.declaration),
            ModuleDeclaration::ExportDefaultDeclaration(one) => self.js_default(one),
            ModuleDeclaration::TSExportAssignment(one) => {
                let value = self.js(&one.expression);
                given_out(at, value)
            }
            ModuleDeclaration::ImportDeclaration(_)
            | ModuleDeclaration::ExportAllDeclaration(_)
            | ModuleDeclaration::ExportFromDeclaration(_)
            | ModuleDeclaration::ExportNamedDeclaration(_)
            | ModuleDeclaration::TSNamespaceExportDeclaration(_) => Node::nothing(at),
        }
    }

    fn js_import(&mut self, node: &ImportDeclaration<'_>) -> Node {
        let mut parts = Vec::new();
        for one in node.specifiers.iter().flatten() {
            let member = match one {
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type() => continue,
                ImportDeclarationSpecifier::ImportSpecifier(one) => Some(one.imported.name().to_string()),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Some("default".to_owned()),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
            };
            let module = load(&node.source);
            let value = match member {
                Some(member) => Node::member(span(one), module, member),
                None => module,
            };
            parts.push(self.js_named(span(one), Some(one.local()), |_| value));
        }
        if parts.is_empty() {
            parts.push(load(&node.source));
        }
        Node::sequence(span(node), parts)
    }

    fn js_default(&mut self, node: &ExportDefaultDeclaration<'_>) -> Node {
        let at = span(node);
        match &node.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(one) => {
                self.js_named(at, one.id.as_ref(), |lower| lower.js_function(one))
            }
            ExportDefaultDeclarationKind::ClassDeclaration(one) => {
                self.js_named(at, one.id.as_ref(), |lower| lower.js_class(one))
            }
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Node::nothing(at),
            other => {
                let value = self.js_optional(at, other.as_expression());
                given_out(at, value)
            }
        }
    }
}

pub(super) fn load(source: &StringLiteral<'_>) -> Node {
    Node::load(span(source), Lower::js_string(source))
}

/// Another module may call the value.
fn given_out(at: Span, value: Node) -> Node {
    Node::call(at, Node::nothing(at), vec![value])
}
