//! The parser's trees to the common tree: one file for each language. It must not know what anything means.

use std::collections::HashSet;
use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use crate::language::Language;
use crate::limits::{ERRORS_MAX, NODES_MIN, NODES_PER_BYTE, TREE_DEPTH_MAX};
use crate::tree::{Kind, Node, Span};

mod javascript;
mod lua;
mod numbers;
mod perl;
mod php;
mod python;
mod ruby;

pub(crate) use javascript::javascript;
pub(crate) use php::{class_name, function_name, php};
pub(crate) use python::{python, span};
pub(crate) use ruby::ruby;

pub(crate) fn lower(language: Language, text: &str, root: Parsed<'_>) -> Node {
    let mut lower = Lower::of(text);
    let tree = match language {
        Language::Perl => lower.perl(root),
        Language::Lua => lower.lua(root),
        // These have readers of their own, or another parser.
        Language::Python
        | Language::JavaScript
        | Language::Ruby
        | Language::Php
        | Language::PowerShell
        | Language::Batch
        | Language::AppleScript => Lower::nothing(root),
    };
    if !root.has_error() {
        return tree;
    }
    let at = tree.at;
    Node::new(at, Kind::Sequence(std::iter::once(tree).chain(errors(root)).collect()))
}

/// Every part that does not parse, wherever it stands.
fn errors(root: Parsed<'_>) -> Vec<Node> {
    let mut errors = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_error = node.is_error() || node.is_missing();
        if is_error {
            errors.push(Node::new(Lower::at(node), Kind::Hole(Why::Syntax)));
        }
        if node.has_error() && !is_error && errors.len() < ERRORS_MAX && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return errors;
            }
        }
    }
}

/// The names that a function or block has of its own.
#[derive(Debug, Default)]
struct Names {
    locals: Vec<Rc<str>>,
    /// Names of another scope.
    outer: HashSet<Rc<str>>,
    is_class: bool,
    /// Only what is declared for the block is its own: a comprehension.
    is_block: bool,
}

struct Lower<'t> {
    text: &'t str,
    depth: usize,
    /// Nodes so far that were gone into. What is changed in place is gone into twice, as a value and as a target.
    nodes: usize,
    /// Statements so far that leave a loop or function in the middle.
    jumps: usize,
    scopes: Vec<Names>,
    php: php::Surroundings,
    lua: Vec<lua::End>,
    perl: perl::Perl<'t>,
    ruby: ruby::Ruby,
}

impl<'t> Lower<'t> {
    fn of(text: &'t str) -> Lower<'t> {
        Lower {
            text,
            depth: 0,
            nodes: 0,
            jumps: 0,
            scopes: vec![Names::default()],
            perl: perl::Perl::default(),
            ruby: ruby::Ruby::default(),
            php: Default::default(),
            lua: Vec::new(),
        }
    }

    fn at(node: Parsed<'_>) -> Span {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        (place(node.start_byte()), place(node.end_byte()))
    }

    fn text_of(&self, node: Parsed<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn hole(&self, node: Parsed<'_>, why: Why) -> Node {
        Node::new(Self::at(node), Kind::Hole(why))
    }

    fn nothing(node: Parsed<'_>) -> Node {
        Node::new(Self::at(node), Kind::Constant)
    }

    /// Goes one level down, as far as that is let.
    fn deeper(&mut self, node: Parsed<'_>, lower: impl FnOnce(&mut Self) -> Node) -> Node {
        if node.is_error() || node.is_missing() {
            return self.error(node);
        }
        self.deeper_at(Self::at(node), lower)
    }

    /// Goes one level down at this place, within the limits.
    fn deeper_at(&mut self, at: Span, lower: impl FnOnce(&mut Self) -> Node) -> Node {
        if self.depth >= TREE_DEPTH_MAX {
            return Node::new(at, Kind::Hole(Why::Nesting));
        }
        self.nodes += 1;
        if self.nodes > NODES_MIN + NODES_PER_BYTE * self.text.len() {
            return Node::new(at, Kind::Hole(Why::Budget));
        }
        self.depth += 1;
        let lowered = lower(self);
        self.depth -= 1;
        lowered
    }

    fn error(&self, node: Parsed<'_>) -> Node {
        self.hole(node, Why::Syntax)
    }

    /// Returns the named children without comments and the bodies of here-documents, which the grammar allows anywhere.
    /// Errors stay: the grammar may mark them as such children, too.
    fn children<'p>(node: Parsed<'p>) -> Vec<Parsed<'p>> {
        let mut cursor = node.walk();
        let children = node.named_children(&mut cursor);
        children.filter(|child| !child.is_extra() || child.is_error()).collect()
    }

    fn fields<'p>(node: Parsed<'p>, name: &str) -> Vec<Parsed<'p>> {
        let mut cursor = node.walk();
        node.children_by_field_name(name, &mut cursor).filter(Parsed::is_named).collect()
    }

    /// The operands of operators that lie deep inside each other on the left: `a + b + c`.
    fn operands<'p>(node: Parsed<'p>, operators: &[&str]) -> Vec<Parsed<'p>> {
        let is_same = |one: &Parsed<'_>| {
            one.kind() == node.kind()
                && one.child_by_field_name("operator").is_some_and(|sign| operators.contains(&sign.kind()))
        };
        let (mut left, mut right) = (Some(node), Vec::new());
        while let Some(one) = left.filter(is_same) {
            right.extend(one.child_by_field_name("right"));
            left = one.child_by_field_name("left");
        }
        left.into_iter().chain(right.into_iter().rev()).collect()
    }

    /// A name gets a value here.
    fn declare(&mut self, name: &str) -> Rc<str> {
        let name: Rc<str> = name.into();
        if let Some(scope) = self.scopes.last_mut() {
            scope.locals.push(Rc::clone(&name));
        }
        name
    }

    /// A name of the function around gets a value here.
    fn declare_outside(&mut self, name: &str) -> Rc<str> {
        let name: Rc<str> = name.into();
        if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| !scope.is_block) {
            scope.locals.push(Rc::clone(&name));
        }
        name
    }

    /// Begins a block, whose names are its own.
    fn begin_block(&mut self) {
        self.scopes.push(Names { is_block: true, ..Names::default() });
    }

    /// Ends the block around a node.
    fn scoped(&mut self, inside: Node) -> Node {
        Node::new(inside.at, Kind::Scope(self.locals(), inside.into()))
    }

    /// The names of a scope that ends.
    fn locals(&mut self) -> Vec<Rc<str>> {
        let Some(scope) = self.scopes.pop() else { return Vec::new() };
        let mut locals = scope.locals;
        locals.sort();
        locals.dedup();
        locals.retain(|name| !scope.outer.contains(name));
        locals
    }
}
