//! Declarations, functions and classes.

use std::rc::Rc;

use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, BindingIdentifier, Class as Defined, ClassElement,
    Declaration, Decorator, FormalParameter, FormalParameters, Function as Written, MethodDefinition,
    PropertyKey,
};

use super::super::{Lower, Names};
use super::span;
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest, Span};

impl Lower<'_> {
    pub(super) fn js_declaration(&mut self, node: &Declaration<'_>) -> Node {
        let at = span(node);
        // Types have no effect. A declaration without a value is elsewhere.
        if node.declare() {
            return Node::nothing(at);
        }
        match node {
            Declaration::VariableDeclaration(one) => self.js_variables(one),
            Declaration::FunctionDeclaration(one) if one.body.is_none() => Node::nothing(at),
            Declaration::FunctionDeclaration(one) => {
                self.js_named(at, one.id.as_ref(), |lower| lower.js_function(one))
            }
            Declaration::ClassDeclaration(one) => {
                self.js_named(at, one.id.as_ref(), |lower| lower.js_class(one))
            }
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_) => Node::nothing(at),
            Declaration::TSEnumDeclaration(one) => self.ts_enum(one),
            Declaration::TSNamespaceDeclaration(one) => self.ts_namespace(one),
            // In JavaScript this is a name and a block.
            Declaration::TSGlobalDeclaration(one) => self.js_block(at, &one.body.body),
            Declaration::TSImportEqualsDeclaration(one) => self.ts_import(one),
        }
    }

    /// Gives a name its function or class. A declaration without a name is for others, who may call it.
    pub(super) fn js_named(
        &mut self,
        at: Span,
        name: Option<&BindingIdentifier<'_>>,
        define: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        let Some(name) = name else {
            let value = define(self);
            return Node::call(at, Node::nothing(at), vec![value]);
        };
        let name = self.declare(&name.name);
        let value = define(self);
        Node::assign(at, Node::name(at, &name), value)
    }

    /// A function that sees its own name.
    pub(super) fn js_function_expression(&mut self, node: &Written<'_>) -> Node {
        if node.id.is_none() {
            return self.js_function(node);
        }
        let at = span(node);
        self.js_scope(at, |lower| lower.js_named(at, node.id.as_ref(), |lower| lower.js_function(node)))
    }

    pub(super) fn js_function(&mut self, node: &Written<'_>) -> Node {
        let at = span(node);
        self.js_callable(at, true, &node.params, |lower| match &node.body {
            Some(body) => lower.js_body(span(&**body), &body.directives, &body.statements),
            None => Node::nothing(at),
        })
    }

    pub(super) fn js_arrow(&mut self, node: &ArrowFunctionExpression<'_>) -> Node {
        self.js_callable(span(node), false, &node.params, |lower| match &node.body {
            ArrowFunctionBody::FunctionBody(body) => {
                lower.js_body(span(&**body), &body.directives, &body.statements)
            }
            value => {
                let at = span(value);
                let value = value.as_expression().map_or_else(|| Node::nothing(at), |value| lower.js(value));
                Node::new(value.at, Kind::Return(Some(value.into())))
            }
        })
    }

    fn js_callable(
        &mut self,
        at: Span,
        has_this: bool,
        given: &FormalParameters<'_>,
        body: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        self.scopes.push(Names::default());
        let mut kept: Vec<Node> = given.items.iter().filter_map(Self::ts_kept).collect();
        let mut decorators = Vec::new();
        let mut parameters = Vec::new();
        for one in &given.items {
            decorators.extend(self.js_decorators(&one.decorators));
            parameters.push(self.js_parameter(one));
        }
        if let Some(rest) = &given.rest {
            decorators.extend(self.js_decorators(&rest.decorators));
            let target = self.js_binding(&rest.rest.argument, false);
            parameters.push(Parameter { target, default: None, rest: Rest::List });
        }
        kept.push(body(self));
        let body = Node::sequence(at, kept);
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this, takes_self: false };
        let function = Node::new(at, Kind::Function(Rc::new(function)));
        if decorators.is_empty() {
            return function;
        }
        Node::sequence(at, decorators.into_iter().chain([function]).collect())
    }

    fn js_parameter(&mut self, node: &FormalParameter<'_>) -> Parameter {
        let default = node.initializer.as_ref().map(|value| self.js(value));
        Parameter { target: self.js_binding(&node.pattern, false), default, rest: Rest::One }
    }

    pub(super) fn js_class(&mut self, node: &Defined<'_>) -> Node {
        let at = span(node);
        let decorators = self.js_decorators(&node.decorators);
        let mut bases: Vec<Node> = decorators.into_iter().map(|one| Node::inert(at, vec![one])).collect();
        bases.extend(node.heritage_expression().map(|base| self.js(base)));
        self.scopes.push(Names { is_class: true, ..Names::default() });
        let parts = node.body.body.iter().map(|member| self.js_member_of_class(member)).collect();
        let locals = self.locals();
        let body = Node::sequence(at, parts);
        Node::new(at, Kind::Class(Rc::new(Class { bases, locals, body })))
    }

    /// The results of decorators are called with the decorated part.
    fn js_decorators(&mut self, decorators: &[Decorator<'_>]) -> Vec<Node> {
        let called = decorators.iter().map(|one| {
            let inner = self.js(&one.expression);
            let at = inner.at;
            Node::call(at, inner, vec![Node::nothing(at)])
        });
        called.collect()
    }

    fn js_member_of_class(&mut self, node: &ClassElement<'_>) -> Node {
        let at = span(node);
        let (decorators, key, is_computed, value) = match node {
            ClassElement::StaticBlock(one) => return self.js_block(at, &one.body),
            ClassElement::TSIndexSignature(_) => return Node::nothing(at),
            ClassElement::MethodDefinition(one) if one.value.body.is_none() => return Node::nothing(at),
            ClassElement::MethodDefinition(one) => {
                let decorators = self.js_decorators(&one.decorators);
                (decorators, &one.key, one.computed, self.js_method(one))
            }
            ClassElement::PropertyDefinition(one) => {
                let decorators = self.js_decorators(&one.decorators);
                (decorators, &one.key, one.computed, self.js_optional(at, one.value.as_ref()))
            }
            ClassElement::AccessorProperty(one) => {
                let decorators = self.js_decorators(&one.decorators);
                (decorators, &one.key, one.computed, self.js_optional(at, one.value.as_ref()))
            }
        };
        let member = self.js_named_member(at, key, is_computed, value);
        Node::sequence(at, decorators.into_iter().chain([member]).collect())
    }

    fn js_method(&mut self, node: &MethodDefinition<'_>) -> Node {
        let function = self.js_function(&node.value);
        if node.kind.is_get() { getter(function) } else { function }
    }

    /// A member whose name is computed may have any.
    fn js_named_member(&mut self, at: Span, key: &PropertyKey<'_>, is_computed: bool, value: Node) -> Node {
        let name = match key {
            PropertyKey::PrivateIdentifier(name) => Some(private(&name.name)),
            other => other.static_name().map(String::from),
        };
        match name.filter(|_| !is_computed) {
            Some(name) => {
                let name = self.declare(&name);
                Node::assign(at, Node::name(at, &name), value)
            }
            None => {
                let key = self.js_key(key);
                let call = Node::call(at, Node::nothing(at), vec![value]);
                Node::sequence(at, vec![key, call])
            }
        }
    }
}

/// A method that runs when the member is read is the value that it returns as well.
pub(super) fn getter(made: Node) -> Node {
    let at = made.at;
    let Kind::Function(function) = &made.kind else { return made };
    let again = Node::new(at, Kind::Function(Rc::clone(function)));
    Node::either(at, vec![again, Node::call(at, made, Vec::new())])
}

/// The name of a private member, in the class and where it is read.
pub(super) fn private(name: &str) -> String {
    format!("#{name}")
}
