//! Functions, classes and constants.

use std::collections::HashSet;
use std::rc::Rc;

use castellan_event::Why;
use php_ast::{
    ArrowFunctionExpr, Block, ClassConstDecl, ClassDecl, ClassMemberKind, ClosureExpr, EnumCase,
    EnumMemberKind, Expr, FunctionDecl, Ident, MethodDecl, Name, Param, PropertyDecl, PropertyHook,
    PropertyHookBody, Stmt, StmtKind, TraitUseDecl,
};

use super::super::{Lower, Names};
use super::names::{Around, constant};
use super::{span, variable};
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest, Span};

/// A class, or what is like one.
pub(super) struct ClassLike<'n, 'a, 's> {
    name: Option<&'s str>,
    base: Option<&'n Name<'a, 's>>,
    /// What else it is made of.
    others: Vec<&'n Name<'a, 's>>,
    members: Vec<(Span, Member<'n, 'a, 's>)>,
}

enum Member<'n, 'a, 's> {
    Property(&'n PropertyDecl<'a, 's>),
    Method(&'n MethodDecl<'a, 's>),
    Constant(&'n ClassConstDecl<'a, 's>),
    Traits(&'n TraitUseDecl<'a, 's>),
    Case(&'n EnumCase<'a, 's>),
    Unknown,
}

/// The body of a function.
enum Body<'n, 'a, 's> {
    Block(&'n Block<'a, 's>),
    Value(&'n Expr<'a, 's>),
    None,
}

/// The class that a statement declares.
pub(super) fn class_of<'n, 'a, 's>(node: &'n Stmt<'a, 's>) -> Option<ClassLike<'n, 'a, 's>> {
    let (name, others, members) = match &node.kind {
        StmtKind::Class(one) => return Some(class_like(one)),
        StmtKind::Interface(one) => (&one.name, one.extends.iter().collect(), members(&one.body.members)),
        StmtKind::Trait(one) => (&one.name, Vec::new(), members(&one.body.members)),
        StmtKind::Enum(one) => {
            let member = |kind: &'n EnumMemberKind<'a, 's>| match kind {
                EnumMemberKind::Case(one) => Member::Case(one),
                EnumMemberKind::Method(one) => Member::Method(one),
                EnumMemberKind::ClassConst(one) => Member::Constant(one),
                EnumMemberKind::TraitUse(one) => Member::Traits(one),
                EnumMemberKind::Property(one) => Member::Property(one),
                _ => Member::Unknown,
            };
            let members = one.body.members.iter().map(|one| (span(one.span), member(&one.kind)));
            (&one.name, one.implements.iter().collect(), members.collect())
        }
        _ => return None,
    };
    Some(ClassLike { name: name.as_str(), base: None, others, members })
}

pub(super) fn class_like<'n, 'a, 's>(class: &'n ClassDecl<'a, 's>) -> ClassLike<'n, 'a, 's> {
    ClassLike {
        name: class.name.as_ref().and_then(Ident::as_str),
        base: class.extends.as_ref(),
        others: class.implements.iter().collect(),
        members: members(&class.body.members),
    }
}

fn members<'n, 'a, 's>(members: &'n [php_ast::ClassMember<'a, 's>]) -> Vec<(Span, Member<'n, 'a, 's>)> {
    let member = |kind: &'n ClassMemberKind<'a, 's>| match kind {
        ClassMemberKind::Property(one) => Member::Property(one),
        ClassMemberKind::Method(one) => Member::Method(one),
        ClassMemberKind::ClassConst(one) => Member::Constant(one),
        ClassMemberKind::TraitUse(one) => Member::Traits(one),
        _ => Member::Unknown,
    };
    members.iter().map(|one| (span(one.span), member(&one.kind))).collect()
}

impl<'n, 'a, 's> ClassLike<'n, 'a, 's> {
    /// What it is made of: its base, interfaces and traits.
    fn bases(&self) -> impl Iterator<Item = &'n Name<'a, 's>> {
        let traits = self.members.iter().flat_map(|(_, member)| match member {
            Member::Traits(one) => one.traits.iter(),
            _ => [].iter(),
        });
        self.base.into_iter().chain(self.others.iter().copied()).chain(traits)
    }
}

