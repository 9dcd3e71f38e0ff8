//! Functions, blocks, parameters and classes.

use std::rc::Rc;

use castellan_event::Why;

use super::{Reader, is_name};
use crate::tree::{Class, Function, Kind, Node, Parameter, Rest};

impl Reader<'_> {
    /// `function name(...) { ... }`
    pub(super) fn function_statement(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.blanks(true);
        let written = self.take(|letter| !letter.is_whitespace() && !"(){};".contains(letter));
        let name = written.to_lowercase();
        let name = name.rsplit(':').next().unwrap_or_default();
        let name: Rc<str> = name.into();
        self.blanks(true);
        self.kept.scopes.push(Vec::new());
        let given = if self.peek() == Some('(') { self.parameters() } else { (Vec::new(), Vec::new()) };
        self.blanks(true);
        let from_body = self.at;
        let function = if self.eats("{") {
            self.body(from_body, given, true)
        } else {
            self.wrong(from, Why::Syntax);
            Kind::Constant
        };
        let function = self.node(from, function);
        let target = self.node(from, Kind::Name(name));
        Node::assign(self.since(from), target, function)
    }

    /// Reads `{ ... }` as a value. `is_own`: names that it assigns are local; else it runs in the enclosing scope.
    pub(super) fn script_block(&mut self, is_own: bool) -> Node {
        let from = self.at;
        self.expect("{");
        self.kept.scopes.push(Vec::new());
        let kind = self.body(from, (Vec::new(), Vec::new()), is_own);
        self.node(from, kind)
    }

    /// Reads statements as a function that runs at once, so that their outputs form one value.
    pub(super) fn collected(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Kind {
        self.kept.scopes.push(Vec::new());
        let body = read(self);
        for name in self.kept.scopes.pop().unwrap_or_default() {
            self.declare(&name);
        }
        Kind::Function(Rc::new(Function {
            parameters: Vec::new(),
            locals: Vec::new(),
            body,
            has_this: false,
            takes_self: false,
        }))
    }

    /// Reads the body after an opening bracket, with the closing one.
    fn body(&mut self, from: usize, given: (Vec<Parameter>, Vec<Node>), is_own: bool) -> Kind {
        let (mut parameters, mut parts) = given;
        loop {
            self.blanks(true);
            let word = self.keyword();
            if word == "param" {
                self.at += word.len();
                let (more, before) = self.parameters();
                parameters.extend(more);
                parts.extend(before);
                break;
            }
            // Attributes come before the parameters.
            if self.peek() != Some('[') || !self.is_attribute() {
                break;
            }
            self.type_name();
        }
        parts.extend(self.statements(Some('}')));
        self.expect("}");
        let body = self.node(from, Kind::Sequence(parts));
        let args: Rc<str> = "$args".into();
        self.declare(&args);
        let target = self.node(from, Kind::Name(args));
        parameters.push(Parameter { target, default: None, rest: Rest::List });
        let mut locals = self.kept.scopes.pop().unwrap_or_default();
        locals.sort();
        locals.dedup();
        if !is_own {
            let is_parameter = |name: &Rc<str>| {
                parameters.iter().any(|one| matches!(&one.target.kind, Kind::Name(own) if own == name))
            };
            let (own, outer): (Vec<_>, Vec<_>) = locals.into_iter().partition(is_parameter);
            outer.iter().for_each(|name| self.declare(name));
            locals = own;
        }
        Kind::Function(Rc::new(Function { parameters, locals, body, has_this: false, takes_self: false }))
    }

    /// Reads `( ... )`: returns the parameters, and assignments of pipeline input to them.
    pub(super) fn parameters(&mut self) -> (Vec<Parameter>, Vec<Node>) {
        let mut parameters = Vec::new();
        let mut piped = Vec::new();
        self.expect("(");
        loop {
            self.blanks(true);
            let from = self.at;
            let mut attributes = String::new();
            while self.peek() == Some('[') {
                attributes.push_str(&self.type_name());
                attributes.push(' ');
                self.blanks(true);
            }
            if self.peek() != Some('$') {
                self.expect(")");
                break;
            }
            let target = self.deeper(Self::variable);
            self.declare_target(&target);
            self.blanks(true);
            let mut default = None;
            if self.eats("=") {
                self.blanks(true);
                default = Some(self.deeper(|reader| reader.expression(0, false)));
            } else if attributes.starts_with("switch ") || attributes.contains(" switch ") {
                // This form marks a parameter without value.
                default = Some(self.node(from, Kind::Inert(Vec::new())));
            }
            if attributes.contains("valuefrompipeline")
                && let Kind::Name(name) = &target.kind
            {
                let at = self.since(from);
                let own = Node::name(at, name);
                let both = Node::or(at, vec![own, Node::name(at, "$input")]);
                piped.push(Node::assign(at, Node::name(at, name), both));
            }
            parameters.push(Parameter { target, default, rest: Rest::One });
            self.blanks(true);
            if !self.eats(",") {
                self.expect(")");
                break;
            }
        }
        (parameters, piped)
    }

    /// Reports whether square brackets here contain an attribute, and no type.
    fn is_attribute(&self) -> bool {
        let rest = self.rest();
        let inside = rest.trim_start_matches('[').trim_start();
        let name = inside.get(..inside.find(|letter| !is_name(letter)).unwrap_or(0)).unwrap_or_default();
        self.pay(rest.len() - inside.len() + name.len());
        inside.get(name.len()..).is_some_and(|rest| rest.trim_start().starts_with('('))
    }

    /// `class A : B { ... }`, `enum A { ... }`
    pub(super) fn class_statement(&mut self, word: &str) -> Node {
        let from = self.skip(word.len());
        self.blanks(true);
        let name = format!("[{}", self.take(is_name).to_lowercase());
        self.blanks(true);
        let mut bases = Vec::new();
        if self.eats(":") {
            while self.peek().is_some_and(|letter| letter != '{') {
                self.blanks(true);
                let written = self.take(|letter| is_name(letter) || letter == '.');
                let at = self.since(from);
                bases.push(Node::name(at, &format!("[{}", super::literals::short(written))));
                self.blanks(true);
                if !self.eats(",") {
                    break;
                }
            }
        }
        self.blanks(true);
        self.expect("{");
        let mut locals = Vec::new();
        let mut parts = Vec::new();
        while self.peek().is_some() {
            self.blanks(true);
            if self.eats(";") || self.eats(",") {
                continue;
            }
            if self.eats("}") {
                break;
            }
            let before = self.at;
            self.class_member(name.trim_start_matches('['), &mut locals, &mut parts);
            self.is_stuck(before);
        }
        let body = self.node(from, Kind::Sequence(parts));
        let class = self.node(from, Kind::Class(Rc::new(Class { bases, locals, body })));
        let target = self.node(from, Kind::Name(name.as_str().into()));
        Node::assign(self.since(from), target, class)
    }

    fn class_member(&mut self, class: &str, locals: &mut Vec<Rc<str>>, parts: &mut Vec<Node>) {
        let from = self.at;
        while self.peek() == Some('[') {
            self.type_name();
            self.blanks(true);
        }
        while matches!(self.keyword().as_str(), "static" | "hidden") {
            let length = self.keyword().len();
            self.at += length;
            self.blanks(true);
            while self.peek() == Some('[') {
                self.type_name();
                self.blanks(true);
            }
        }
        let is_property = self.eats("$");
        let written = self.take(is_name).to_lowercase();
        let name: Rc<str> = if written == class { "constructor".into() } else { written.into() };
        self.blanks(true);
        if !is_property && self.peek() == Some('(') {
            self.kept.scopes.push(vec!["$this".into()]);
            let given = self.parameters();
            self.blanks(true);
            if self.eats(":") {
                // The call of the base constructor.
                self.take(|letter| letter != '(');
                let arguments = self.arguments();
                parts.extend(arguments);
                self.blanks(true);
            }
            let start = self.at;
            self.expect("{");
            let mut kind = self.body(start, given, true);
            if let Kind::Function(function) = &mut kind
                && let Some(function) = Rc::get_mut(function)
            {
                let target = Node::name(self.since(from), "$this");
                function.parameters.insert(0, Parameter { target, default: None, rest: Rest::One });
                function.takes_self = true;
            }
            let function = self.node(from, kind);
            parts.push(Node::assign(self.since(from), Node::name(self.since(from), &name), function));
            locals.push(name);
        } else if self.eats("=") {
            self.blanks(true);
            let value = self.deeper(|reader| reader.expression(0, true));
            parts.push(Node::assign(self.since(from), Node::name(self.since(from), &name), value));
            locals.push(name);
        }
    }
}
