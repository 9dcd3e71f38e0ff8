//! Methods, blocks and classes.

use std::rc::Rc;

use castellan_event::Why;
use ruby_prism::{DefNode, Node as Parsed, ParametersNode};

use super::super::{Lower, Names};
use super::{constant, span, text};
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest, Span};

/// What a function or block takes.
#[derive(Default)]
pub(super) struct Given<'p> {
    parameters: Option<ParametersNode<'p>>,
    /// Names that a block has without an assignment.
    own: Vec<String>,
    /// Names that a block takes without naming them.
    implied: Vec<String>,
}

/// The parameters of a block.
pub(super) fn block(node: Option<Parsed<'_>>) -> Given<'_> {
    let Some(node) = node else { return Given::default() };
    by_kind! { node;
        as_block_parameters_node one => {
            let locals = one.locals();
            let own = locals.iter().filter_map(|one| one.as_block_local_variable_node());
            let own = own.map(|one| text(&one.name()).to_owned()).collect();
            Given { parameters: one.parameters(), own, implied: Vec::new() }
        },
        as_numbered_parameters_node one => {
            let implied = (1..=one.maximum()).map(|number| format!("_{number}")).collect();
            Given { implied, ..Given::default() }
        },
        as_it_parameters_node _ => Given { implied: vec!["it".to_owned()], ..Given::default() },
        _ => Given::default(),
    }
}

impl Lower<'_> {
    /// `def x`, `def self.x`
    pub(super) fn rb_method(&mut self, node: &DefNode<'_>) -> Node {
        let at = span(&node.location());
        let name = text(&node.name());
        let given = Given { parameters: node.parameters(), ..Given::default() };
        let function = self.rb_function(at, given, node.body(), true);
        let own = if node.receiver().is_some() { format!("self.{name}") } else { name.to_owned() };
        let method: Rc<str> = format!("->{name}").into();
        let kept = format!("def at {}", at.0);
        let mut value = Node::name(at, &kept);
        if !self.ruby.methods.insert(Rc::clone(&method)) {
            value = Node::or(at, vec![Node::name(at, &method), value]);
        }
        let mut parts = vec![
            Node::assign(at, Node::name(at, &kept), function),
            Node::assign(at, Node::name(at, &method), value),
        ];
        if self.ruby.classes > 0 {
            self.declare(&own);
            parts.push(Node::assign(at, Node::name(at, &own), Node::name(at, &kept)));
        }
        parts.push(Node::text(at, name));
        Node::sequence(at, parts)
    }

    /// A method, which sees nothing outside of it, or a block.
    pub(super) fn rb_function(
        &mut self,
        at: Span,
        given: Given<'_>,
        body: Option<Parsed<'_>>,
        is_method: bool,
    ) -> Node {
        let one = |name: &str, rest| Parameter { target: Node::name(at, name), default: None, rest };
        self.scopes.push(Names::default());
        let mut parameters = Vec::new();
        if is_method {
            self.declare("self");
            parameters.push(one("self", Rest::One));
        }
        let mut before = Vec::new();
        for name in given.own.iter().chain(&given.implied) {
            self.declare(name);
        }
        parameters.extend(given.implied.iter().map(|name| one(name, Rest::One)));
        let block = given.parameters.as_ref().and_then(ParametersNode::block);
        if let Some(list) = given.parameters {
            self.rb_parameters(at, &list, &mut parameters);
        }
        if is_method || block.is_some() {
            self.declare("&");
            // Before those that take all others.
            parameters.insert(usize::from(is_method), one("&", Rest::Named));
        }
        if let Some(name) = block.and_then(|block| block.as_block_parameter_node()?.name()) {
            let name = self.declare(text(&name));
            before.push(Node::assign(at, Node::name(at, &name), Node::name(at, "&")));
        }
        before.push(self.rb_body(at, body));
        let body = Node::sequence(at, before);
        let locals = self.locals();
        let function = Function { parameters, locals, body, has_this: false, takes_self: is_method };
        Node::new(at, Kind::Function(Rc::new(function)))
    }

    fn rb_parameters(&mut self, at: Span, list: &ParametersNode<'_>, parameters: &mut Vec<Parameter>) {
        let (first, last) = (list.requireds(), list.posts());
        let before = first.iter().chain(&list.optionals()).chain(list.rest());
        for one in before.chain(&last).chain(&list.keywords()).chain(list.keyword_rest()) {
            let (name, default, rest) = by_kind! { one;
                as_required_parameter_node one => (Some(one.name()), None, Rest::One),
                as_required_keyword_parameter_node one => (Some(one.name()), None, Rest::One),
                as_optional_parameter_node one => (Some(one.name()), Some(one.value()), Rest::One),
                as_optional_keyword_parameter_node one => (Some(one.name()), Some(one.value()), Rest::One),
                as_rest_parameter_node one => (one.name(), None, Rest::List),
                as_keyword_rest_parameter_node one => (one.name(), None, Rest::Map),
                as_forwarding_parameter_node _ => (None, None, Rest::List),
                as_multi_target_node several => {
                    let target = self.deeper_at(at, |lower| lower.rb_multi_target(&several));
                    parameters.push(Parameter { target, default: None, rest: Rest::One });
                    continue;
                },
                _ => continue,
            };
            let default = default.map(|value| self.rb(&value));
            let at = span(&one.location());
            // Without a name it is only handed on.
            let name = name.map_or_else(|| self.rb_written(at).to_owned(), |name| text(&name).to_owned());
            let target = Node::name(at, &self.declare(&name));
            parameters.push(Parameter { target, default, rest });
        }
    }

    /// `class X`, `module X`
    pub(super) fn rb_class(
        &mut self,
        at: Span,
        path: &Parsed<'_>,
        parent: Option<Parsed<'_>>,
        body: Option<Parsed<'_>>,
    ) -> Node {
        let target = match constant(path) {
            Some(name) => Node::name(at, &name),
            None => self.rb(path),
        };
        let mut parts = Vec::new();
        let mut bases = Vec::new();
        if let Some(parent) = parent {
            let value = self.rb(&parent);
            // What a library's class does when it is called through this one is not followed.
            parts.push(Node::call(at, Node::nothing(at), vec![value]));
            bases.push(self.rb(&parent));
        }
        self.scopes.push(Names { is_class: true, ..Names::default() });
        self.ruby.classes += 1;
        let body = self.rb_body(at, body);
        self.ruby.classes -= 1;
        let locals = self.locals();
        let class = Node::new(at, Kind::Class(Rc::new(Class { bases, locals, body })));
        parts.push(Node::assign(at, target, class));
        Node::sequence(at, parts)
    }

    pub(super) fn rb_alias(&mut self, at: Span, new: &Parsed<'_>, old: &Parsed<'_>) -> Node {
        let [Some(new), Some(old)] = [new, old].map(|name| name.as_symbol_node()) else {
            return Node::hole(at, Why::Dynamic);
        };
        let [new, old] = [&new, &old].map(|name| String::from_utf8_lossy(name.unescaped()));
        let value = Node::name(at, &format!("{old}()"));
        Node::assign(at, Node::name(at, &format!("->{new}")), value)
    }
}
