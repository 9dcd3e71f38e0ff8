//! `import` and `from`.

use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn import(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        for name in Self::fields(node, "name") {
            if name.kind() == "aliased_import" {
                let module =
                    name.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let alias =
                    name.child_by_field_name("alias").map(|one| self.text_of(one)).unwrap_or_default();
                let alias = self.declare(alias);
                parts.push(Node::assign(at, Node::name(at, &alias), load(&name, module)));
                continue;
            }
            let module = self.text_of(name);
            let first = module.split('.').next().unwrap_or_default();
            let bound = self.declare(first);
            if first != module {
                parts.push(load(&name, module));
            }
            parts.push(Node::assign(at, Node::name(at, &bound), load(&name, first)));
        }
        self.errors(node, &mut parts);
        Node::new(at, Kind::Sequence(parts))
    }

    pub(super) fn import_from(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(module) = node.child_by_field_name("module_name") else { return self.error(node) };
        let name = self.text_of(module).replace([' ', '\\', '\n'], "");
        let mut parts = Vec::new();
        for one in Self::fields(node, "name") {
            let (of, alias) = match one.child_by_field_name("alias") {
                Some(alias) => (one.child_by_field_name("name").unwrap_or(one), alias),
                None => (one, one),
            };
            let member = self.text_of(of);
            let alias = self.declare(self.text_of(alias));
            // `from . import x` loads the file x beside this one.
            let value = if name.chars().all(|c| c == '.') {
                load(&one, &format!("{name}{member}"))
            } else {
                Node::new(Self::at(one), Kind::Member(load(&module, &name).into(), member.into()))
            };
            parts.push(Node::assign(at, Node::name(at, &alias), value));
        }
        if Self::children(node).iter().any(|child| child.kind() == "wildcard_import") {
            parts.push(Node::new(at, Kind::LoadAll(load(&module, &name).into())));
        }
        self.errors(node, &mut parts);
        Node::new(at, Kind::Sequence(parts))
    }

    pub(super) fn errors(&mut self, node: Parsed<'_>, parts: &mut Vec<Node>) {
        let errors = Self::children(node).into_iter().filter(Parsed::is_error);
        parts.extend(errors.map(|error| self.error(error)));
    }
}

fn load(node: &Parsed<'_>, module: &str) -> Node {
    let at = Lower::at(*node);
    Node::new(at, Kind::Load(Node::text(at, module).into()))
}
