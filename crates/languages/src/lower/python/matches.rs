//! `match`: each case with its names, which are the subject or a part of it.

use ruff_python_ast::{Identifier, Pattern, StmtMatch};

use super::{Lower, span};
use crate::tree::Node;

impl Lower<'_> {
    pub(super) fn matches(&mut self, node: &StmtMatch) -> Node {
        let at = span(node);
        let value = self.expression(&node.subject);
        let subject = self.declare("match subject");
        let whole = || Node::name(at, &subject);
        let mut cases = vec![Node::nothing(at)];
        for case in &node.cases {
            let mut parts = Vec::new();
            let is_whole = matches!(&case.pattern, Pattern::MatchAs(one) if one.pattern.is_none());
            for name in names_in(&case.pattern) {
                let target = Node::name(span(name), &self.declare(name));
                let value = if is_whole {
                    whole()
                } else {
                    let any = Node::unknown(at);
                    let part = Node::index(at, whole(), any);
                    Node::either(at, vec![whole(), part])
                };
                parts.push(Node::assign(at, target, value));
            }
            parts.extend(case.guard.iter().map(|guard| self.expression(guard)));
            parts.push(self.block(span(case), &case.body));
            cases.push(Node::sequence(span(case), parts));
        }
        let first = Node::assign(at, whole(), value);
        Node::sequence(at, vec![first, Node::either(at, cases)])
    }
}

/// The names in a pattern that get values.
fn names_in(pattern: &Pattern) -> Vec<&Identifier> {
    let mut names = Vec::new();
    let mut left = vec![pattern];
    while let Some(pattern) = left.pop() {
        match pattern {
            Pattern::MatchAs(one) => {
                names.extend(&one.name);
                left.extend(one.pattern.as_deref());
            }
            Pattern::MatchStar(one) => names.extend(&one.name),
            Pattern::MatchMapping(one) => {
                names.extend(&one.rest);
                left.extend(&one.patterns);
            }
            Pattern::MatchSequence(one) => left.extend(&one.patterns),
            Pattern::MatchOr(one) => left.extend(&one.patterns),
            Pattern::MatchClass(one) => {
                left.extend(&one.arguments.patterns);
                left.extend(one.arguments.keywords.iter().map(|keyword| &keyword.pattern));
            }
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
        }
    }
    names
}
