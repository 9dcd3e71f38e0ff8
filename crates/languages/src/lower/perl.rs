//! Perl 5, as `ts-parser-perl` 2.0 reads it.
//!
//! Names keep their sigils: `$x`, `@x`, `%x`; functions have none. A reference is what it refers to. Functions of the
//! program are named with their package, and once more as `->name`, by which methods are found whose object is not
//! known.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::Lower;
use crate::tree::{Kind, Node, Span};

mod calls;
mod doubts;
mod expressions;
mod functions;
mod modules;
mod texts;
mod variables;

/// Facts of a whole program, found before it is lowered.
#[derive(Debug, Default)]
pub(super) struct Perl<'t> {
    /// The bodies of here-documents, by where their marks begin.
    bodies: HashMap<usize, (usize, usize)>,
    /// Functions, with their packages.
    functions: HashSet<String>,
    packages: HashSet<&'t str>,
    constants: HashSet<String>,
    /// Names of methods that have been given a value.
    methods: HashSet<Rc<str>>,
    /// The package that is being read.
    package: String,
    /// Whether functions may be called by their names in texts.
    is_lax: bool,
    /// Variables that have been changed so far, in order.
    changed: Vec<Rc<str>>,
    /// A function so far changes what it is given.
    changes_arguments: bool,
    /// Text in patterns may be code.
    runs_patterns: bool,
    doubts: Vec<doubts::Doubt<'t>>,
    /// Calls of the program, and those so far that are in the common tree.
    calls: Vec<(usize, Span)>,
    lowered: HashSet<usize>,
}

impl<'t> Lower<'t> {
    pub(super) fn perl(&mut self, root: Parsed<'_>) -> Node {
        self.pl_survey(root);
        self.perl.package = "main".to_owned();
        let mut parts = self.pl_statements(root);
        parts.extend(self.pl_doubts());
        parts.extend(self.pl_lost_calls());
        Node::sequence(Self::at(root), parts)
    }

    /// Statements in order, but functions and packages first: they have their names from the beginning.
    fn pl_statements(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let outer = self.perl.package.clone();
        let children = Self::children(node);
        let mut parts = Vec::new();
        for child in &children {
            match child.kind() {
                "package_statement" | "class_statement" | "role_statement" => {
                    let is_block = self.pl_package(*child, &mut parts);
                    if !is_block {
                        continue;
                    }
                }
                "subroutine_declaration_statement" | "method_declaration_statement" => {
                    parts.push(self.pl_statement(*child));
                }
                _ => {}
            }
        }
        self.perl.package.clone_from(&outer);
        for child in children {
            match child.kind() {
                "package_statement" | "class_statement" | "role_statement" => self.pl_enter(child),
                "subroutine_declaration_statement" | "method_declaration_statement" => {}
                // The text after the mark is no program.
                "eof_marker" => break,
                _ => parts.push(self.pl_statement(child)),
            }
        }
        self.perl.package = outer;
        parts
    }

    /// A block with names of its own.
    fn pl_block(&mut self, node: Parsed<'_>) -> Node {
        self.begin_block();
        let parts = self.pl_statements(node);
        let at = Self::at(node);
        self.scoped(Node::sequence(at, parts))
    }