/// Classes in an order in which those that others are made of come first.
pub(super) fn in_order<'n, 'a, 's>(classes: Vec<&'n Stmt<'a, 's>>) -> Vec<&'n Stmt<'a, 's>> {
    let mut left: Vec<_> = classes.into_iter().filter_map(|one| Some((one, class_of(one)?))).collect();
    let mut ordered = Vec::new();
    let mut before = usize::MAX;
    while !left.is_empty() && left.len() < before {
        before = left.len();
        let missing: HashSet<&str> = left.iter().filter_map(|(_, class)| class.name).collect();
        let waits = |class: &ClassLike<'_, '_, '_>| {
            let bases = class.bases().map(Name::to_string_repr);
            bases.into_iter().any(|base| missing.contains(&*base) && class.name != Some(&*base))
        };
        let (waiting, ready): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, class)| waits(class));
        ordered.extend(ready);
        left = waiting;
    }
    ordered.extend(left);
    ordered.into_iter().map(|(one, _)| one).collect()
}

impl Lower<'_> {
    pub(super) fn php_named_function(&mut self, at: Span, node: &FunctionDecl<'_, '_>) -> Node {
        let name = super::function_name(&self.php.own(node.name.as_str().unwrap_or_default()));
        self.scopes.push(Names::default());
        let function = self.php_function(at, &node.params, Vec::new(), &Body::Block(node.body), true);
        Node::assign(at, Node::name(at, &name), function)
    }

    pub(super) fn php_closure(&mut self, at: Span, node: &ClosureExpr<'_, '_>) -> Node {
        self.scopes.push(Names::default());
        let captured = self.php_captured(node);
        self.php_function(at, &node.params, captured, &Body::Block(node.body), false)
    }

    /// It sees the names around.
    pub(super) fn php_arrow_function(&mut self, at: Span, node: &ArrowFunctionExpr<'_, '_>) -> Node {
        self.begin_block();
        self.php_function(at, &node.params, Vec::new(), &Body::Value(node.body), false)
    }

    /// A function, whose scope is there.
    fn php_function(
        &mut self,
        at: Span,
        given: &[Param<'_, '_>],
        captured: Vec<Parameter>,
        body: &Body<'_, '_, '_>,
        has_this: bool,
    ) -> Node {
        let mut parts = Vec::new();
        let mut parameters = Vec::new();
        for one in given {
            let at = span(one.span);
            let default = one.default.as_ref().map(|value| self.php_expression(value));
            let name = self.declare(&variable(&one.name));
            let target = Node::name(at, &name);
            let rest = if one.variadic { Rest::List } else { Rest::One };
            parameters.push(Parameter { target, default, rest });
            let modifiers = &one.modifiers;
            if modifiers.visibility.is_some() || modifiers.set_visibility.is_some() || modifiers.is_readonly {
                // `private $x` as a parameter of the constructor.
                let member = Kind::Member(Node::name(at, "this").into(), Rc::clone(&name));
                parts.push(Node::assign(at, Node::new(at, member), Node::name(at, &name)));
            }
            parts.extend(self.php_hooks(&one.hooks));
        }
        parameters.extend(captured);
        let near = self.php.around.last_mut().map(|around| std::mem::replace(&mut around.is_near, false));
        let body = match body {
            Body::Block(block) => {
                parts.extend(self.php_statements(&block.stmts));
                Node::sequence(span(block.span), parts)
            }
            Body::Value(value) => {
                let value = self.php_expression(value);
                Node::new(value.at, Kind::Return(Some(value.into())))
            }
            Body::None => Node::nothing(at),
        };
        if let (Some(around), Some(near)) = (self.php.around.last_mut(), near) {
            around.is_near = near;
        }
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this, takes_self: false };
        Node::new(at, Kind::Function(Rc::new(function)))
    }

    /// Returns the variables that a closure captures, as parameters with values that no call gives.
    fn php_captured(&mut self, node: &ClosureExpr<'_, '_>) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for one in node.use_vars.iter() {
            let at = span(one.span);
            let name = variable(&one.name);
            if one.by_ref {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.outer.insert(name.into());
                }
                continue;
            }
            if parameters.is_empty() {
                let rest = Node::name(at, &self.declare("further arguments"));
                parameters.push(Parameter { target: rest, default: None, rest: Rest::List });
            }
            let name = self.declare(&name);
            let (target, value) = (Node::name(at, &name), Node::name(at, &name));
            parameters.push(Parameter { target, default: Some(value), rest: Rest::One });
        }
        parameters
    }

    pub(super) fn php_named_class(&mut self, at: Span, class: &ClassLike<'_, '_, '_>) -> Node {
        let name = super::class_name(&self.php.own(class.name.unwrap_or_default()));
        let class = self.php_class(at, class, Some(name.clone()));
        Node::assign(at, Node::name(at, &name), class)
    }

    /// A class with its members; properties keep their `$`, methods are in small letters.
    pub(super) fn php_class(
        &mut self,
        at: Span,
        class: &ClassLike<'_, '_, '_>,
        name: Option<String>,
    ) -> Node {
        let of = |name: &Name<'_, '_>| Node::name(at, self.php.class(name).as_deref().unwrap_or("this"));
        let bases = class.bases().map(of).collect();
        let base = class.base.and_then(|base| self.php.class(base));
        self.php.around.push(Around { name, base, is_static: false, is_near: true });
        self.scopes.push(Names { is_class: true, ..Names::default() });
        let parts = class.members.iter().map(|(at, member)| self.php_member(*at, member)).collect();
        let locals = self.locals();
        self.php.around.pop();
        let body = Node::sequence(at, parts);
        Node::new(at, Kind::Class(Rc::new(Class { bases, locals, body })))
    }

    fn php_member(&mut self, at: Span, member: &Member<'_, '_, '_>) -> Node {
        match member {
            Member::Method(one) => {
                let name = self.declare(&one.name.as_str().unwrap_or_default().to_ascii_lowercase());
                if let Some(around) = self.php.around.last_mut() {
                    around.is_static = one.modifiers.is_static;
                }
                let body = one.body.map_or(Body::None, Body::Block);
                let function = self.deeper_at(at, |lower| {
                    lower.scopes.push(Names::default());
                    lower.php_function(at, &one.params, Vec::new(), &body, true)
                });
                Node::assign(at, Node::name(at, &name), function)
            }
            Member::Property(one) => {
                let mut parts = self.php_hooks(&one.hooks);
                if let Some(value) = &one.default {
                    let value = self.php_expression(value);
                    let name = self.declare(&variable(&one.name));
                    parts.push(Node::assign(at, Node::name(at, &name), value));
                }
                Node::sequence(at, parts)
            }
            Member::Constant(one) => self.php_constant_given(&one.name, &one.value),
            Member::Case(one) => {
                let name = self.declare(&constant(one.name.as_str().unwrap_or_default()));
                Node::assign(at, Node::name(at, &name), Node::unknown(at))
            }
            // Traits stand among the bases; their methods are found by their own names only.
            Member::Traits(one) if one.adaptations.is_empty() => Node::nothing(at),
            Member::Traits(_) | Member::Unknown => Node::hole(at, Why::Unsupported),
        }
    }

    fn php_hooks(&mut self, hooks: &[PropertyHook<'_, '_>]) -> Vec<Node> {
        let hook = |hook: &PropertyHook<'_, '_>| {
            let at = span(hook.span);
            let name = self.declare(&format!("property hook {}", at.0));
            let body = match &hook.body {
                PropertyHookBody::Block(block) => Body::Block(block),
                PropertyHookBody::Expression(value) => Body::Value(value),
                _ => Body::None,
            };
            self.scopes.push(Names::default());
            let function = self.php_function(at, &hook.params, Vec::new(), &body, true);
            Node::assign(at, Node::name(at, &name), function)
        };
        hooks.iter().map(hook).collect()
    }

    pub(super) fn php_constant_given(&mut self, name: &Ident<'_>, value: &Expr<'_, '_>) -> Node {
        let at = span(name.span);
        let value = self.php_expression(value);
        let name = self.declare(&constant(name.as_str().unwrap_or_default()));
        Node::assign(at, Node::name(at, &name), value)
    }
}
