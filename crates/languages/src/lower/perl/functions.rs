//! Functions: their names, parameters and bodies.

use std::rc::Rc;

use tree_sitter::Node as Parsed;

use super::super::{Lower, Names};
use crate::tree::{Function, Kind, Node, Parameter, Rest, Span};

impl Lower<'_> {
    /// Whether the program defines a function that is called so here.
    pub(super) fn pl_is_declared(&self, name: &str) -> bool {
        self.perl.functions.contains(&self.pl_full(name))
    }

    /// A function's name with its package.
    fn pl_full(&self, name: &str) -> String {
        match name.strip_prefix("::") {
            Some(bare) => format!("main::{bare}"),
            None if name.contains("::") => name.to_owned(),
            None => format!("{}::{name}", self.perl.package),
        }
    }

    /// A function by its name.
    pub(super) fn pl_function_named(&self, at: Span, name: &str) -> Node {
        let full = self.pl_full(name);
        if self.perl.functions.contains(&full) {
            return Node::name(at, &full);
        }
        let bare = name.strip_prefix("CORE::GLOBAL::").or_else(|| name.strip_prefix("CORE::"));
        if let Some(bare) = bare.or_else(|| (!name.contains("::")).then_some(name)) {
            return Node::name(at, bare);
        }
        match full.rsplit_once("::") {
            Some((package, bare)) if package == "main" || self.perl.packages.contains(package) => {
                Node::name(at, bare)
            }
            Some((package, bare)) => {
                let module = Node::load(at, Node::text(at, package));
                Node::member(at, module, bare)
            }
            None => Node::name(at, name),
        }
    }

    /// `&foo`, `&$x`, `&{...}` as a value.
    pub(super) fn pl_function_value(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match Self::pl_referred(node) {
            Some(inner) => self.pl(inner),
            None => {
                let written = self.text_of(node).trim_start_matches(['&', '{']).trim_end_matches('}').trim();
                match written.strip_prefix("\\&") {
                    Some(name) => self.pl_function_named(at, name),
                    None => self.pl_function_named(at, written),
                }
            }
        }
    }

    pub(super) fn pl_declared(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(name) = node.child_by_field_name("name").map(|one| self.text_of(one)) else {
            return self.error(node);
        };
        let full = self.pl_full(name);
        if node.child_by_field_name("body").is_none() {
            return Self::nothing(node);
        }
        let function = self.pl_function(node);
        let method: Rc<str> = format!("->{}", name.rsplit("::").next().unwrap_or(name)).into();
        let mut value = Node::name(at, &full);
        if !self.perl.methods.insert(Rc::clone(&method)) {
            value = Node::or(at, vec![Node::name(at, &method), value]);
        }
        Node::sequence(
            at,
            vec![
                Node::assign(at, Node::name(at, &full), function),
                Node::assign(at, Node::name(at, &method), value),
            ],
        )
    }

    pub(super) fn pl_function(&mut self, node: Parsed<'_>) -> Node {
        self.pl_function_with(node, node.child_by_field_name("body"))
    }

    /// A block that is handed over to be run.
    pub(super) fn pl_block_function(&mut self, block: Parsed<'_>) -> Node {
        self.pl_function_with(block, Some(block))
    }

    fn pl_function_with(&mut self, node: Parsed<'_>, body: Option<Parsed<'_>>) -> Node {
        let at = Self::at(node);
        self.scopes.push(Names::default());
        self.declare("@_");
        let own = Parameter { target: Node::name(at, "@_"), default: None, rest: Rest::List };
        let mut parts = Vec::new();
        if node.kind().contains("method") {
            self.declare("$self");
            let first = Node::library(at, "shift", vec![Node::name(at, "@_")]);
            parts.push(Node::assign(at, Node::name(at, "$self"), first));
        }
        for signature in Self::children(node).into_iter().filter(|one| one.kind() == "signature") {
            parts.push(self.pl_signature(signature));
        }
        match body {
            Some(body) => parts.extend(self.pl_statements(body)),
            None => parts.push(Self::nothing(node)),
        }
        let locals = self.locals();
        let body = Node::sequence(at, parts);
        let function = Function { parameters: vec![own], locals, body, has_this: false, takes_self: false };
        Node::new(at, Kind::Function(Rc::new(function)))
    }

    fn pl_signature(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut targets = Vec::new();
        for parameter in Self::children(node) {
            let default = parameter.child_by_field_name("default");
            let variable = Self::children(parameter).into_iter().find(|one| Some(*one) != default);
            let Some(variable) = variable else {
                targets.push(Self::nothing(parameter));
                continue;
            };
            let sigil = match variable.kind() {
                "array" => "@",
                "hash" => "%",
                _ => "$",
            };
            let name = self.pl_sigiled(sigil, variable);
            self.declare(&name);
            let target = Node::name(at, &name);
            targets.push(match (sigil, default) {
                ("$", Some(default)) => {
                    let default = self.pl(default);
                    Node::or(at, vec![target, default])
                }
                ("$", None) => target,
                _ => Node::spread(at, target),
            });
        }
        let given = Node::list(at, vec![Self::pl_own_arguments(at)]);
        Node::assign(at, Node::list(at, targets), given)
    }
}
