//! JavaScript, as `tree-sitter-javascript` 0.25 reads it.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::{Lower, Names};
use crate::tree::{Kind, Loop, Node};

mod definitions;
mod expressions;
mod modules;
mod typescript;

impl Lower<'_> {
    pub(super) fn javascript(&mut self, root: Parsed<'_>) -> Node {
        let parts = self.js_statements(root);
        Node::new(Self::at(root), Kind::Sequence(parts))
    }

    /// Statements in order, but functions first: they have their names from the beginning.
    fn js_statements(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let (functions, others): (Vec<_>, Vec<_>) = Self::children(node).into_iter().partition(|child| {
            matches!(child.kind(), "function_declaration" | "generator_function_declaration")
        });
        functions.into_iter().chain(others).map(|child| self.js_statement(child)).collect()
    }

    /// A block with names of its own.
    fn js_block(&mut self, node: Parsed<'_>) -> Node {
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let parts = self.js_statements(node);
        let locals = self.locals();
        let at = Self::at(node);
        Node::new(at, Kind::Scope(locals, Node::new(at, Kind::Sequence(parts)).into()))
    }

    fn js_statement(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.js_statement_of(node))
    }

    fn js_statement_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "expression_statement" => {
                Kind::Sequence(Self::children(node).into_iter().map(|one| self.js(one)).collect())
            }
            "lexical_declaration" | "using_declaration" | "variable_declaration" => {
                return self.js_declaration(node);
            }
            "statement_block" => return self.js_block(node),
            "function_declaration" | "generator_function_declaration" => {
                let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let name = self.declare(name);
                let function = self.js_function(node, true);
                return Node::assign(at, Node::name(at, &name), function);
            }
            "class_declaration" => {
                let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let name = self.declare(name);
                let class = self.js_class(node);
                return Node::assign(at, Node::name(at, &name), class);
            }
            "return_statement" => {
                self.jumps += 1;
                let value = Self::children(node).first().map(|value| self.js(*value).into());
                Kind::Return(value)
            }
            "break_statement" | "continue_statement" => {
                self.jumps += 1;
                Kind::Constant
            }
            "throw_statement" => return self.js_throw(node),
            "empty_statement" | "debugger_statement" | "hash_bang_line" | "html_comment" => Kind::Constant,
            "if_statement" => return self.js_branch(node),
            "else_clause" => {
                Kind::Sequence(Self::children(node).into_iter().map(|one| self.js_statement(one)).collect())
            }
            "for_statement" => return self.js_for(node),
            "for_in_statement" => return self.js_for_each(node),
            "while_statement" | "do_statement" => {
                let condition = self.js_field(node, "condition");
                let body = self.js_optional(node.child_by_field_name("body"), node);
                let parts =
                    if node.kind() == "do_statement" { vec![body, condition] } else { vec![condition, body] };
                return repeated(at, Node::new(at, Kind::Sequence(parts)));
            }
            "try_statement" => return self.js_try(node),
            "switch_statement" => return self.js_switch(node),
            "labeled_statement" => {
                let body = node.child_by_field_name("body");
                return self.js_optional(body, node);
            }
            "with_statement" => {
                // Its names may be the object's.
                let object = self.js_field(node, "object");
                let body = self.js_optional(node.child_by_field_name("body"), node);
                Kind::Sequence(vec![object, self.hole(node, Why::Unsupported), body])
            }
            "import_statement" => return self.js_import(node),
            "export_statement" => return self.js_export(node),
            _ => return self.ts_statement(node),
        };
        Node::new(at, kind)
    }

    fn js_optional(&mut self, node: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        node.map_or_else(|| Self::nothing(around), |node| self.js_statement(node))
    }

    fn js_declaration(&mut self, node: Parsed<'_>) -> Node {
        let is_var = node.kind() == "variable_declaration";
        let mut parts = Vec::new();
        for child in Self::children(node) {
            if child.kind() != "variable_declarator" {
                parts.push(self.error(child));
                continue;
            }
            let value = child.child_by_field_name("value").map(|one| self.js(one));
            let Some(name) = child.child_by_field_name("name") else { continue };
            let target = self.js_binding(name, is_var);
            match value {
                Some(value) => parts.push(Node::assign(Self::at(child), target, value)),
                // A loop's `var x;` leaves what was there.
                None if is_var => {}
                None => parts.push(Node::assign(Self::at(child), target, Self::nothing(child))),
            }
        }
        Node::new(Self::at(node), Kind::Sequence(parts))
    }

    /// Who catches what is thrown is not followed: it goes anywhere.
    fn js_throw(&mut self, node: Parsed<'_>) -> Node {
        self.jumps += 1;
        let value = Self::children(node).first().map_or_else(|| Self::nothing(node), |one| self.js(*one));
        Node::assign(Self::at(node), Self::nothing(node), value)
    }

    /// Conditions first, then one of the bodies. `else if` lies inside: it is gone through here.
    fn js_branch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut left = Some(node);
        while let Some(branch) = left.take() {
            conditions.push(self.js_field(branch, "condition"));
            bodies.push(self.js_optional(branch.child_by_field_name("consequence"), branch));
            let Some(alternative) = branch.child_by_field_name("alternative") else {
                bodies.push(Self::nothing(branch));
                break;
            };
            match Self::children(alternative).as_slice() {
                [only] if only.kind() == "if_statement" => left = Some(*only),
                _ => bodies.push(self.js_statement(alternative)),
            }
        }
        let conditions = Node::new(at, Kind::Or(conditions));
        Node::new(at, Kind::Sequence(vec![conditions, Node::new(at, Kind::Either(bodies))]))
    }

    fn js_for(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let first = self.js_optional(node.child_by_field_name("initializer"), node);
        let mut parts = Vec::new();
        for name in ["condition", "body", "increment"] {
            parts.push(self.js_optional(node.child_by_field_name(name), node));
        }
        let body = repeated(at, Node::new(at, Kind::Sequence(parts)));
        let locals = self.locals();
        Node::new(at, Kind::Scope(locals, Node::new(at, Kind::Sequence(vec![first, body])).into()))
    }

    fn js_for_each(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut right = self.js_field(node, "right");
        // `in` goes over keys, which are texts or numbers.
        if node.child_by_field_name("operator").is_some_and(|one| one.kind() == "in") {
            right = Node::new(right.at, Kind::Inert(vec![right]));
        }
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let kind = node.child_by_field_name("kind").map(|one| one.kind());
        let left = match (node.child_by_field_name("left"), kind) {
            (Some(left), Some(kind)) => self.js_binding(left, kind == "var"),
            (Some(left), None) => self.js_target(left),
            (None, _) => self.hole(node, Why::Syntax),
        };
        let before = self.jumps;
        let body = self.js_optional(node.child_by_field_name("body"), node);
        let jumps = self.jumps > before;
        let one = Loop { over: Some((left, right)), body, jumps, collects: false };
        let locals = self.locals();
        Node::new(at, Kind::Scope(locals, Node::new(at, Kind::Loop(Box::new(one))).into()))
    }

    fn js_try(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = vec![self.js_optional(node.child_by_field_name("body"), node)];
        if let Some(handler) = node.child_by_field_name("handler") {
            self.scopes.push(Names { is_block: true, ..Names::default() });
            let mut inside = Vec::new();
            if let Some(parameter) = handler.child_by_field_name("parameter") {
                let target = self.js_binding(parameter, false);
                let error = Node::new(at, Kind::Inert(vec![Self::nothing(handler)]));
                inside.push(Node::assign(at, target, error));
            }
            inside.push(self.js_optional(handler.child_by_field_name("body"), handler));
            let locals = self.locals();
            let inside = Node::new(at, Kind::Scope(locals, Node::new(at, Kind::Sequence(inside)).into()));
            parts.push(Node::new(at, Kind::Either(vec![Self::nothing(node), inside])));
        }
        if let Some(last) = node.child_by_field_name("finalizer") {
            parts.push(self.js_optional(last.child_by_field_name("body"), last));
        }
        Node::new(at, Kind::Try(parts))
    }

    /// Each case may run, and what is behind it too.
    fn js_switch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let value = self.js_field(node, "value");
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let mut parts = vec![value];
        for case in node.child_by_field_name("body").map(Self::children).unwrap_or_default() {
            let test = case.child_by_field_name("value");
            parts.extend(test.map(|test| self.js(test)));
            let body = Self::children(case).into_iter().filter(|child| Some(*child) != test);
            let body: Vec<Node> = body.map(|child| self.js_statement(child)).collect();
            let body = Node::new(Self::at(case), Kind::Sequence(body));
            parts.push(Node::new(Self::at(case), Kind::Either(vec![Self::nothing(case), body])));
        }
        let locals = self.locals();
        let body = Node::new(at, Kind::Try(vec![Node::new(at, Kind::Sequence(parts))]));
        Node::new(at, Kind::Scope(locals, body.into()))
    }
}

fn repeated(at: crate::tree::Span, body: Node) -> Node {
    Node::new(at, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })))
}
