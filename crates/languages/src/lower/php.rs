//! PHP, as `tree-sitter-php` 0.25 reads it. Variables keep their `$`, functions are in small letters, classes begin
//! with a capital and constants with `#`, so that each has its own names; `/` stands between the parts of a name.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::Lower;
use crate::tree::{Kind, Loop, Node, Span};

mod calls;
mod definitions;
mod expressions;
mod names;
mod texts;

pub(super) use names::Surroundings;
pub(crate) use names::{class_name, function_name};

impl Lower<'_> {
    pub(super) fn php(&mut self, root: Parsed<'_>) -> Node {
        self.php_survey(root);
        let parts = self.php_statements(root);
        Node::new(Self::at(root), Kind::Sequence(parts))
    }

    /// Statements in order, but what has its name from the beginning first, for each namespace.
    fn php_statements(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let children = Self::children(node);
        let mut parts = Vec::new();
        let begins = |child: &Parsed<'_>| {
            child.kind() == "namespace_definition" && child.child_by_field_name("body").is_none()
        };
        let mut left = children.as_slice();
        while let Some((first, rest)) = left.split_first() {
            let end = rest.iter().position(begins).unwrap_or(rest.len());
            let (segment, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            if begins(first) {
                self.php_namespace(*first);
            }
            let own = std::iter::once(first).chain(segment).copied().filter(|child| !begins(child));
            parts.extend(self.php_segment(own.collect()));
            left = after;
        }
        parts
    }

    fn php_segment<'p>(&mut self, children: Vec<Parsed<'p>>) -> Vec<Node> {
        for child in children.iter().filter(|child| child.kind() == "namespace_use_declaration") {
            self.php_uses(*child);
        }
        let (functions, others): (Vec<_>, Vec<_>) =
            children.into_iter().partition(|child| child.kind() == "function_definition");
        let (classes, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|child| definitions::is_class(child.kind()));
        let classes = self.php_in_order(classes);
        functions.into_iter().chain(classes).chain(others).map(|child| self.php_statement(child)).collect()
    }

    fn php_statement(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.php_statement_of(node))
    }

    fn php_optional(&mut self, node: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        node.map_or_else(|| Self::nothing(around), |node| self.php_statement(node))
    }

    fn php_statement_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "expression_statement" => Kind::Sequence(self.php_all(node)),
            "echo_statement" | "exit_statement" => Kind::Inert(self.php_all(node)),
            "compound_statement" | "colon_block" | "declare_statement" => {
                Kind::Sequence(self.php_statements(node))
            }
            "if_statement" => return self.php_branch(node),
            "while_statement" | "do_statement" => {
                let condition = self.php_field(node, "condition");
                let body = self.php_optional(node.child_by_field_name("body"), node);
                let parts =
                    if node.kind() == "do_statement" { vec![body, condition] } else { vec![condition, body] };
                return repeated(at, Node::new(at, Kind::Sequence(parts)));
            }
            "for_statement" => return self.php_for(node),
            "foreach_statement" => return self.php_for_each(node),
            "switch_statement" => return self.php_switch(node),
            "try_statement" => return self.php_try(node),
            "return_statement" => {
                self.jumps += 1;
                Kind::Return(Self::children(node).first().map(|value| self.php_expression(*value).into()))
            }
            "break_statement" | "continue_statement" => {
                self.jumps += 1;
                Kind::Constant
            }
            "global_declaration" => {
                for name in Self::children(node) {
                    let name = self.text_of(name);
                    if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| !scope.is_block) {
                        scope.outer.insert(name.into());
                    }
                }
                Kind::Constant
            }
            "function_static_declaration" => return self.php_static(node),
            "unset_statement" => {
                let targets = Self::children(node).into_iter().map(|one| self.php_target(one));
                let targets: Vec<Node> = targets.collect();
                let unset = |target| Node::assign(at, target, Node::new(at, Kind::Constant));
                Kind::Sequence(targets.into_iter().map(unset).collect())
            }
            "const_declaration" => return self.php_constants(node),
            "function_definition" => return self.php_named_function(node),
            kind if definitions::is_class(kind) => return self.php_named_class(node),
            "namespace_definition" => {
                let before = self.php_namespace(node);
                let body = self.php_optional(node.child_by_field_name("body"), node);
                self.php.leave(before);
                return body;
            }
            "namespace_use_declaration"
            | "empty_statement"
            | "php_tag"
            | "php_end_tag"
            | "text"
            | "declare_directive"
            | "named_label_statement" => Kind::Constant,
            "goto_statement" => Kind::Hole(Why::Unsupported),
            _ => return self.php_expression(node),
        };
        Node::new(at, kind)
    }

    fn php_static(&mut self, node: Parsed<'_>) -> Node {
        let mut parts = Vec::new();
        for one in Self::children(node) {
            let at = Self::at(one);
            let Some(name) = one.child_by_field_name("name") else { continue };
            let value = match one.child_by_field_name("value") {
                Some(value) => self.php_expression(value),
                None => Self::nothing(one),
            };
            // What a call before left there is not known.
            let value = Node::new(at, Kind::Or(vec![value, unknown(at)]));
            parts.push(Node::assign(at, self.php_target(name), value));
        }
        Node::new(Self::at(node), Kind::Sequence(parts))
    }

    /// Conditions first, then one of the bodies. `else if` lies inside: it is gone through here.
    fn php_branch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut left = Some(node);
        let mut has_else = false;
        while let Some(branch) = left.take() {
            conditions.push(self.php_field(branch, "condition"));
            bodies.push(self.php_optional(branch.child_by_field_name("body"), branch));
            for clause in Self::fields(branch, "alternative") {
                let body = clause.child_by_field_name("body");
                if clause.kind() == "else_if_clause" {
                    conditions.push(self.php_field(clause, "condition"));
                    bodies.push(self.php_optional(body, clause));
                    continue;
                }
                match body {
                    Some(body) if body.kind() == "if_statement" => left = Some(body),
                    body => {
                        has_else = true;
                        bodies.push(self.php_optional(body, clause));
                    }
                }
            }
        }
        if !has_else {
            bodies.push(Self::nothing(node));
        }
        let conditions = Node::new(at, Kind::Or(conditions));
        Node::new(at, Kind::Sequence(vec![conditions, Node::new(at, Kind::Either(bodies))]))
    }

    fn php_for(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let first = Self::fields(node, "initialize").into_iter().map(|one| self.php_expression(one));
        let first: Vec<Node> = first.collect();
        let mut parts = Vec::new();
        for name in ["condition", "body", "update"] {
            for one in Self::fields(node, name) {
                parts.push(self.php_statement(one));
            }
        }
        let body = repeated(at, Node::new(at, Kind::Sequence(parts)));
        Node::new(at, Kind::Sequence(first.into_iter().chain([body]).collect()))
    }

    fn php_for_each(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let children = Self::children(node);
        let body = node.child_by_field_name("body");
        let mut heads = children.into_iter().filter(|child| Some(*child) != body);
        let (Some(list), Some(each)) = (heads.next(), heads.next()) else { return self.error(node) };
        let mut over = self.php_expression(list);
        let mut bound = each;
        let mut target = None;
        if each.kind() == "pair" {
            let parts = Self::children(each);
            let [key, value] = parts.as_slice() else { return self.error(each) };
            let key = self.php_target(*key);
            bound = *value;
            let value = self.php_target(*value);
            let entries = Node::name(at, "array.entries");
            over = Node::new(at, Kind::Call(entries.into(), vec![over]));
            target = Some(Node::new(at, Kind::List(vec![key, value])));
        }
        let target = target.unwrap_or_else(|| self.php_target(each));
        let before = self.jumps;
        let mut body = body.map_or_else(|| Self::nothing(node), |body| self.php_statement(body));
        if bound.kind() == "by_ref" {
            // What the name is given goes into the array, to an element that is not told.
            let value = self.php_expression(bound);
            let of = self.php_target(list);
            let element = Node::new(at, Kind::Index(of.into(), unknown(at).into()));
            let changed = Node::assign(at, element, value);
            body = Node::new(at, Kind::Sequence(vec![body, changed]));
        }
        let jumps = self.jumps > before;
        let one = Loop { over: Some((target, over)), body, jumps, collects: false };
        Node::new(at, Kind::Loop(Box::new(one)))
    }

    /// Each case may run, and what is behind it too.
    fn php_switch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = vec![self.php_field(node, "condition")];
        for case in node.child_by_field_name("body").map(Self::children).unwrap_or_default() {
            let test = case.child_by_field_name("value");
            parts.extend(test.map(|test| self.php_expression(test)));
            let body = Self::children(case).into_iter().filter(|child| Some(*child) != test);
            let body: Vec<Node> = body.map(|child| self.php_statement(child)).collect();
            let body = Node::new(Self::at(case), Kind::Sequence(body));
            parts.push(Node::new(Self::at(case), Kind::Either(vec![Self::nothing(case), body])));
        }
        Node::new(at, Kind::Try(vec![Node::new(at, Kind::Sequence(parts))]))
    }

    fn php_try(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = vec![self.php_optional(node.child_by_field_name("body"), node)];
        for clause in Self::children(node) {
            let body = clause.child_by_field_name("body");
            match clause.kind() {
                "catch_clause" => {
                    let name = clause.child_by_field_name("name").map(|name| self.php_target(name));
                    let error = name.map(|name| Node::assign(at, name, unknown(at)));
                    let body = self.php_optional(body, clause);
                    let body = Node::new(at, Kind::Sequence(error.into_iter().chain([body]).collect()));
                    parts.push(Node::new(at, Kind::Either(vec![Self::nothing(clause), body])));
                }
                "finally_clause" => parts.push(self.php_optional(body, clause)),
                _ => {}
            }
        }
        Node::new(at, Kind::Try(parts))
    }
}

/// Data of which nothing is known.
fn unknown(at: Span) -> Node {
    Node::new(at, Kind::Inert(vec![Node::new(at, Kind::Constant)]))
}

fn repeated(at: Span, body: Node) -> Node {
    Node::new(at, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })))
}
