//! Applies a library function's table entry to the arguments of a call.

use std::rc::Rc;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Piece};

use super::bound::{Bound, is_true};
use super::requests::API;
use super::{Argument, Machine, compute};
use crate::act::{Operand, What};
use crate::language::Language;
use crate::table::{Entry, Part, Takes};
use crate::tree::Node;
use crate::value::{Given, Ref, Value};

impl Machine<'_> {
    /// Calls a function of a library.
    pub(super) fn perform(
        &mut self,
        node: &Node,
        entry: &'static Entry,
        of: Option<&Value>,
        arguments: Vec<Argument>,
    ) -> Value {
        if let Some(value) = self.of_maps(node, entry.computes, &arguments) {
            return value;
        }
        let named: Vec<Given> = match entry.computes {
            "partial" => arguments.iter().filter_map(Argument::given_by_name).collect(),
            _ => Vec::new(),
        };
        let bound = self.bound(node, entry, of, arguments);
        match (self.perform_bound(node, entry, &bound), named.as_slice()) {
            (value, []) => value,
            // Named arguments of a partial call belong to the function that is called later.
            (value, _) => Value::partial_named(value, named),
        }
    }

    /// Like [`Machine::perform`], with arguments that are already assigned to parameters.
    pub(super) fn perform_bound(&mut self, node: &Node, entry: &'static Entry, bound: &Bound) -> Value {
        for does in entry.does {
            match does.system {
                API => self.requests(node, does.verb, bound),
                _ => self.does(node, does),
            }
        }
        let is_tree = bound.given.iter().any(|(parameter, value)| {
            parameter.parts.contains(&Part::Tree)
                || (parameter.parts.contains(&Part::IsTree) && is_true(value))
        });
        for (parameter, value) in &bound.given {
            for part in parameter.parts {
                self.part(node, *part, value, is_tree, bound);
            }
        }
        self.command(node, bound);
        // Some computations handle functions among their arguments themselves.
        let looks = compute::takes_functions(entry.computes);
        for (parameter, value) in &bound.given {
            if parameter.parts.is_empty() && parameter.takes != Takes::Receiver && !looks {
                self.hand(node, value);
            }
        }
        for value in &bound.others {
            self.hand(node, value);
        }
        self.result(node, entry, bound)
    }

    /// Returns the value of an entry that is no function.
    pub(super) fn value_of(&mut self, node: &Node, entry: &'static Entry, of: Option<&Value>) -> Value {
        let mut bound = Bound::default();
        bound.others.extend(of.cloned());
        self.result(node, entry, &bound)
    }

    fn result(&mut self, node: &Node, entry: &'static Entry, bound: &Bound) -> Value {
        let value = match (entry.computes, entry.why) {
            ("", Some(why)) => self.unknown(node, why),
            ("", None) => self.unknown(node, Why::Dynamic),
            (name, _) => self.compute(node, name, bound),
        };
        match self.table.kind(entry.gives) {
            Some(kind) => Value::Object(Ref(kind), value.into()),
            None => value,
        }
    }

    fn bound(
        &mut self,
        node: &Node,
        entry: &'static Entry,
        of: Option<&Value>,
        arguments: Vec<Argument>,
    ) -> Bound {
        let mut bound = Bound::default();
        let mut open = Vec::new();
        let mut plain = Vec::new();
        let mut named: Vec<(String, Value)> = Vec::new();
        plain.extend(of.cloned());
        for argument in arguments {
            match (argument.name, argument.is_spread) {
                (Some(name), _) => named.push((name.to_string(), argument.value)),
                (None, true) => open.push(argument.value),
                (None, false) => match self.options(entry, &argument.value) {
                    Some(options) => named.extend(options),
                    None => plain.push(argument.value),
                },
            }
        }
        if self.language == Language::Php {
            // In PHP a name that the table does not have is still an argument.
            let (own, others): (Vec<_>, Vec<_>) = named
                .into_iter()
                .partition(|(name, _)| entry.parameters().iter().any(|one| one.is_called(name)));
            named = own;
            plain.extend(others.into_iter().map(|(_, value)| value));
        }
        bound.is_open = !open.is_empty();
        if self.language == Language::Perl {
            named.extend(pairs(entry, &mut plain));
        }
        let mut plain = plain.into_iter();
        let has_receiver = of.is_some();
        if has_receiver && !entry.takes_receiver() {
            plain.next();
        }
        for parameter in entry.parameters() {
            let by_name = named.iter().position(|(name, _)| parameter.is_called(name));
            let value = match (by_name, parameter.takes) {
                (Some(at), _) => Some(named.remove(at).1),
                (None, Takes::Named) => None,
                (None, Takes::One | Takes::Receiver) => plain.next(),
                (None, Takes::Rest) => {
                    bound.given.extend(plain.by_ref().map(|value| (parameter, value)));
                    None
                }
            };
            let value = value.or_else(|| match bound.is_open && parameter.takes != Takes::Named {
                true => Some(self.any(node, open.clone())),
                false => parameter.default.map(Value::text),
            });
            bound.given.extend(value.map(|value| (parameter, value)));
        }
        bound.others.extend(plain);
        bound.others.extend(named.into_iter().map(|(_, value)| value));
        bound
    }

    /// Returns the entries of an options object whose keys are parameter names.
    fn options(&self, entry: &'static Entry, value: &Value) -> Option<Vec<(String, Value)>> {
        let Value::Map(cell) = value else { return None };
        if !matches!(self.language, Language::JavaScript | Language::Perl) {
            return None;
        }
        let cell = self.state.cell_ref(*cell)?;
        let is_named = |name: &str| entry.parameters().iter().any(|parameter| parameter.is_called(name));
        let keys = || cell.entries.iter().filter_map(|(key, value)| Some((key.as_deref()?, value)));
        let has_named = entry.parameters().iter().any(|parameter| parameter.takes == Takes::Named);
        (has_named || keys().any(|(name, _)| is_named(name)))
            .then(|| keys().map(|(name, value)| (name.to_owned(), value.clone())).collect())
    }

    fn does(&mut self, node: &Node, does: &'static crate::table::Does) {
        let on = match (does.path, does.system) {
            ("", "") => Operand::Nothing,
            ("", system) => Operand::System { system: system.into(), verb: does.verb.into() },
            (path, _) => {
                let known = path.trim_end_matches('*');
                let mut pieces = vec![Piece::Text(known.to_owned())];
                if known != path {
                    pieces.push(Piece::Unknown { why: Why::Dynamic, written: "*".to_owned() });
                }
                Operand::Path(Arg::from_pieces(pieces, false))
            }
        };
        self.act(node.at, What::Effect { kind: does.kind, on, recursive: false });
    }

    fn part(&mut self, node: &Node, part: Part, value: &Value, is_tree: bool, bound: &Bound) {
        match part {
            Part::Read => self.path(node, EffectKind::Read, value, is_tree),
            Part::ReadOrUrl => self.read_or_url(node, value),
            Part::Write => self.path(node, EffectKind::Write, value, is_tree),
            Part::Into => self.into(node, value, is_tree, bound),
            Part::Delete => self.path(node, EffectKind::Delete, value, is_tree),
            Part::Execute => self.path(node, EffectKind::Execute, value, false),
            Part::Permission => self.path(node, EffectKind::Permission, value, is_tree),
            Part::Link => self.link(node, value, bound),
            Part::Open => self.open(node, value, bound),
            Part::Connect => self.host(node, EffectKind::Connect, value, bound),
            Part::Listen => self.host(node, EffectKind::Listen, value, bound),
            Part::Download => self.url(node, EffectKind::Download, value),
            Part::Upload => self.url(node, EffectKind::Upload, value),
            Part::Request => self.request(node, value, bound),
            Part::Code
            | Part::Worker
            | Part::Script
            | Part::Module
            | Part::Sql(_)
            | Part::Native
            | Part::Opaque => self.code_part(node, part, value, bound),
            Part::Signal => {
                for arg in self.args(node, value) {
                    self.effect(node, EffectKind::Signal, Operand::Process((*arg).clone()));
                }
            }
            Part::Directory => self.works_in(node, value),
            Part::Name => {
                let other = bound.part(Part::Value).cloned().unwrap_or(Value::text(""));
                self.variable(node, value, &other);
            }
            Part::Callback => self.callback(node, value),
            // Used together with another part.
            Part::IsCode | Part::To | Part::Tree | Part::IsTree | Part::Mode => {}
            Part::Port | Part::Method | Part::Body | Part::Value | Part::Any => {}
            // Used in `command`.
            Part::Argv | Part::Program | Part::Arguments | Part::Named | Part::Called | Part::Shell => {}
            Part::IsShell | Part::Instead | Part::Cwd | Part::Env | Part::Stdin | Part::StdinFile => {}
        }
    }

    fn read_or_url(&mut self, node: &Node, value: &Value) {
        for arg in self.operands(node, value) {
            let (kind, on) = match arg.prefix().contains("://") {
                true => (EffectKind::Download, Operand::Url(arg)),
                false => (EffectKind::Read, Operand::Path(arg)),
            };
            self.effect(node, kind, on);
        }
    }

    /// Calls a function, given by value or name, with unknown arguments.
    fn callback(&mut self, node: &Node, value: &Value) {
        let why = self.language.handed();
        match value {
            Value::Constant => {}
            Value::Text(_) | Value::List(_) | Value::Unknown(..) | Value::Any(_) => {
                self.call_named(node, value, vec![Argument::unknown(why)]);
            }
            other => self.hand(node, other),
        }
    }

    /// Runs an argument that becomes code.
    fn code_part(&mut self, node: &Node, part: Part, value: &Value, bound: &Bound) {
        match part {
            Part::Code => {
                self.code(node, value);
            }
            Part::Worker if bound.part(Part::IsCode).is_some_and(is_true) => {
                self.code(node, value);
            }
            Part::Script | Part::Worker => {
                for arg in self.operands(node, value) {
                    self.script(node, &arg);
                }
                self.stars |= matches!(self.language, Language::Perl | Language::Ruby);
            }
            Part::Module => {
                self.load(node, value);
            }
            Part::Sql(system) => {
                for arg in self.operands(node, value) {
                    self.act(node.at, What::Sql { system: system.into(), text: arg });
                }
            }
            Part::Native => {
                for arg in self.operands(node, value) {
                    self.effect(node, EffectKind::Read, Operand::Path(arg.clone()));
                    self.hole(node.at, Role::Code, Why::Language, &arg.written());
                }
            }
            Part::Opaque => {
                let why = match value {
                    Value::Unknown(why, _) => *why,
                    _ => Why::Unsupported,
                };
                self.lost(node, why);
            }
            _ => {}
        }
    }

    /// Returns the possible texts of a value, including list elements. Skips a number, which is an open file.
    pub(super) fn operands(&self, node: &Node, value: &Value) -> Vec<Arg> {
        let mut operands = Vec::new();
        for one in value.choices() {
            match one {
                Value::Number(_) | Value::Constant | Value::Function(_) => {}
                stream if stream.is_of("Stream") => {}
                Value::List(_) => {
                    for element in &self.elements(node, one).0 {
                        operands.extend(self.owned_args(node, element));
                    }
                }
                other => operands.extend(self.owned_args(node, other)),
            }
        }
        operands.dedup();
        operands
    }

    pub(super) fn owned_args(&self, node: &Node, value: &Value) -> impl Iterator<Item = Arg> + use<> {
        self.args(node, value).into_iter().map(Rc::unwrap_or_clone)
    }

    pub(super) fn path(&mut self, node: &Node, kind: EffectKind, value: &Value, recursive: bool) {
        for arg in self.operands(node, value) {
            if self.language == Language::Php && self.streamed(node, kind, &arg) {
                continue;
            }
            self.act(node.at, What::Effect { kind, on: Operand::Path(arg), recursive });
        }
    }

    fn into(&mut self, node: &Node, value: &Value, is_tree: bool, bound: &Bound) {
        let unknown = self.unknown(node, Why::Dynamic);
        let source = bound.part(Part::Read).cloned().unwrap_or(unknown);
        for source in self.operands(node, &source) {
            for path in self.operands(node, value) {
                let on = Operand::Into { path, source: source.clone() };
                self.act(node.at, What::Effect { kind: EffectKind::Write, on, recursive: is_tree });
            }
        }
    }

    fn link(&mut self, node: &Node, value: &Value, bound: &Bound) {
        let unknown = self.unknown(node, Why::Dynamic);
        let to = bound.part(Part::To).cloned().unwrap_or(unknown);
        for to in self.operands(node, &to) {
            for path in self.operands(node, value) {
                self.effect(node, EffectKind::Link, Operand::Link { path, to: to.clone() });
            }
        }
    }

    fn open(&mut self, node: &Node, value: &Value, bound: &Bound) {
        let reads = Value::text("r");
        let (mut read, mut write) = (false, false);
        for mode in bound.part(Part::Mode).unwrap_or(&reads).choices() {
            let mode = if let Value::Object(_, mode) = mode { mode } else { mode };
            match mode {
                Value::Constant => read = true,
                Value::Unknown(_, written) if written.ends_with("O_RDONLY") && !written.contains('|') => {
                    read = true
                }
                _ => match mode.as_str() {
                    Some(mode) if mode.starts_with("O_") => {
                        write |= !mode.starts_with("O_RDONLY");
                        read |= mode.starts_with("O_RD");
                    }
                    Some(mode) => {
                        write |= mode.contains(['w', 'a', 'x', '+']) || mode.starts_with('c');
                        read |= mode.contains(['r', '+'])
                            || !(mode.contains(['w', 'a', 'x']) || mode.starts_with('c'));
                    }
                    // An unknown mode may write.
                    None => write = true,
                },
            }
        }
        if read {
            self.path(node, EffectKind::Read, value, false);
        }
        if write {
            self.path(node, EffectKind::Write, value, false);
        }
    }

    fn host(&mut self, node: &Node, kind: EffectKind, value: &Value, bound: &Bound) {
        let port = bound.part(Part::Port).and_then(Value::to_arg).map(|port| (*port).clone());
        // Port and host may be two arguments.
        let part = if kind == EffectKind::Listen { Part::Listen } else { Part::Connect };
        let mut places = bound.given.iter().filter(|(parameter, _)| parameter.parts.contains(&part));
        let first = places.next().map(|(_, value)| value);
        let is_behind = first.is_some_and(|first| !std::ptr::eq(first, value));
        let before = first.filter(|_| is_behind).and_then(Value::number);
        let before = before.map(|port| Arg::known(port.to_string()));
        let behind = places.find(|(_, value)| matches!(value, Value::Text(_) | Value::Unknown(..)));
        if is_behind && matches!(value, Value::Number(_)) {
            return;
        }
        for one in value.choices() {
            let (hosts, port) = match one {
                Value::List(_) => {
                    let (elements, _) = self.elements(node, one);
                    let port = elements.get(1).and_then(Value::to_arg).map(|port| (*port).clone());
                    let first = elements.first().cloned();
                    (first.map(|first| self.args(node, &first)).unwrap_or_default(), port)
                }
                // The host is in a later argument.
                Value::Number(_) if behind.is_some() => continue,
                // A port alone: all addresses of this machine for a listener, else `localhost`.
                Value::Number(_) => {
                    let host = if kind == EffectKind::Listen { "" } else { "localhost" };
                    (vec![Arg::known(host).into()], one.to_arg().map(|port| (*port).clone()))
                }
                Value::Function(_) | Value::Constant if is_behind || behind.is_some() => {
                    self.hand(node, one);
                    continue;
                }
                other => (self.args(node, other), port.clone().or_else(|| before.clone())),
            };
            for host in hosts {
                let host = (*host).clone();
                let split = host.as_str().and_then(split_port).filter(|_| port.is_none());
                let (host, port) = match split {
                    Some((host, port)) => (Arg::known(host), Some(Arg::known(port))),
                    None => (host, port.clone()),
                };
                let on = if host.prefix().starts_with('/') {
                    Operand::Path(host)
                } else if host.prefix().contains("://") {
                    Operand::Url(host)
                } else {
                    Operand::Host { host, port }
                };
                self.effect(node, kind, on);
            }
        }
    }

    pub(super) fn url(&mut self, node: &Node, kind: EffectKind, value: &Value) {
        for arg in self.operands(node, value) {
            self.effect(node, kind, Operand::Url(arg));
        }
    }

    fn request(&mut self, node: &Node, value: &Value, bound: &Bound) {
        let fetches = |method: &Value| {
            let method = method.as_str().map(str::to_ascii_uppercase);
            matches!(method.as_deref(), Some("GET" | "HEAD" | "OPTIONS"))
        };
        let is_fetch = bound.part(Part::Method).is_none_or(|method| method.choices().iter().all(fetches));
        let kind = |loads: bool| if is_fetch && loads { EffectKind::Download } else { EffectKind::Upload };
        if let Value::Object(_, inner) = value
            && let Value::List(_) = &**inner
        {
            // A prepared request: URL, method and body.
            let (parts, _) = self.elements(node, inner);
            let [url, method, body] = parts.as_slice() else { return };
            return self.url(node, kind(fetches(method) && *body == Value::Constant), url);
        }
        self.url(node, kind(bound.part(Part::Body).is_none_or(|body| *body == Value::Constant)), value);
    }
}

/// Takes alternating names and values out of plain arguments.
fn pairs(entry: &'static Entry, plain: &mut Vec<Value>) -> Vec<(String, Value)> {
    let is_named =
        |name: &str| entry.parameters().iter().any(|one| one.takes == Takes::Named && one.is_called(name));
    let mut named = Vec::new();
    let mut rest = Vec::new();
    let mut values = plain.drain(..);
    while let Some(value) = values.next() {
        match value.as_str().filter(|name| is_named(name)) {
            Some(name) => named.push((name.to_owned(), values.next().unwrap_or(Value::Constant))),
            None => rest.push(value),
        }
    }
    drop(values);
    *plain = rest;
    named
}

/// Splits `host:port`, where the port is a number.
fn split_port(text: &str) -> Option<(&str, &str)> {
    let (host, port) = text.split_once(':')?;
    let is_port = !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port.then_some((host, port))
}
