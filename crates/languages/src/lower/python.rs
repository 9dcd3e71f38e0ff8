//! Python 3, as `tree-sitter-python` 0.25 reads it.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::Lower;
use crate::tree::{Kind, Loop, Node};

mod definitions;
mod expressions;
mod imports;

impl Lower<'_> {
    pub(super) fn python(&mut self, root: Parsed<'_>) -> Node {
        self.block(root)
    }

    /// Statements, one after the other.
    fn block(&mut self, node: Parsed<'_>) -> Node {
        let parts = Self::children(node).into_iter().map(|child| self.statement(child)).collect();
        Node::new(Self::at(node), Kind::Sequence(parts))
    }

    fn statement(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.statement_of(node))
    }

    fn statement_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "expression_statement" => {
                let parts: Vec<Node> =
                    Self::children(node).into_iter().map(|one| self.expression(one)).collect();
                Node::new(at, Kind::Sequence(parts))
            }
            "return_statement" => {
                self.jumps += 1;
                let value = Self::children(node).first().map(|value| self.expression(*value).into());
                Node::new(at, Kind::Return(value))
            }
            "break_statement" | "continue_statement" => {
                self.jumps += 1;
                Self::nothing(node)
            }
            "raise_statement" => {
                self.jumps += 1;
                self.inert(node)
            }
            "assert_statement" | "print_statement" | "chevron" => self.inert(node),
            "delete_statement" => self.deletion(node),
            "global_statement" | "nonlocal_statement" => {
                for name in Self::children(node) {
                    let name = self.text_of(name).into();
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.outer.insert(name);
                    }
                }
                Self::nothing(node)
            }
            "pass_statement" | "future_import_statement" | "type_alias_statement" | ";" => {
                Self::nothing(node)
            }
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "if_statement" => self.branch(node),
            "for_statement" => self.for_each(node),
            "while_statement" => self.while_true(node),
            "try_statement" => self.tries(node),
            "with_statement" => self.with(node),
            "match_statement" => self.matches(node),
            "exec_statement" => {
                let parts: Vec<Node> =
                    Self::children(node).into_iter().map(|one| self.expression(one)).collect();
                Node::new(at, Kind::Call(Node::name(at, "exec").into(), parts))
            }
            "function_definition" | "class_definition" | "decorated_definition" => self.definition(node),
            "block" => self.block(node),
            _ => self.expression(node),
        }
    }

    fn inert(&mut self, node: Parsed<'_>) -> Node {
        let parts = Self::children(node).into_iter().map(|one| self.expression(one)).collect();
        Node::new(Self::at(node), Kind::Inert(parts))
    }

    /// An element that is deleted is taken out, as `pop` does it; a part becomes none.
    fn deletion(&mut self, node: Parsed<'_>) -> Node {
        let mut parts = Vec::new();
        for child in Self::children(node) {
            let targets = if child.kind() == "expression_list" { Self::children(child) } else { vec![child] };
            for target in targets {
                let deleted = self.expression(target);
                let at = deleted.at;
                parts.push(match deleted.kind {
                    Kind::Index(of, index) => {
                        let pop = Node::new(at, Kind::Member(of, "pop".into()));
                        Node::new(at, Kind::Call(pop.into(), vec![*index]))
                    }
                    kind @ Kind::Slice(..) => {
                        let none = Node::new(at, Kind::List(Vec::new()));
                        Node::assign(at, Node::new(at, kind), none)
                    }
                    kind => Node::new(at, kind),
                });
            }
        }
        Node::new(Self::at(node), Kind::Inert(parts))
    }

    fn optional(&mut self, node: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        node.map_or_else(|| Self::nothing(around), |node| self.statement(node))
    }

    /// Conditions first, then one of the bodies.
    fn branch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut is_complete = false;
        for clause in std::iter::once(node).chain(Self::fields(node, "alternative")) {
            conditions.extend(clause.child_by_field_name("condition").map(|one| self.expression(one)));
            let body = clause.child_by_field_name("consequence").or(clause.child_by_field_name("body"));
            is_complete |= clause.kind() == "else_clause";
            bodies.push(self.optional(body, clause));
        }
        if !is_complete {
            bodies.push(Self::nothing(node));
        }
        // What stands wrongly inside is not lost.
        bodies.extend(Self::children(node).into_iter().filter(Parsed::is_error).map(|one| self.error(one)));
        let conditions = Node::new(at, Kind::Or(conditions));
        Node::new(at, Kind::Sequence(vec![conditions, Node::new(at, Kind::Either(bodies))]))
    }

    fn for_each(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let right = node.child_by_field_name("right").map(|one| self.expression(one));
        let left = node.child_by_field_name("left").map(|one| self.target(one));
        let before = self.jumps;
        let body = self.optional(node.child_by_field_name("body"), node);
        let jumps = self.jumps > before;
        let over = left.zip(right);
        let repeats = Node::new(at, Kind::Loop(Box::new(Loop { over, body, jumps, collects: false })));
        let after = node.child_by_field_name("alternative").and_then(|one| one.child_by_field_name("body"));
        let after = self.optional(after, node);
        Node::new(at, Kind::Sequence(vec![repeats, after]))
    }

    fn while_true(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let condition = node.child_by_field_name("condition").map(|one| self.expression(one));
        let body = self.optional(node.child_by_field_name("body"), node);
        let body = Node::new(at, Kind::Sequence(condition.into_iter().chain([body]).collect()));
        let repeats =
            Node::new(at, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })));
        let after = node.child_by_field_name("alternative").and_then(|one| one.child_by_field_name("body"));
        let after = self.optional(after, node);
        Node::new(at, Kind::Sequence(vec![repeats, after]))
    }

    fn tries(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = vec![self.optional(node.child_by_field_name("body"), node)];
        let mut handlers = vec![Self::nothing(node)];
        let mut last = Vec::new();
        for child in Self::children(node) {
            match child.kind() {
                "except_clause" | "except_group_clause" => handlers.push(self.handler(child)),
                "else_clause" | "finally_clause" => {
                    let body = Self::children(child).into_iter().map(|one| self.statement(one)).collect();
                    last.push(Node::new(Self::at(child), Kind::Sequence(body)));
                }
                "ERROR" => last.push(self.error(child)),
                _ => {}
            }
        }
        parts.push(Node::new(at, Kind::Either(handlers)));
        parts.extend(last);
        Node::new(at, Kind::Try(parts))
    }

    fn handler(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        for child in Self::children(node) {
            parts.push(match child.kind() {
                "block" => self.block(child),
                "as_pattern" => self.as_pattern(child),
                _ => Node::new(Self::at(child), Kind::Inert(vec![self.expression(child)])),
            });
        }
        if let Some(alias) = node.child_by_field_name("alias") {
            let target = self.target(alias);
            let error = Node::new(at, Kind::Inert(vec![Self::nothing(node)]));
            parts.insert(0, Node::assign(at, target, error));
        }
        Node::new(at, Kind::Sequence(parts))
    }

    /// `value as name`: what `with` works on.
    fn as_pattern(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let children = Self::children(node);
        let value = children.first().map(|one| self.expression(*one));
        let value = value.unwrap_or_else(|| Self::nothing(node));
        let entered = Node::new(value.at, Kind::Member(value.into(), "__enter__".into()));
        let entered = Node::new(at, Kind::Call(entered.into(), Vec::new()));
        let alias = node.child_by_field_name("alias").map(|alias| Self::children(alias)).unwrap_or_default();
        match alias.first() {
            Some(target) => {
                let target = self.target(*target);
                Node::assign(at, target, entered)
            }
            None => entered,
        }
    }

    fn with(&mut self, node: Parsed<'_>) -> Node {
        let mut parts = Vec::new();
        for child in Self::children(node) {
            if child.kind() != "with_clause" {
                parts.push(self.statement(child));
                continue;
            }
            for item in Self::children(child) {
                let value = item.child_by_field_name("value").unwrap_or(item);
                parts.push(match value.kind() {
                    "as_pattern" => self.as_pattern(value),
                    // `with (a as b, c as d):`
                    "tuple" | "parenthesized_expression" => {
                        let inner = Self::children(value).into_iter().map(|one| match one.kind() {
                            "as_pattern" => self.as_pattern(one),
                            _ => self.expression(one),
                        });
                        Node::new(Self::at(value), Kind::Sequence(inner.collect()))
                    }
                    _ => {
                        let value = self.expression(value);
                        let at = value.at;
                        let entered = Node::new(at, Kind::Member(value.into(), "__enter__".into()));
                        Node::new(at, Kind::Call(entered.into(), Vec::new()))
                    }
                });
            }
        }
        Node::new(Self::at(node), Kind::Sequence(parts))
    }

    /// Each case with its names, which are the subject or a part of it.
    fn matches(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let subjects: Vec<Node> =
            Self::fields(node, "subject").into_iter().map(|one| self.expression(one)).collect();
        let subject = self.declare("match subject");
        let first = Node::new(at, Kind::List(subjects));
        let mut cases = vec![Self::nothing(node)];
        let body = node.child_by_field_name("body").map(Self::children).unwrap_or_default();
        for clause in body {
            let mut parts = Vec::new();
            for child in Self::children(clause) {
                if child.kind() == "case_pattern" {
                    for name in names_in(child) {
                        let is_whole = self.text_of(child) == self.text_of(name);
                        let target = Node::name(Self::at(name), &self.declare(self.text_of(name)));
                        let of = Node::name(at, &subject);
                        let first = Node::new(at, Kind::Number(0));
                        let mut value = Node::new(at, Kind::Index(of.into(), first.into()));
                        if !is_whole {
                            let any = Node::new(at, Kind::Inert(vec![Self::nothing(node)]));
                            let part =
                                Node::new(at, Kind::Index(Node::name(at, &subject).into(), any.into()));
                            value = Node::new(at, Kind::Either(vec![value, part]));
                        }
                        parts.push(Node::assign(at, target, value));
                    }
                } else if child.kind() == "if_clause" {
                    parts.extend(Self::children(child).into_iter().map(|one| self.expression(one)));
                } else {
                    parts.push(self.statement(child));
                }
            }
            cases.push(Node::new(Self::at(clause), Kind::Sequence(parts)));
        }
        let first = Node::assign(at, Node::name(at, &subject), first);
        Node::new(at, Kind::Sequence(vec![first, Node::new(at, Kind::Either(cases))]))
    }

    /// What a value is given to.
    fn target(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "identifier" => {
                let name = self.declare(self.text_of(node));
                Node::name(at, &name)
            }
            "as_pattern_target" | "parenthesized_expression" => match Self::children(node).first() {
                Some(inner) => self.deeper(node, |lower| lower.target(*inner)),
                None => self.hole(node, Why::Syntax),
            },
            "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list" | "expression_list" => self
                .deeper(node, |lower| {
                    let targets = Self::children(node).into_iter().map(|one| lower.target(one)).collect();
                    Node::new(at, Kind::List(targets))
                }),
            "list_splat_pattern" | "list_splat" | "dictionary_splat_pattern" => {
                match Self::children(node).first() {
                    Some(inner) => {
                        let inner = self.deeper(node, |lower| lower.target(*inner));
                        Node::new(at, Kind::Spread(inner.into()))
                    }
                    None => self.hole(node, Why::Syntax),
                }
            }
            _ => self.expression(node),
        }
    }
}

/// The names in a pattern that are given values.
fn names_in(pattern: Parsed<'_>) -> Vec<Parsed<'_>> {
    let mut names = Vec::new();
    let mut left = vec![pattern];
    while let Some(node) = left.pop() {
        let children = Lower::children(node);
        match node.kind() {
            "identifier" => names.push(node),
            // `a.b` is compared with.
            "dotted_name" if children.len() > 1 => {}
            _ => left.extend(children),
        }
    }
    names
}
