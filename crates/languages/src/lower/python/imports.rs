//! `import` and `from`.

use ruff_python_ast::{StmtImport, StmtImportFrom};

use super::{Lower, span};
use crate::tree::{Kind, Node, Span};

impl Lower<'_> {
    pub(super) fn import(&mut self, node: &StmtImport) -> Node {
        let at = span(node);
        let mut parts = Vec::new();
        for one in &node.names {
            let module = one.name.as_str();
            if let Some(alias) = &one.asname {
                let alias = self.declare(alias);
                parts.push(Node::assign(at, Node::name(at, &alias), load(span(one), module)));
                continue;
            }
            let first = module.split('.').next().unwrap_or_default();
            let bound = self.declare(first);
            if first != module {
                parts.push(load(span(one), module));
            }
            parts.push(Node::assign(at, Node::name(at, &bound), load(span(one), first)));
        }
        Node::sequence(at, parts)
    }

    pub(super) fn import_from(&mut self, node: &StmtImportFrom) -> Node {
        let at = span(node);
        let module = node.module.as_ref().map(|module| module.as_str()).unwrap_or_default();
        let module_at = node.module.as_ref().map_or(at, span);
        let dots = ".".repeat(node.level as usize);
        let name = format!("{dots}{module}");
        if name == "__future__" {
            return Node::nothing(at);
        }
        let mut parts = Vec::new();
        for one in &node.names {
            let member = one.name.as_str();
            if member == "*" {
                parts.push(Node::new(at, Kind::LoadAll(load(module_at, &name).into())));
                continue;
            }
            let alias = self.declare(one.asname.as_ref().unwrap_or(&one.name));
            // `from . import x` loads the file x beside this one.
            let value = if module.is_empty() {
                load(span(one), &format!("{name}{member}"))
            } else {
                Node::member(span(one), load(module_at, &name), member)
            };
            parts.push(Node::assign(at, Node::name(at, &alias), value));
        }
        Node::sequence(at, parts)
    }
}

fn load(at: Span, module: &str) -> Node {
    Node::load(at, Node::text(at, module))
}