    fn pl_block_of(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(block) => self.deeper(block, |lower| lower.pl_block(block)),
            None => Self::nothing(node),
        }
    }

    fn pl_statement(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.pl_statement_of(node))
    }

    fn pl_statement_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "expression_statement" => match Self::children(node).as_slice() {
                [only] => return self.pl(*only),
                all => Kind::Sequence(all.iter().map(|one| self.pl(*one)).collect()),
            },
            "block" | "block_statement" => {
                let block = self.pl_block(node);
                // `last` leaves it.
                Kind::Try(vec![block])
            }
            "subroutine_declaration_statement" | "method_declaration_statement" => {
                return self.pl_declared(node);
            }
            "conditional_statement" => return self.pl_branch(node),
            "loop_statement" => {
                let condition = self.pl_condition(node.child_by_field_name("condition"), node);
                let body = self.pl_block_of(node, "block");
                let last = self.pl_block_of(node, "continue");
                return Node::repeats(at, vec![condition, body, last]);
            }
            "cstyle_for_statement" => return self.pl_for(node),
            "for_statement" => return self.pl_for_each(node),
            "statement_label" => match node.child_by_field_name("statement") {
                Some(inner) => return self.pl_statement(inner),
                None => Kind::Constant,
            },
            "phaser_statement" | "class_phaser_statement" | "defer_statement" => {
                let blocks = Self::children(node).into_iter().filter(|one| one.kind() == "block");
                Kind::Sequence(blocks.map(|one| self.pl_statement(one)).collect())
            }
            "try_statement" => return self.pl_try(node),
            "use_statement" => return self.pl_use(node),
            "format_statement" => return self.pl_format(node),
            "use_version_statement"
            | "data_section"
            | "eof_marker"
            | "heredoc_content"
            | "pod"
            | "yadayada" => Kind::Constant,
            _ => return self.pl(node),
        };
        Node::new(at, kind)
    }

    /// What decides whether a loop goes on. A line that is read is given a name by that.
    fn pl_condition(&mut self, node: Option<Parsed<'_>>, around: Parsed<'_>) -> Node {
        let Some(node) = node else { return Self::nothing(around) };
        let value = self.pl(node);
        let is_line = matches!(node.kind(), "readline_expression" | "fileglob_expression")
            || matches!(self.text_of(node).split(['(', ' ']).next(), Some("readdir" | "readline" | "shift"));
        if is_line { Node::assign(value.at, Node::name(value.at, "$_"), value) } else { value }
    }

    /// Conditions first, then one of the bodies. `elsif` lies inside: it is gone through here.
    fn pl_branch(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        self.begin_block();
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut left = Some(node);
        while let Some(branch) = left.take() {
            if let Some(condition) = branch.child_by_field_name("condition") {
                conditions.push(self.pl(condition));
            }
            bodies.push(self.pl_block_of(branch, "block"));
            let next = Self::children(branch).into_iter();
            left = next.into_iter().find(|one| matches!(one.kind(), "elsif" | "else"));
            if left.is_none() && branch.kind() != "else" {
                bodies.push(Self::nothing(branch));
            }
        }
        let conditions = Node::or(at, conditions);
        let body = Node::sequence(at, vec![conditions, Node::either(at, bodies)]);
        self.scoped(body)
    }

    fn pl_for(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        self.begin_block();
        let mut first = Vec::new();
        for one in Self::fields(node, "initialiser") {
            first.push(self.pl_statement(one));
        }
        let mut parts = Vec::new();
        for one in Self::fields(node, "condition") {
            parts.push(self.pl_statement(one));
        }
        parts.push(self.pl_block_of(node, "block"));
        parts.extend(node.child_by_field_name("iterator").map(|one| self.pl(one)));
        first.push(Node::repeats(at, parts));
        self.scoped(Node::sequence(at, first))
    }

    fn pl_for_each(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let list = node.child_by_field_name("list");
        let over = self.pl_flat(list, at);
        self.begin_block();
        let is_own = Self::has_word(node, &["my", "our", "state"]);
        let mut names = Self::fields(node, "variables");
        names.extend(node.child_by_field_name("variable"));
        let mut targets = Vec::new();
        let mut is_topic = names.is_empty();
        for name in &names {
            let name = self.pl_sigiled("$", *name);
            is_topic |= name == "$_";
            if is_own {
                self.declare(&name);
            }
            targets.push(Node::name(at, &name));
        }
        if names.is_empty() {
            targets.push(Node::name(at, "$_"));
        }
        let target = Node::only(targets, |targets| Node::list(at, targets));
        let (mark, before) = (self.perl.changed.len(), self.jumps);
        let body = self.pl_block_of(node, "block");
        let last = self.pl_block_of(node, "continue");
        let body = Node::sequence(at, vec![body, last]);
        let mut parts = vec![Node::for_each(at, target, over, body, self.jumps > before)];
        let own: Vec<String> = names.iter().map(|name| self.pl_sigiled("$", *name)).collect();
        parts.extend(self.pl_elements_changed(list, mark, &own));
        let inside = self.scoped(Node::sequence(at, parts));
        if is_topic { with_topic(at, inside) } else { inside }
    }

    /// The loop's variable is the element itself: what changes it changes the list. `names`: the variables, `$_` if
    /// there are none.
    fn pl_elements_changed(&mut self, list: Option<Parsed<'_>>, mark: usize, names: &[String]) -> Vec<Node> {
        let mut parts = Vec::new();
        let since = self.perl.changed.get(mark..).unwrap_or_default();
        let is_own = |name: &str| names.iter().any(|own| own == name) || (names.is_empty() && name == "$_");
        if !since.iter().any(|name| is_own(name)) {
            return parts;
        }
        for one in list.map(Self::pl_listed).unwrap_or_default() {
            let inner = match one.kind() {
                "assignment_expression" => one.child_by_field_name("left").unwrap_or(one),
                _ => one,
            };
            let variable = inner.child_by_field_name("variable").unwrap_or(inner);
            if variable.kind() == "array" && self.text_of(variable) == "@_" {
                self.perl.changes_arguments = true;
            }
            let at = Self::at(one);
            let target = self.pl_unfollowed(variable);
            parts.push(Node::assign(at, target, Node::unknown(at)));
        }
        parts
    }

    fn pl_try(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = vec![self.pl_block_of(node, "try_block")];
        self.begin_block();
        let mut inside = Vec::new();
        if let Some(error) = node.child_by_field_name("catch_expr") {
            let name = self.pl_sigiled("$", error);
            self.declare(&name);
            inside.push(Node::assign(at, Node::name(at, &name), Node::unknown(at)));
        }
        inside.push(self.pl_block_of(node, "catch_block"));
        let inside = self.scoped(Node::sequence(at, inside));
        parts.push(Node::either(at, vec![Self::nothing(node), inside]));
        parts.push(self.pl_block_of(node, "finally_block"));
        Node::new(at, Kind::Try(parts))
    }

    /// Whether one of these words stands directly in a node.
    fn has_word(node: Parsed<'_>, words: &[&str]) -> bool {
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| !child.is_named() && words.contains(&child.kind()))
    }

    /// The parts of a list, however it is written.
    fn pl_listed(node: Parsed<'_>) -> Vec<Parsed<'_>> {
        let mut listed = Vec::new();
        let mut left = vec![node];
        while let Some(one) = left.pop() {
            match one.kind() {
                "list_expression" | "parenthesized_expression" => {
                    left.extend(Self::children(one).into_iter().rev());
                }
                _ => listed.push(one),
            }
        }
        listed
    }

    /// Something that is not read.
    fn pl_strange(&self, node: Parsed<'_>) -> Node {
        self.hole(node, Why::Unsupported)
    }
}

/// What has `$_` for itself, and gives it back.
fn with_topic(at: Span, inside: Node) -> Node {
    let kept = format!("$_ before {}", at.0);
    let keep = Node::assign(at, Node::name(at, &kept), Node::name(at, "$_"));
    let value = format!("$_ in {}", at.0);
    let inside = Node::assign(at, Node::name(at, &value), inside);
    let back = Node::assign(at, Node::name(at, "$_"), Node::name(at, &kept));
    Node::sequence(at, vec![keep, inside, back, Node::name(at, &value)])
}
