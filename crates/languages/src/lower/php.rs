//! PHP 8, as `php-rs-parser` 0.28 reads it. Variables keep their `$`, functions are in small letters, classes begin
//! with a capital and constants with `#`, so that each has its own names; `/` stands between the parts of a name.

use castellan_event::Why;
use php_ast::{
    Block, ConstItem, DeclareStmt, Expr, ExprKind, ForStmt, ForeachStmt, IfStmt, NamespaceBody,
    NamespaceDecl, Program, StaticVar, Stmt, StmtKind, SwitchStmt, TryCatchStmt,
};

use super::Lower;
use crate::tree::{Kind, Loop, Node, Span};

mod calls;
mod definitions;
mod expressions;
mod names;

pub(super) use names::Surroundings;
pub(crate) use names::{class_name, function_name};

/// Returns the common tree of a program.
pub(crate) fn php(text: &str, program: &Program<'_, '_>) -> Node {
    let mut lower = Lower::of(text);
    let at = span(program.span);
    let survey = lower.php_survey(program);
    let mut parts = lower.php_statements(&program.stmts);
    parts.extend(survey.is_break().then(|| Node::hole(at, Why::Nesting)));
    Node::sequence(at, parts)
}

impl Lower<'_> {
    /// Statements in order, but what has its name from the beginning first, for each namespace.
    fn php_statements(&mut self, all: &[Stmt<'_, '_>]) -> Vec<Node> {
        let mut parts = Vec::new();
        let mut left = all;
        while let Some((first, rest)) = left.split_first() {
            let end = rest.iter().position(|one| begun(one).is_some()).unwrap_or(rest.len());
            let (segment, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            if begun(first).is_some() {
                self.php.names.observe_stmt(first);
            }
            parts.extend(self.php_segment(std::iter::once(first).chain(segment).collect()));
            left = after;
        }
        parts
    }

    fn php_segment(&mut self, all: Vec<&Stmt<'_, '_>>) -> Vec<Node> {
        for one in all.iter().filter(|one| matches!(one.kind, StmtKind::Use(_))) {
            self.php.names.observe_stmt(one);
        }
        let (functions, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| matches!(one.kind, StmtKind::Function(_)));
        let (classes, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|one| definitions::class_of(one).is_some());
        let classes = definitions::in_order(classes);
        functions.into_iter().chain(classes).chain(others).map(|one| self.php_statement(one)).collect()
    }

    fn php_statement(&mut self, node: &Stmt<'_, '_>) -> Node {
        self.deeper_at(span(node.span), |lower| lower.php_statement_of(node))
    }

    fn php_block(&mut self, block: &Block<'_, '_>) -> Node {
        let parts = self.php_statements(&block.stmts);
        Node::sequence(span(block.span), parts)
    }

    fn php_statement_of(&mut self, node: &Stmt<'_, '_>) -> Node {
        let at = span(node.span);
        if let Some(class) = definitions::class_of(node) {
            return self.php_named_class(at, &class);
        }
        let kind = match &node.kind {
            StmtKind::Expression(value) => Kind::Sequence(vec![self.php_expression(value)]),
            StmtKind::Echo(values) => Kind::Inert(self.php_all(values.iter())),
            StmtKind::Block(block) => return self.php_block(block),
            StmtKind::Declare(one) => return self.php_declare(at, one),
            StmtKind::If(one) => return self.php_branch(at, one),
            StmtKind::While(one) => {
                let parts = vec![self.php_expression(&one.condition), self.php_statement(one.body)];
                return Node::repeats(at, parts);
            }
            StmtKind::DoWhile(one) => {
                let parts = vec![self.php_statement(one.body), self.php_expression(&one.condition)];
                return Node::repeats(at, parts);
            }
            StmtKind::For(one) => return self.php_for(at, one),
            StmtKind::Foreach(one) => return self.php_for_each(at, one),
            StmtKind::Switch(one) => return self.php_switch(at, one),
            StmtKind::TryCatch(one) => return self.php_try(at, one),
            StmtKind::Return(value) => {
                self.jumps += 1;
                Kind::Return(value.map(|value| self.php_expression(value).into()))
            }
            StmtKind::Throw(value) => {
                self.jumps += 1;
                Kind::Inert(vec![self.php_expression(value)])
            }
            StmtKind::Break(_) | StmtKind::Continue(_) => {
                self.jumps += 1;
                Kind::Constant
            }
            StmtKind::Global(names) => return self.php_global(at, names),
            StmtKind::StaticVar(names) => return self.php_static(at, names),
            StmtKind::Unset(targets) => {
                let unset = |target| Node::assign(at, target, Node::nothing(at));
                Kind::Sequence(targets.iter().map(|one| unset(self.php_target(one))).collect())
            }
            StmtKind::Const(items) => return self.php_constants(at, items),
            StmtKind::Function(one) => return self.php_named_function(at, one),
            StmtKind::Namespace(one) => return self.php_namespace(at, node, one),
            StmtKind::InlineHtml(text) if has_tag(text) => Kind::Hole(Why::Unsupported),
            StmtKind::Use(_)
            | StmtKind::Nop
            | StmtKind::InlineHtml(_)
            | StmtKind::HaltCompiler(_)
            | StmtKind::Label(_) => Kind::Constant,
            // The parser reports the error, too.
            StmtKind::Error => Kind::Constant,
            _ => Kind::Hole(Why::Unsupported),
        };
        Node::new(at, kind)
    }

    fn php_namespace(&mut self, at: Span, node: &Stmt<'_, '_>, namespace: &NamespaceDecl<'_, '_>) -> Node {
        let NamespaceBody::Braced(block) = &namespace.body else { return Node::nothing(at) };
        let before = self.php.names.clone();
        self.php.names.observe_stmt(node);
        let body = self.php_block(block);
        self.php.names = before;
        body
    }

    fn php_declare(&mut self, at: Span, node: &DeclareStmt<'_, '_>) -> Node {
        if node.directives.iter().any(|(name, _)| name.eq_ignore_ascii_case("encoding")) {
            return Node::hole(at, Why::Encoding);
        }
        node.body.map_or_else(|| Node::nothing(at), |body| self.php_statement(body))
    }

    fn php_global(&mut self, at: Span, names: &[Expr<'_, '_>]) -> Node {
        for one in names {
            let ExprKind::Variable(name) = &one.kind else { return Node::hole(at, Why::Dynamic) };
            if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| !scope.is_block) {
                scope.outer.insert(format!("${}", name.as_str()).into());
            }
        }
        Node::nothing(at)
    }

    fn php_static(&mut self, at: Span, names: &[StaticVar<'_, '_>]) -> Node {
        let one = |one: &StaticVar<'_, '_>| {
            let value =
                one.default.as_ref().map_or_else(|| Node::nothing(at), |value| self.php_expression(value));
            // What a call before left there is not known.
            let value = Node::or(at, vec![value, Node::unknown(at)]);
            let name = self.declare_outside(&variable(&one.name));
            Node::assign(at, Node::name(at, &name), value)
        };
        Node::sequence(at, names.iter().map(one).collect())
    }

    fn php_constants(&mut self, at: Span, items: &[ConstItem<'_, '_>]) -> Node {
        let parts = items.iter().map(|one| self.php_constant_given(&one.name, &one.value)).collect();
        Node::sequence(at, parts)
    }

    /// Conditions first, then one of the bodies. `else if` lies inside: it is gone through here.
    fn php_branch(&mut self, at: Span, node: &IfStmt<'_, '_>) -> Node {
        let (mut conditions, mut bodies) = (Vec::new(), Vec::new());
        let mut left = node;
        let last = loop {
            conditions.push(self.php_expression(&left.condition));
            bodies.push(self.php_statement(left.then_branch));
            for clause in left.elseif_branches.iter() {
                conditions.push(self.php_expression(&clause.condition));
                bodies.push(self.php_statement(&clause.body));
            }
            match left.else_branch {
                Some(Stmt { kind: StmtKind::If(inner), .. }) => left = inner,
                last => break last,
            }
        };
        bodies.push(last.map_or_else(|| Node::nothing(at), |body| self.php_statement(body)));
        Node::branch(at, conditions, bodies)
    }

    fn php_for(&mut self, at: Span, node: &ForStmt<'_, '_>) -> Node {
        let mut parts = self.php_all(node.init.iter());
        let mut inside = self.php_all(node.condition.iter());
        inside.push(self.php_statement(node.body));
        inside.extend(self.php_all(node.update.iter()));
        parts.push(Node::repeats(at, inside));
        Node::sequence(at, parts)
    }

    fn php_for_each(&mut self, at: Span, node: &ForeachStmt<'_, '_>) -> Node {
        let mut over = self.php_expression(&node.expr);
        let key = node.key.as_ref().map(|key| self.php_target(key));
        let mut target = self.php_target(&node.value);
        if let Some(key) = key {
            over = Node::library(at, "array.entries", vec![over]);
            target = Node::list(at, vec![key, target]);
        }
        let before = self.jumps;
        let mut body = self.php_statement(node.body);
        if node.by_ref {
            // What the name is given goes into the array, to an element that is not told.
            let value = self.php_expression(&node.value);
            let of = self.php_target(&node.expr);
            let element = Node::index(at, of, Node::unknown(at));
            let changed = Node::assign(at, element, value);
            body = Node::sequence(at, vec![body, changed]);
        }
        let jumps = self.jumps > before;
        Node::new(at, Kind::Loop(Box::new(Loop { over: Some((target, over)), body, jumps, collects: false })))
    }

    /// Each case may run, and what is behind it too.
    fn php_switch(&mut self, at: Span, node: &SwitchStmt<'_, '_>) -> Node {
        let mut parts = vec![self.php_expression(&node.expr)];
        for case in node.body.cases.iter() {
            let at = span(case.span);
            parts.extend(case.value.as_ref().map(|test| self.php_expression(test)));
            let body = case.body.iter().map(|one| self.php_statement(one)).collect();
            let body = Node::sequence(at, body);
            parts.push(Node::either(at, vec![Node::nothing(at), body]));
        }
        Node::new(at, Kind::Try(vec![Node::sequence(at, parts)]))
    }

    fn php_try(&mut self, at: Span, node: &TryCatchStmt<'_, '_>) -> Node {
        let mut parts = vec![self.php_block(node.body)];
        for clause in node.catches.iter() {
            let at = span(clause.span);
            let name = clause.var.as_ref().map(|name| self.declare_outside(&variable(name)));
            let error = name.map(|name| Node::assign(at, Node::name(at, &name), Node::unknown(at)));
            let body = self.php_block(clause.body);
            let body = Node::sequence(at, error.into_iter().chain([body]).collect());
            parts.push(Node::either(at, vec![Node::nothing(at), body]));
        }
        parts.extend(node.finally.map(|last| self.php_block(last)));
        Node::new(at, Kind::Try(parts))
    }
}

/// The namespace that begins at a statement and has no braces.
fn begun<'n, 'a, 's>(node: &'n Stmt<'a, 's>) -> Option<&'n NamespaceDecl<'a, 's>> {
    match &node.kind {
        StmtKind::Namespace(one) if matches!(one.body, NamespaceBody::Simple) => Some(one),
        _ => None,
    }
}

fn has_tag(text: &str) -> bool {
    let text = text.to_ascii_lowercase().replace("<?xml", "");
    let is_script = || {
        text.split("<script").skip(1).any(|tag| tag.split('>').next().is_some_and(|tag| tag.contains("php")))
    };
    text.contains("<?") || text.contains("<%") || is_script()
}

/// The parser's place of a node.
fn span(at: php_ast::Span) -> Span {
    (at.start, at.end)
}

/// The name of a variable in the tree.
fn variable(name: &php_ast::Ident<'_>) -> String {
    format!("${}", name.as_str().unwrap_or_default())
}
