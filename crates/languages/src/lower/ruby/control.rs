//! Statements, branches, loops, patterns, and what leaves or handles them.

use castellan_event::Why;
use ruby_prism::{
    ArgumentsNode, BeginNode, CaseMatchNode, CaseNode, ForNode, IfNode, Node as Parsed, RescueNode,
    StatementsNode,
};

use super::super::Lower;
use super::{constant, span};
use crate::tree::{Kind, Loop, Node, Span};

impl Lower<'_> {
    /// What is made of statements.
    pub(super) fn rb_control(&mut self, node: &Parsed<'_>) -> Node {
        let at = span(&node.location());
        by_kind! { node;
            as_program_node one => self.rb_statements(at, Some(one.statements())),
            as_statements_node one => self.rb_statements(at, Some(one)),
            as_begin_node one => self.rb_begin(&one),
            as_parentheses_node one => self.rb_body(at, one.body()),
            as_pre_execution_node one => self.rb_statements(at, one.statements()),
            as_post_execution_node one => self.rb_statements(at, one.statements()),
            as_if_node one => self.rb_if(&one),
            as_unless_node one => {
                let condition = self.rb(&one.predicate());
                let otherwise = one.else_clause().and_then(|other| other.statements());
                let bodies = [one.statements(), otherwise].map(|body| self.rb_statements(at, body));
                Node::branch(at, vec![condition], bodies.into())
            },
            as_while_node one => self.rb_while(at, &one.predicate(), one.statements()),
            as_until_node one => self.rb_while(at, &one.predicate(), one.statements()),
            as_for_node one => self.rb_for(&one),
            as_case_node one => self.rb_case(&one),
            as_case_match_node one => self.rb_case_match(&one),
            as_match_predicate_node one => self.rb_pattern(at, one.pattern(), Some(one.value())),
            as_match_required_node one => self.rb_pattern(at, one.pattern(), Some(one.value())),
            as_match_write_node one => {
                let mut parts: Vec<Node> = one.targets().iter().map(|name| self.rb_nameless(at, &name)).collect();
                parts.push(self.rb_call(&one.call()));
                Node::sequence(at, parts)
            },
            as_rescue_modifier_node one => {
                let parts = [one.expression(), one.rescue_expression()].map(|part| self.rb(&part));
                Node::or(at, parts.into())
            },
            as_pinned_expression_node one => self.rb(&one.expression()),
            as_pinned_variable_node one => self.rb(&one.variable()),
            as_return_node one => self.rb_jump(at, one.arguments()),
            as_next_node one => self.rb_jump(at, one.arguments()),
            as_break_node one => self.rb_jump(at, one.arguments()),
            as_redo_node _ => self.rb_again(at),
            as_retry_node _ => self.rb_again(at),
            _ => Node::hole(at, Why::Unsupported),
        }
    }

    pub(super) fn rb_statements(&mut self, at: Span, node: Option<StatementsNode<'_>>) -> Node {
        let parts = node.map(|node| self.rb_all(&node.body())).unwrap_or_default();
        if parts.is_empty() {
            return Node::nothing(at);
        }
        Node::only(parts, |parts| Node::sequence(at, parts))
    }

    /// The body of a definition or of parentheses.
    pub(super) fn rb_body(&mut self, at: Span, body: Option<Parsed<'_>>) -> Node {
        body.map_or_else(
            || Node::nothing(at),
            |body| {
                by_kind! { body;
                    as_statements_node one => self.rb_statements(at, Some(one)),
                    as_begin_node one => self.rb_begin(&one),
                    _ => self.rb(&body),
                }
            },
        )
    }

    /// Statements, and what handles their errors.
    fn rb_begin(&mut self, node: &BeginNode<'_>) -> Node {
        let at = span(&node.location());
        let mut body = self.rb_statements(at, node.statements());
        let (mut clause, mut handlers) = (node.rescue_clause(), vec![Node::nothing(at)]);
        let is_tried = clause.is_some() || node.ensure_clause().is_some();
        while let Some(one) = clause {
            handlers.push(self.rb_rescue(&one));
            clause = one.subsequent();
        }
        if let Some(other) = node.else_clause() {
            body = Node::sequence(at, vec![body, self.rb_statements(at, other.statements())]);
        }
        if !is_tried {
            return body;
        }
        let last = node.ensure_clause().map(|last| self.rb_statements(at, last.statements()));
        let handlers = Node::either(at, handlers);
        Node::new(at, Kind::Try([body, handlers].into_iter().chain(last).collect()))
    }

    fn rb_rescue(&mut self, node: &RescueNode<'_>) -> Node {
        let at = span(&node.location());
        let classes = node.exceptions();
        let mut parts: Vec<Node> =
            classes.iter().filter(|class| constant(class).is_none()).map(|class| self.rb(&class)).collect();
        parts.extend(node.reference().map(|name| self.rb_nameless(at, &name)));
        parts.push(self.rb_statements(at, node.statements()));
        Node::sequence(at, parts)
    }

    /// A target that is given data of which nothing is known.
    fn rb_nameless(&mut self, at: Span, target: &Parsed<'_>) -> Node {
        let target = self.rb_target(target);
        Node::assign(at, target, Node::unknown(at))
    }

    /// Conditions first, then one of the bodies. `elsif` lies inside: it is gone through here.
    fn rb_if(&mut self, node: &IfNode<'_>) -> Node {
        let at = span(&node.location());
        let mut conditions = vec![self.rb(&node.predicate())];
        let mut bodies = vec![self.rb_statements(at, node.statements())];
        let mut left = node.subsequent();
        while let Some(other) = left.take() {
            by_kind! { other;
                as_if_node one => {
                    conditions.push(self.rb(&one.predicate()));
                    bodies.push(self.rb_statements(at, one.statements()));
                    left = one.subsequent();
                },
                as_else_node one => {
                    bodies.push(self.rb_statements(at, one.statements()));
                    return Node::branch(at, conditions, bodies);
                },
                _ => bodies.push(self.rb(&other)),
            }
        }
        bodies.push(Node::nothing(at));
        Node::branch(at, conditions, bodies)
    }

    fn rb_while(&mut self, at: Span, condition: &Parsed<'_>, body: Option<StatementsNode<'_>>) -> Node {
        let condition = self.rb(condition);
        let body = self.rb_statements(at, body);
        Node::repeats(at, vec![condition, body])
    }

    fn rb_for(&mut self, node: &ForNode<'_>) -> Node {
        let at = span(&node.location());
        let over = self.rb(&node.collection());
        let target = self.rb_target(&node.index());
        let body = self.rb_statements(at, node.statements());
        Node::new(
            at,
            Kind::Loop(Box::new(Loop { over: Some((target, over)), body, jumps: true, collects: false })),
        )
    }

    fn rb_case(&mut self, node: &CaseNode<'_>) -> Node {
        let at = span(&node.location());
        let mut conditions: Vec<Node> = node.predicate().map(|value| self.rb(&value)).into_iter().collect();
        let mut bodies = Vec::new();
        for one in node.conditions().iter().filter_map(|one| one.as_when_node()) {
            conditions.extend(self.rb_all(&one.conditions()));
            bodies.push(self.rb_statements(at, one.statements()));
        }
        let otherwise = node.else_clause().and_then(|other| other.statements());
        bodies.push(self.rb_statements(at, otherwise));
        Node::branch(at, conditions, bodies)
    }

    fn rb_case_match(&mut self, node: &CaseMatchNode<'_>) -> Node {
        let at = span(&node.location());
        let conditions = node.predicate().map(|value| self.rb(&value)).into_iter().collect();
        let mut bodies = Vec::new();
        for one in node.conditions().iter().filter_map(|one| one.as_in_node()) {
            let pattern = self.rb_pattern(at, one.pattern(), node.predicate());
            let body = self.rb_statements(at, one.statements());
            bodies.push(Node::sequence(at, vec![pattern, body]));
        }
        let otherwise = node.else_clause().and_then(|other| other.statements());
        bodies.push(self.rb_statements(at, otherwise));
        Node::branch(at, conditions, bodies)
    }

    /// What a pattern names may be any part of the value.
    fn rb_pattern(&mut self, at: Span, pattern: Parsed<'_>, value: Option<Parsed<'_>>) -> Node {
        let (mut left, condition) = guarded(pattern);
        let mut parts = Vec::new();
        while let Some(one) = left.pop() {
            match pattern_parts(&one) {
                Some(inner) => left.extend(inner),
                None if one.as_local_variable_target_node().is_some() => {
                    parts.push(self.rb_nameless(at, &one))
                }
                // Only its value is compared.
                None if constant(&one).is_some() => {}
                None => parts.push(self.rb(&one)),
            }
        }
        if let Some(value) = value {
            // A part of it may act.
            let value = self.rb(&value);
            parts.push(Node::call(at, Node::nothing(at), vec![value]));
        }
        parts.extend(condition.map(|condition| self.rb(&condition)));
        Node::sequence(at, parts)
    }

    fn rb_jump(&mut self, at: Span, arguments: Option<ArgumentsNode<'_>>) -> Node {
        self.jumps += 1;
        let mut given = arguments.map(|list| self.rb_all(&list.arguments())).unwrap_or_default();
        let value = if given.len() > 1 { Some(Node::list(at, given)) } else { given.pop() };
        Node::new(at, Kind::Return(value.map(Box::new)))
    }

    fn rb_again(&mut self, at: Span) -> Node {
        self.jumps += 1;
        Node::nothing(at)
    }
}

