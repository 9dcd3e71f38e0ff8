//! Ruby, as `tree-sitter-ruby` 0.23 reads it.
//!
//! Local variables have their names, constants theirs, `A::B` in whole; functions are called as `name()`, whoever has
//! them. A block is a function that is given as the argument `&`. Every function of the program takes its object first.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::Lower;
use crate::tree::{Kind, Loop, Node, Span};

mod calls;
mod definitions;
mod expressions;
mod texts;

/// What is known of a whole program before it is gone through, and of where it is being read.
#[derive(Debug, Default)]
pub(super) struct Ruby {
    /// The bodies of here-documents, by where their marks begin.
    bodies: HashMap<usize, (usize, usize)>,
    /// Names of methods that have been given a value.
    methods: HashSet<Rc<str>>,
    /// Variables of each function and block around, and whether it sees those outside of it.
    known: Vec<(HashSet<Rc<str>>, bool)>,
    /// How many classes and modules are around.
    classes: usize,
}

impl Lower<'_> {
    pub(super) fn ruby(&mut self, root: Parsed<'_>) -> Node {
        self.rb_survey(root);
        self.ruby.known.push((HashSet::new(), false));
        let body = self.rb_body(root);
        self.ruby.known.pop();
        body
    }

    fn rb_survey(&mut self, root: Parsed<'_>) {
        let (mut marks, mut bodies) = (Vec::new(), Vec::new());
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            match node.kind() {
                "heredoc_beginning" => marks.push(node.start_byte()),
                "heredoc_body" => bodies.push((node.start_byte(), node.end_byte())),
                _ => {}
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    if marks.len() == bodies.len() {
                        self.ruby.bodies = marks.into_iter().zip(bodies).collect();
                    }
                    return;
                }
            }
        }
    }

    /// Statements, and what handles their errors.
    fn rb_body(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        let mut handlers = Vec::new();
        let mut last = Vec::new();
        let mut is_tried = false;
        for child in Self::children(node) {
            match child.kind() {
                "rescue" => {
                    is_tried = true;
                    handlers.push(self.rb_rescue(child));
                }
                "ensure" => {
                    is_tried = true;
                    last.push(self.rb_body(child));
                }
                "else" => parts.push(self.rb_body(child)),
                "uninterpreted" => break,
                _ => parts.push(self.rb(child)),
            }
        }
        let mut body = match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                Node::new(at, Kind::Sequence(parts))
            }
        };
        if is_tried {
            handlers.insert(0, Self::nothing(node));
            let mut tried = vec![body, Node::new(at, Kind::Either(handlers))];
            tried.extend(last);
            body = Node::new(at, Kind::Try(tried));
        }
        body
    }

    fn rb_rescue(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        if let Some(name) =
            node.child_by_field_name("variable").and_then(|one| Self::children(one).first().copied())
        {
            let target = self.rb_target(name);
            parts.push(Node::assign(at, target, Self::rb_unknown(at)));
        }
        parts.extend(node.child_by_field_name("body").map(|body| self.rb_body(body)));
        Node::new(at, Kind::Sequence(parts))
    }

    /// Conditions first, then one of the bodies. `elsif` lies inside: it is gone through here.
    fn rb_branch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut left = Some(node);
        while let Some(branch) = left.take() {
            if branch.kind() == "else" {
                bodies.push(self.rb_body(branch));
                break;
            }
            conditions.push(self.rb_field(branch, "condition"));
            bodies.push(self.rb_optional(branch.child_by_field_name("consequence"), branch));
            left = branch.child_by_field_name("alternative");
            match left {
                Some(other) if !matches!(other.kind(), "elsif" | "else") => {
                    bodies.push(self.rb(other));
                    break;
                }
                Some(_) => {}
                None => bodies.push(Self::nothing(branch)),
            }
        }
        let conditions = Node::new(at, Kind::Or(conditions));
        Node::new(at, Kind::Sequence(vec![conditions, Node::new(at, Kind::Either(bodies))]))
    }

    fn rb_modifier(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let condition = self.rb_field(node, "condition");
        let body = self.rb_field(node, "body");
        match node.kind() {
            "while_modifier" | "until_modifier" => {
                repeated(at, Node::new(at, Kind::Sequence(vec![condition, body])))
            }
            _ => {
                let bodies = vec![Self::nothing(node), body];
                Node::new(at, Kind::Sequence(vec![condition, Node::new(at, Kind::Either(bodies))]))
            }
        }
    }

    fn rb_loop(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        if node.kind() == "for" {
            let over = node.child_by_field_name("value").and_then(|one| Self::children(one).first().copied());
            let over = self.rb_optional(over, node);
            let target = match node.child_by_field_name("pattern") {
                Some(pattern) => self.rb_target(pattern),
                None => self.error(node),
            };
            let body = self.rb_optional(node.child_by_field_name("body"), node);
            let one = Loop { over: Some((target, over)), body, jumps: true, collects: false };
            return Node::new(at, Kind::Loop(Box::new(one)));
        }
        let condition = self.rb_field(node, "condition");
        let body = self.rb_optional(node.child_by_field_name("body"), node);
        repeated(at, Node::new(at, Kind::Sequence(vec![condition, body])))
    }

    fn rb_case(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let value = node.child_by_field_name("value");
        let mut parts: Vec<Node> = value.map(|value| self.rb(value)).into_iter().collect();
        let mut bodies = Vec::new();
        let mut has_else = false;
        for child in Self::children(node).into_iter().filter(|child| Some(*child) != value) {
            match child.kind() {
                "when" => {
                    for pattern in Self::fields(child, "pattern").into_iter().flat_map(Self::children) {
                        parts.push(self.rb(pattern));
                    }
                    bodies.push(self.rb_optional(child.child_by_field_name("body"), child));
                }
                "in_clause" => {
                    let mut inside: Vec<Node> = child
                        .child_by_field_name("pattern")
                        .map(|pattern| self.rb_pattern(pattern, value))
                        .into_iter()
                        .collect();
                    inside.push(self.rb_optional(child.child_by_field_name("body"), child));
                    bodies.push(Node::new(at, Kind::Sequence(inside)));
                }
                "else" => {
                    has_else = true;
                    bodies.push(self.rb_body(child));
                }
                _ => parts.push(self.rb(child)),
            }
        }
        if !has_else {
            bodies.push(Self::nothing(node));
        }
        let conditions = Node::new(at, Kind::Inert(parts));
        Node::new(at, Kind::Sequence(vec![conditions, Node::new(at, Kind::Either(bodies))]))
    }

    /// What a pattern names may be any part of the value.
    fn rb_pattern(&mut self, node: Parsed<'_>, value: Option<Parsed<'_>>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        let mut left = vec![node];
        while let Some(one) = left.pop() {
            if matches!(one.kind(), "identifier" | "hash_key_symbol") {
                let name = self.rb_declare(self.text_of(one));
                parts.push(Node::assign(at, Node::name(at, &name), Self::rb_unknown(at)));
            }
            left.extend(Self::children(one));
        }
        if let Some(value) = value {
            // A part of it may act.
            let value = self.rb(value);
            parts.push(Node::new(at, Kind::Call(Self::nothing(node).into(), vec![value])));
        }
        Node::new(at, Kind::Sequence(parts))
    }

    fn rb_optional(&mut self, node: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        match node {
            Some(node) if matches!(node.kind(), "then" | "do" | "body_statement" | "block_body") => {
                self.deeper(node, |lower| lower.rb_body(node))
            }
            Some(node) => self.rb(node),
            None => Self::nothing(around),
        }
    }

    fn rb_field(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(child) => self.rb(child),
            None => self.hole(node, Why::Syntax),
        }
    }

    /// Data of which nothing is known.
    fn rb_unknown(at: Span) -> Node {
        Node::new(at, Kind::Inert(vec![Node::new(at, Kind::Constant)]))
    }

    /// Whether a name is a local variable here.
    fn rb_is_local(&self, name: &str) -> bool {
        for (names, sees_outside) in self.ruby.known.iter().rev() {
            if names.contains(name) {
                return true;
            }
            if !sees_outside {
                return false;
            }
        }
        false
    }

    /// A name gets a value here: that of a variable around, or a new one.
    fn rb_declare(&mut self, name: &str) -> Rc<str> {
        if self.rb_is_local(name) { name.into() } else { self.rb_own(name) }
    }

    /// A variable of the function or block itself.
    fn rb_own(&mut self, name: &str) -> Rc<str> {
        let name = self.declare(name);
        if let Some((names, _)) = self.ruby.known.last_mut() {
            names.insert(Rc::clone(&name));
        }
        name
    }
}

fn repeated(at: Span, body: Node) -> Node {
    Node::new(at, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })))
}
