//! `match`: each case with its names, which are the subject or a part of it.

use ruff_python_ast::{Identifier, Pattern, StmtMatch};

use super::{Lower, nothing, span};
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn matches(&mut self, node: &StmtMatch) -> Node {
        let at = span(node);
        let value = self.expression(&node.subject);
        let subject = self.declare("match subject");
        let whole = || Node::name(at, &subject);
        let mut cases = vec![nothing(at)];
        for case in &node.cases {
            let mut parts = Vec::new();
            let is_whole = matches!(&case.pattern, Pattern::MatchAs(one) if one.pattern.is_none());
            for name in names_in(&case.pattern) {
                let target = Node::name(span(name), &self.declare(name));
                let value = if is_whole {
                    whole()
                } else {
                    let any = Node::new(at, Kind::Inert(vec![nothing(at)]));
                    let part = Node::new(at, Kind::Index(whole().into(), any.into()));
                    Node::new(at, Kind::Either(vec![whole(), part]))
                };
                parts.push(Node::assign(at, target, value));
            }
            parts.extend(case.guard.iter().map(|guard| self.expression(guard)));
            parts.push(self.block(span(case), &case.body));
            cases.push(Node::new(span(case), Kind::Sequence(parts)));
        }
        let first = Node::assign(at, whole(), value);
        Node::new(at, Kind::Sequence(vec![first, Node::new(at, Kind::Either(cases))]))
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