/// The patterns of `PATTERN if CONDITION`, and the condition.
fn guarded(pattern: Parsed<'_>) -> (Vec<Parsed<'_>>, Option<Parsed<'_>>) {
    let (statements, condition) = by_kind! { pattern;
        as_if_node one => (one.statements(), Some(one.predicate())),
        as_unless_node one => (one.statements(), Some(one.predicate())),
        _ => return (vec![pattern], None),
    };
    let patterns = statements.map(|several| several.body().iter().collect());
    (patterns.unwrap_or_default(), condition)
}

/// The patterns directly in a pattern.
fn pattern_parts<'p>(pattern: &Parsed<'p>) -> Option<Vec<Parsed<'p>>> {
    Some(by_kind! { pattern;
        as_array_pattern_node one => one.requireds().iter().chain(one.rest()).chain(&one.posts()).collect(),
        as_find_pattern_node one => {
            let ends = [one.left().as_node(), one.right().as_node()];
            ends.into_iter().chain(&one.requireds()).collect()
        },
        as_hash_pattern_node one => one.elements().iter().chain(one.rest()).collect(),
        as_assoc_node one => vec![one.value()],
        as_implicit_node one => vec![one.value()],
        as_alternation_pattern_node one => vec![one.left(), one.right()],
        as_capture_pattern_node one => vec![one.value(), one.target().as_node()],
        as_splat_node one => one.expression().into_iter().collect(),
        as_assoc_splat_node one => one.value().into_iter().collect(),
        as_parentheses_node one => one.body().into_iter().collect(),
        as_implicit_rest_node _ => Vec::new(),
        as_no_keywords_parameter_node _ => Vec::new(),
        _ => return None,
    })
}
