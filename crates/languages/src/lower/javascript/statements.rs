//! Statements that neither define nor import.

use castellan_event::Why;
use oxc_ast::ast::{
    CatchClause, ForStatement, ForStatementInit, ForStatementLeft, IfStatement, Statement, SwitchStatement,
    TryStatement, VariableDeclaration,
};

use super::super::Lower;
use super::span;
use crate::tree::{Kind, Loop, Node, Span};

impl Lower<'_> {
    pub(super) fn js_statement(&mut self, node: &Statement<'_>) -> Node {
        self.deeper_at(span(node), |lower| lower.js_statement_of(node))
    }

    fn js_statement_of(&mut self, node: &Statement<'_>) -> Node {
        let at = span(node);
        match node {
            Statement::ExpressionStatement(one) => Node::sequence(at, vec![self.js(&one.expression)]),
            Statement::BlockStatement(one) => self.js_block(at, &one.body),
            Statement::BreakStatement(_) | Statement::ContinueStatement(_) => {
                self.jumps += 1;
                Node::nothing(at)
            }
            Statement::DebuggerStatement(_) | Statement::EmptyStatement(_) => Node::nothing(at),
            Statement::DoWhileStatement(one) => {
                let parts = vec![self.js_statement(&one.body), self.js(&one.test)];
                Node::repeats(at, parts)
            }
            Statement::WhileStatement(one) => {
                let parts = vec![self.js(&one.test), self.js_statement(&one.body)];
                Node::repeats(at, parts)
            }
            Statement::ForStatement(one) => self.js_for(one),
            Statement::ForInStatement(one) => {
                // The keys are texts or numbers.
                let right = Node::inert(at, vec![self.js(&one.right)]);
                self.js_for_each(at, &one.left, right, &one.body)
            }
            Statement::ForOfStatement(one) => {
                let right = self.js(&one.right);
                self.js_for_each(at, &one.left, right, &one.body)
            }
            Statement::IfStatement(one) => self.js_branch(one),
            Statement::LabeledStatement(one) => self.js_statement(&one.body),
            Statement::ReturnStatement(one) => {
                self.jumps += 1;
                let value = one.argument.as_ref().map(|value| self.js(value).into());
                Node::new(at, Kind::Return(value))
            }
            Statement::SwitchStatement(one) => self.js_switch(one),
            Statement::ThrowStatement(one) => {
                // The handler that catches it is not followed: it may be any.
                self.jumps += 1;
                let value = self.js(&one.argument);
                Node::assign(at, Node::nothing(at), value)
            }
            Statement::TryStatement(one) => self.js_try(one),
            Statement::WithStatement(one) => {
                // Its names may be the object's.
                let object = self.js(&one.object);
                let body = self.js_statement(&one.body);
                Node::sequence(at, vec![object, Node::hole(at, Why::Unsupported), body])
            }
            other => match (other.as_declaration(), other.as_module_declaration()) {
                (Some(declaration), _) => self.js_declaration(declaration),
                (None, Some(module)) => self.js_module(module),
                (None, None) => Node::hole(at, Why::Unsupported),
            },
        }
    }

    /// A block with names of its own.
    pub(super) fn js_block(&mut self, at: Span, body: &[Statement<'_>]) -> Node {
        self.js_scope(at, |lower| Node::sequence(at, lower.js_statements(body)))
    }

    pub(super) fn js_variables(&mut self, node: &VariableDeclaration<'_>) -> Node {
        let mut parts = Vec::new();
        for one in &node.declarations {
            let at = span(one);
            let value = self.js_optional(at, one.init.as_ref());
            let target = self.js_binding(&one.id, node.kind.is_var());
            // A loop's `var x;` leaves the value that was there.
            if one.init.is_some() || !node.kind.is_var() {
                parts.push(Node::assign(at, target, value));
            }
        }
        Node::sequence(span(node), parts)
    }

    /// Conditions first, then one of the bodies. `else if` is nested: the loop goes through it.
    fn js_branch(&mut self, node: &IfStatement<'_>) -> Node {
        let at = span(node);
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut left = Some(node);
        while let Some(branch) = left.take() {
            conditions.push(self.js(&branch.test));
            bodies.push(self.js_statement(&branch.consequent));
            match &branch.alternate {
                Some(Statement::IfStatement(next)) => left = Some(next),
                Some(last) => bodies.push(self.js_statement(last)),
                None => bodies.push(Node::nothing(at)),
            }
        }
        Node::branch(at, conditions, bodies)
    }

    fn js_for(&mut self, node: &ForStatement<'_>) -> Node {
        let at = span(node);
        self.js_scope(at, |lower| {
            let mut first = Vec::new();
            match &node.init {
                Some(ForStatementInit::VariableDeclaration(one)) => first.push(lower.js_variables(one)),
                Some(other) => first.extend(other.as_expression().map(|one| lower.js(one))),
                None => {}
            }
            let mut parts: Vec<Node> = node.test.iter().map(|one| lower.js(one)).collect();
            parts.push(lower.js_statement(&node.body));
            parts.extend(node.update.iter().map(|one| lower.js(one)));
            first.push(Node::repeats(at, parts));
            Node::sequence(at, first)
        })
    }

    fn js_for_each(
        &mut self,
        at: Span,
        left: &ForStatementLeft<'_>,
        right: Node,
        body: &Statement<'_>,
    ) -> Node {
        self.js_scope(at, |lower| {
            let mut first = None;
            let left = match left {
                ForStatementLeft::VariableDeclaration(one) => match one.declarations.first() {
                    Some(name) => {
                        // `for (var x = f() in y)`
                        first = name.init.as_ref().map(|value| lower.js(value));
                        lower.js_binding(&name.id, one.kind.is_var())
                    }
                    None => Node::hole(at, Why::Syntax),
                },
                other => match other.as_assignment_target() {
                    Some(target) => lower.js_target(target),
                    None => Node::hole(at, Why::Syntax),
                },
            };
            let before = lower.jumps;
            let body = lower.js_statement(body);
            let jumps = lower.jumps > before;
            let one = Loop { over: Some((left, right)), body, jumps, collects: false };
            let repeats = Node::new(at, Kind::Loop(Box::new(one)));
            Node::sequence(at, first.into_iter().chain([repeats]).collect())
        })
    }

    fn js_try(&mut self, node: &TryStatement<'_>) -> Node {
        let at = span(node);
        let mut parts = vec![self.js_block(span(&*node.block), &node.block.body)];
        if let Some(handler) = &node.handler {
            let handler = self.js_handler(at, handler);
            parts.push(Node::either(at, vec![Node::nothing(at), handler]));
        }
        parts.extend(node.finalizer.iter().map(|last| self.js_block(span(&**last), &last.body)));
        Node::new(at, Kind::Try(parts))
    }

    fn js_handler(&mut self, at: Span, handler: &CatchClause<'_>) -> Node {
        self.js_scope(at, |lower| {
            let mut inside = Vec::new();
            if let Some(parameter) = &handler.param {
                let target = lower.js_binding(&parameter.pattern, false);
                let error = Node::inert(at, vec![Node::nothing(span(handler))]);
                inside.push(Node::assign(at, target, error));
            }
            inside.push(lower.js_block(span(&*handler.body), &handler.body.body));
            Node::sequence(at, inside)
        })
    }

    /// Each case may run, and the cases after it too.
    fn js_switch(&mut self, node: &SwitchStatement<'_>) -> Node {
        let at = span(node);
        let value = self.js(&node.discriminant);
        self.js_scope(at, |lower| {
            let mut parts = vec![value];
            for case in &node.cases {
                let at = span(case);
                parts.extend(case.test.iter().map(|test| lower.js(test)));
                let body = case.consequent.iter().map(|one| lower.js_statement(one)).collect();
                let body = Node::sequence(at, body);
                parts.push(Node::either(at, vec![Node::nothing(at), body]));
            }
            Node::new(at, Kind::Try(vec![Node::sequence(at, parts)]))
        })
    }
}
