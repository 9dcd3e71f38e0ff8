//! Statements that neither define nor import.

use ruff_python_ast::{
    ExceptHandler, Expr, Operator, Stmt, StmtAnnAssign, StmtAugAssign, StmtDelete, StmtFor, StmtIf, StmtTry,
    StmtWhile, StmtWith,
};

use super::definitions::after;
use super::expressions::arithmetic;
use super::{Lower, span};
use crate::tree::{Kind, Loop, Node, Span};

impl Lower<'_> {
    pub(super) fn statement(&mut self, node: &Stmt) -> Node {
        self.deeper_at(span(node), |lower| lower.statement_of(node))
    }

    fn statement_of(&mut self, node: &Stmt) -> Node {
        let at = span(node);
        match node {
            Stmt::Expr(one) => Node::sequence(at, vec![self.expression(&one.value)]),
            Stmt::Assign(one) => {
                let value = self.expression(&one.value);
                self.assigned(at, &one.targets, value)
            }
            Stmt::AnnAssign(one) => self.annotated(one),
            Stmt::AugAssign(one) => self.augmented(one),
            Stmt::Return(one) => {
                self.jumps += 1;
                let value = one.value.as_ref().map(|value| self.expression(value).into());
                Node::new(at, Kind::Return(value))
            }
            Stmt::Break(_) | Stmt::Continue(_) => {
                self.jumps += 1;
                Node::nothing(at)
            }
            Stmt::Raise(one) => {
                self.jumps += 1;
                self.inert(at, one.exc.as_deref().into_iter().chain(one.cause.as_deref()))
            }
            Stmt::Assert(one) => self.inert(at, std::iter::once(&*one.test).chain(one.msg.as_deref())),
            Stmt::Delete(one) => self.deletion(one),
            Stmt::Global(one) => self.of_other_scope(at, &one.names),
            Stmt::Nonlocal(one) => self.of_other_scope(at, &one.names),
            // The value of a type alias is computed when something reads it.
            Stmt::Pass(_) | Stmt::TypeAlias(_) => Node::nothing(at),
            Stmt::Import(one) => self.import(one),
            Stmt::ImportFrom(one) => self.import_from(one),
            Stmt::If(one) => self.branch(one),
            Stmt::For(one) => self.for_each(one),
            Stmt::While(one) => self.while_true(one),
            Stmt::Try(one) => self.tries(one),
            Stmt::With(one) => self.with(one),
            Stmt::Match(one) => self.matches(one),
            Stmt::FunctionDef(one) => self.function_definition(one),
            Stmt::ClassDef(one) => self.class_definition(one),
            // Only notebooks have such commands.
            Stmt::IpyEscapeCommand(_) => Node::hole(at, castellan_event::Why::Unsupported),
        }
    }

    fn of_other_scope(&mut self, at: Span, names: &[ruff_python_ast::Identifier]) -> Node {
        if let Some(scope) = self.scopes.last_mut() {
            scope.outer.extend(names.iter().map(|name| name.as_str().into()));
        }
        Node::nothing(at)
    }

    /// `a = b = value`
    fn assigned(&mut self, at: Span, targets: &[Expr], value: Node) -> Node {
        let Some((first, rest)) = targets.split_first() else { return value };
        self.deeper_at(at, |lower| {
            let value = lower.assigned(at, rest, value);
            let target = lower.target(first);
            Node::assign(at, target, value)
        })
    }

    fn annotated(&mut self, node: &StmtAnnAssign) -> Node {
        let at = span(node);
        let annotations = self.annotations([&*node.annotation]);
        let value = node.value.as_ref().map(|value| self.expression(value));
        let made = match value {
            Some(value) => {
                let target = self.target(&node.target);
                Node::assign(at, target, value)
            }
            None if node.target.is_name_expr() => Node::nothing(at),
            None => self.inert(at, [&*node.target]),
        };
        after(annotations, made)
    }

    fn augmented(&mut self, node: &StmtAugAssign) -> Node {
        let at = span(node);
        let right = self.expression(&node.value);
        let target = self.target(&node.target);
        let before = |lower: &mut Self| lower.expression(&node.target);
        let value = match node.op {
            Operator::Add => return Node::new(at, Kind::Augment(target.into(), right.into())),
            // A map changes in place.
            Operator::BitOr => {
                let update = Node::member(at, before(self), "update");
                let with = self.expression(&node.value);
                let changed = Node::call(at, update, vec![with]);
                let value = Node::or(at, vec![before(self), right]);
                return Node::sequence(at, vec![changed, Node::assign(at, target, value)]);
            }
            operator => arithmetic(operator, before(self), right),
        };
        Node::assign(at, target, Node::new(at, value))
    }

    /// A deleted element is taken out, as `pop` does it. A deleted part becomes empty.
    fn deletion(&mut self, node: &StmtDelete) -> Node {
        let mut parts = Vec::new();
        let mut left: Vec<&Expr> = node.targets.iter().rev().collect();
        while let Some(target) = left.pop() {
            if let Expr::Tuple(ruff_python_ast::ExprTuple { elts, .. })
            | Expr::List(ruff_python_ast::ExprList { elts, .. }) = target
            {
                left.extend(elts.iter().rev());
                continue;
            }
            let deleted = self.expression(target);
            let at = deleted.at;
            parts.push(match deleted.kind {
                Kind::Index(of, index) => {
                    let pop = Node::new(at, Kind::Member(of, "pop".into()));
                    Node::call(at, pop, vec![*index])
                }
                kind @ Kind::Slice(..) => {
                    let none = Node::list(at, Vec::new());
                    Node::assign(at, Node::new(at, kind), none)
                }
                kind => Node::new(at, kind),
            });
        }
        Node::inert(span(node), parts)
    }

    /// Conditions first, then one of the bodies.
    fn branch(&mut self, node: &StmtIf) -> Node {
        let at = span(node);
        let mut conditions = vec![self.expression(&node.test)];
        let mut bodies = vec![self.block(at, &node.body)];
        let mut is_complete = false;
        for clause in &node.elif_else_clauses {
            conditions.extend(clause.test.as_ref().map(|test| self.expression(test)));
            is_complete |= clause.test.is_none();
            bodies.push(self.block(span(clause), &clause.body));
        }
        if !is_complete {
            bodies.push(Node::nothing(at));
        }
        Node::branch(at, conditions, bodies)
    }

    fn for_each(&mut self, node: &StmtFor) -> Node {
        let at = span(node);
        let right = self.expression(&node.iter);
        let left = self.target(&node.target);
        let before = self.jumps;
        let body = self.block(at, &node.body);
        let jumps = self.jumps > before;
        let over = Some((left, right));
        let repeats = Node::new(at, Kind::Loop(Box::new(Loop { over, body, jumps, collects: false })));
        let after = self.block(at, &node.orelse);
        Node::sequence(at, vec![repeats, after])
    }

    fn while_true(&mut self, node: &StmtWhile) -> Node {
        let at = span(node);
        let condition = self.expression(&node.test);
        let body = self.block(at, &node.body);
        let body = Node::sequence(at, vec![condition, body]);
        let repeats = Node::repeated(at, body);
        let after = self.block(at, &node.orelse);
        Node::sequence(at, vec![repeats, after])
    }

    fn tries(&mut self, node: &StmtTry) -> Node {
        let at = span(node);
        let body = self.block(at, &node.body);
        let mut handlers = vec![Node::nothing(at)];
        handlers.extend(node.handlers.iter().map(|one| self.handler(one)));
        let handlers = Node::either(at, handlers);
        let last = [&node.orelse, &node.finalbody].map(|body| self.block(at, body));
        Node::new(at, Kind::Try([body, handlers].into_iter().chain(last).collect()))
    }

    fn handler(&mut self, handler: &ExceptHandler) -> Node {
        let ExceptHandler::ExceptHandler(handler) = handler;
        let at = span(handler);
        let mut parts = Vec::new();
        if let Some(name) = &handler.name {
            let target = Node::name(span(name), &self.declare(name));
            let error = Node::unknown(at);
            parts.push(Node::assign(at, target, error));
        }
        parts.extend(handler.type_.iter().map(|one| self.inert(at, [&**one])));
        parts.push(self.block(at, &handler.body));
        Node::sequence(at, parts)
    }

    fn with(&mut self, node: &StmtWith) -> Node {
        let mut parts = Vec::new();
        for item in &node.items {
            let value = self.expression(&item.context_expr);
            let at = span(item);
            let entered = Node::member(value.at, value, "__enter__");
            let entered = Node::call(at, entered, Vec::new());
            parts.push(match &item.optional_vars {
                Some(target) => {
                    let target = self.target(target);
                    Node::assign(at, target, entered)
                }
                None => entered,
            });
        }
        let at = span(node);
        parts.push(self.block(at, &node.body));
        Node::sequence(at, parts)
    }
}
