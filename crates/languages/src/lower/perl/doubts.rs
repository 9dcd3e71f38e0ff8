//! Places where Perl may read other tokens than the grammar: Perl knows at each name whether it takes an operand.

use std::collections::HashSet;

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::limits::ERRORS_MAX;
use crate::tree::{Kind, Node, Span};

/// Functions before which `<<` always begins a here-document.
const BEFORE_TEXT: &[&str] = &[
    "print", "printf", "say", "die", "warn", "return", "exec", "system", "eval", "push", "unshift", "join",
    "sprintf", "lc", "uc", "croak", "confess", "carp", "split",
];

/// Nodes that run a function.
const CALLS: &[&str] = &[
    "ambiguous_function_call_expression",
    "coderef_call_expression",
    "eval_expression",
    "func1op_call_expression",
    "function_call_expression",
    "method_call_expression",
    "require_expression",
];

/// Functions that run nothing, and to which a program may assign.
const PARTS: &[&str] = &["substr", "vec", "pos", "keys", "reverse"];

/// A place, and the name on which its meaning depends: a constant takes no operand.
#[derive(Debug)]
pub(super) struct Doubt<'t> {
    at: Span,
    name: Option<&'t str>,
}

impl<'t> Lower<'t> {
    /// Returns the doubt about a node.
    pub(super) fn pl_doubt(&self, node: Parsed<'_>) -> Option<Doubt<'t>> {
        let at = Self::at(node);
        match node.kind() {
            "pod" => (!is_between_statements(node)).then_some(Doubt { at, name: None }),
            // The grammar adds a bracket that is not there, and calls it no error.
            ")" | "]" | "}" => node.byte_range().is_empty().then_some(Doubt { at, name: None }),
            // `foo /1; #/; rm()`: a quotient and a comment, or a pattern and a call.
            "bareword" => {
                let after = self.text.get(node.end_byte()..)?.trim_start();
                let end = match after.chars().next()? {
                    '/' => '/',
                    '?' => '?',
                    '<' => '>',
                    _ => return None,
                };
                let is_open = after.get(1..)?.contains(end);
                is_open.then(|| Doubt { at, name: Some(self.text_of(node)) })
            }
            // `foo <<E`: a here-document, or a shift and more lines of code.
            "heredoc_token" | "command_heredoc_token" => {
                let call = node.parent().filter(|one| one.kind() == "ambiguous_function_call_expression")?;
                let function = call.child_by_field_name("function").map(|one| self.text_of(one))?;
                (!BEFORE_TEXT.contains(&function)).then_some(Doubt { at, name: None })
            }
            _ => None,
        }
    }

    pub(super) fn pl_note_call(&mut self, node: Parsed<'_>) {
        let function = || node.child_by_field_name("function").map(|one| self.text_of(one));
        if CALLS.contains(&node.kind()) && !function().is_some_and(|name| PARTS.contains(&name)) {
            self.perl.calls.push((node.id(), Self::at(node)));
        }
    }

    /// Returns a `Hole` for each call that the common tree lacks.
    pub(super) fn pl_lost_calls(&self) -> Vec<Node> {
        let lost = self.perl.calls.iter().filter(|(id, _)| !self.perl.lowered.contains(id));
        lost.take(ERRORS_MAX).map(|(_, at)| Node::new(*at, Kind::Hole(Why::Unsupported))).collect()
    }

    /// Returns a `Hole` for each doubt that no constant settles.
    pub(super) fn pl_doubts(&mut self) -> Vec<Node> {
        let settled = |name: Option<&str>, constants: &HashSet<String>| {
            name.is_some_and(|name| constants.contains(name) || NULLARY.contains(&name))
        };
        let doubts = std::mem::take(&mut self.perl.doubts).into_iter();
        let left = doubts.filter(|doubt| !settled(doubt.name, &self.perl.constants));
        left.map(|doubt| Node::new(doubt.at, Kind::Hole(Why::Syntax))).collect()
    }
}

/// Names that the grammar reads as words, and that take no operand.
const NULLARY: &[&str] =
    &["STDIN", "STDOUT", "STDERR", "ARGV", "time", "wait", "times", "wantarray", "fork", "getppid"];

/// Reports whether a documentation part begins where Perl expects a statement. Elsewhere its `=` is an assignment.
fn is_between_statements(pod: Parsed<'_>) -> bool {
    let is_list = pod.parent().is_none_or(|parent| matches!(parent.kind(), "source_file" | "block"));
    let mut before = pod.prev_sibling();
    while let Some(one) = before.filter(Parsed::is_extra) {
        before = one.prev_sibling();
    }
    is_list && before.is_none_or(|one| one.kind() != "expression_statement")
}
