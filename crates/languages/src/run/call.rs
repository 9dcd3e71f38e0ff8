//! Calls; the callee decides. A value may go to code that is not followed: a function of the program then runs, any
//! other value that can act gives a `Hole`.

use std::collections::HashSet;
use std::rc::Rc;

use castellan_event::Why;

use super::classes::CONSTRUCTORS;
use super::{Argument, Machine};
use crate::language::Language;
use crate::state::Cell;
use crate::table::Entry;
use crate::tree::{Kind, Node};
use crate::value::{Ref, Value};

/// Methods that return the value of a `with` block.
const ENTERS: &[&str] = &["__enter__", "__aenter__"];

/// Functions that are data types.
const TYPES: &[&str] = &["str", "list", "int"];

/// Methods of lists and maps that store their arguments, or call them with each element.
const FOLLOWED: &[&str] = &[
    "append",
    "push",
    "add",
    "unshift",
    "appendleft",
    "extend",
    "update",
    "insert",
    "set",
    "setdefault",
    "concat",
    "map",
    "forEach",
    "flatMap",
    "every",
    "some",
    "find",
    "get",
    "__setitem__",
];

/// Modules with effects that are members of other values. Their names hardly have another meaning.
const REACHED: &[&str] =
    &["os", "posix", "subprocess", "shutil", "builtins", "pty", "runpy", "fs", "child_process", "io"];

/// A call of a method by its name.
#[derive(Clone, Copy)]
pub(super) struct MethodCall<'a> {
    pub(super) node: &'a Node,
    pub(super) of: &'a Value,
    pub(super) name: &'a str,
    pub(super) arguments: &'a [Argument],
}

impl MethodCall<'_> {
    pub(super) fn first(self) -> Option<Value> {
        self.arguments.first().map(|one| one.value.clone())
    }
}

impl Machine<'_> {
    pub(super) fn calls(&mut self, node: &Node, callee: &Node, arguments: &[Node], is_new: bool) -> Value {
        let callee = self.eval(callee);
        let mut given = Vec::new();
        for argument in arguments {
            let value = self.eval(argument);
            match &argument.kind {
                Kind::Keyword(name, _) => {
                    given.push(Argument { name: Some(Rc::clone(name)), value, is_spread: false });
                }
                Kind::Spread(_) => self.spread(argument, &value, &mut given),
                _ => given.push(Argument::plain(value)),
            }
        }
        if let (true, Value::Function(function)) = (is_new, &callee) {
            let this = Value::Instance(self.state.new_cell(Cell::default()));
            let made = self.inline(node, *function, Some(this.clone()), given);
            return if made.is_callable() { self.any(node, [this, made]) } else { this };
        }
        self.call(node, &callee, given)
    }

    fn spread(&mut self, node: &Node, value: &Value, given: &mut Vec<Argument>) {
        if let Value::Map(cell) = value
            && self.language != Language::Perl
        {
            let cell = self.state.cell(*cell);
            if cell.is_open {
                given.push(Argument::unknown(Why::Parameter));
            }
            for (name, value) in cell.entries {
                given.push(Argument { name, value, is_spread: false });
            }
            return;
        }
        let (elements, known) = self.elements(node, value);
        if known {
            given.extend(elements.into_iter().map(Argument::plain));
        } else {
            let value = self.any(node, elements);
            given.push(Argument { name: None, value, is_spread: true });
        }
    }

    pub(super) fn call(&mut self, node: &Node, callee: &Value, arguments: Vec<Argument>) -> Value {
        if !self.step(1) || self.depth >= crate::limits::RUN_DEPTH_MAX {
            return self.lost(node, Why::Nesting);
        }
        self.depth += 1;
        let value = self.call_one(node, callee, arguments);
        self.depth -= 1;
        value
    }

    fn call_one(&mut self, node: &Node, callee: &Value, arguments: Vec<Argument>) -> Value {
        if let Some(value) = self.remote_call(node, callee, &arguments) {
            return value;
        }
        match callee {
            Value::Any(values) => {
                self.either(node, values, |machine, one| machine.call(node, one, arguments.clone()))
            }
            Value::Function(function) => self.inline(node, *function, None, arguments),
            Value::Class(class) => self.instantiate(node, *class, arguments),
            Value::Partial(of, first) => match (&**of, &**first) {
                (Value::Function(function), [(None, this)]) => {
                    self.inline(node, *function, Some(this.clone()), arguments)
                }
                _ => {
                    let given = first.iter().cloned();
                    let given = given.map(|(name, value)| Argument { name, value, is_spread: false });
                    let all = given.chain(arguments).collect();
                    self.call(node, of, all)
                }
            },
            Value::Library(_, entry) => self.perform(node, entry.0, None, arguments),
            Value::Module(space) => match space.0.entry("@") {
                Some(entry) => self.perform(node, entry, None, arguments),
                None => {
                    if space.0.is_capable() {
                        self.lost(node, Why::Unsupported);
                    }
                    self.inert(node, &arguments)
                }
            },
            Value::Method(of, name) => self.method(node, of, name, arguments),
            Value::Object(space, _) if space.0.entry("@").is_some() => match space.0.entry("@") {
                Some(entry) => self.perform(node, entry, Some(callee), arguments),
                None => self.inert(node, &arguments),
            },
            Value::Names(_) => self.lost(node, Why::Dynamic),
            Value::List(_) | Value::Map(_) | Value::Instance(_) | Value::Object(..) => {
                if let Some(value) = self.called_table(node, callee, &arguments) {
                    return value;
                }
                if self.is_capable(callee) {
                    self.lost(node, Why::Dynamic);
                }
                if let Value::Instance(cell) = callee {
                    let class = self.state.cell(*cell).class;
                    let called = class.and_then(|class| self.class_member(class, "__call__"));
                    if let Some(Value::Function(function)) = called {
                        return self.inline(node, function, Some(callee.clone()), arguments);
                    }
                }
                self.inert(node, &arguments)
            }
            Value::Package(path) => self.of_package(node, callee, path, arguments),
            Value::Text(_) | Value::Number(_) | Value::Constant | Value::Unknown(..) => {
                self.inert(node, &arguments)
            }
        }
    }

    /// Calls a function of an inert module. That covers documented functions only; a private function may do anything.
    fn of_package(&mut self, node: &Node, callee: &Value, path: &str, arguments: Vec<Argument>) -> Value {
        let name = path.rsplit('.').next().unwrap_or(path);
        let table = self.table;
        if let Some(entry) = table.methods.entry(name).filter(|_| name != path) {
            return self.perform(node, entry, Some(callee), arguments);
        }
        if self.language == Language::Python && name.starts_with('_') && !name.starts_with("__") {
            self.lost(node, Why::Unsupported);
        }
        self.inert(node, &arguments)
    }

    fn method(&mut self, node: &Node, of: &Value, name: &str, arguments: Vec<Argument>) -> Value {
        let call = MethodCall { node, of, name, arguments: &arguments };
        if self.language == Language::Ruby
            && self.state.name(self.scope, &format!("->{name}")).is_none()
            && let Some(value) = self.changed(call)
        {
            return value;
        }
        if ENTERS.contains(&name) && !matches!(of, Value::Instance(_)) {
            return of.clone();
        }
        if name == "constructor" {
            // A function's constructor builds functions from text. The receiver here may be a function.
            return match arguments.is_empty() {
                true => self.unknown(node, Why::Dynamic),
                false => self.made_function(node, &arguments),
            };
        }
        if let Some(value) = self.any_method(call) {
            return value;
        }
        if let Some(entry) = self.entry_of(of, name) {
            return self.perform(node, entry, Some(of), arguments);
        }
        if CONSTRUCTORS.contains(&name) && matches!(of, Value::Library(..)) {
            // `Base.__init__(self, ...)`
            return self.call(node, of, arguments.into_iter().skip(1).collect());
        }
        if let Some(value) = self.method_by_name(call) {
            return value;
        }
        if let (Value::Library(_, entry), Some((first, rest))) = (of, arguments.split_first())
            && entry.0.parameters.is_some()
            && TYPES.contains(&entry.0.name())
        {
            // `str.join(' ', list)`: a method of the first argument.
            let rest = rest.to_vec();
            return self.method(node, &first.value.clone(), name, rest);
        }
        if let Some(value) = self.applied(call) {
            return value;
        }
        // A list may call a function argument with its elements.
        if matches!(of, Value::List(_) | Value::Map(_))
            && arguments.iter().any(|one| one.value.is_callable())
            && !FOLLOWED.contains(&name)
        {
            self.hand_capable(node, of);
        }
        if let Some(value) = self.list_method(call) {
            return value;
        }
        if let Some(value) = self.text_method(call) {
            return value;
        }
        // The receiver is unknown, but the method's name shows its effect.
        let table = self.table;
        let is_data = matches!(of, Value::Text(_) | Value::Number(_) | Value::List(_));
        if let Some(entry) = table.methods.entry(name).filter(|_| !is_data) {
            return self.perform(node, entry, Some(of), arguments);
        }
        self.inert_method(node, of, &arguments)
    }

    /// Returns the result of a method without a known effect.
    fn inert_method(&mut self, node: &Node, of: &Value, arguments: &[Argument]) -> Value {
        let value = self.inert(node, arguments);
        match of {
            // It may return one of its elements.
            Value::List(cell) | Value::Map(cell) if self.is_capable(of) => {
                let values = self.state.cell(*cell).entries.into_iter().map(|(_, value)| value);
                self.any(node, values.chain([value]))
            }
            _ => value,
        }
    }

    fn entry_of(&self, of: &Value, name: &str) -> Option<&'static Entry> {
        match of {
            Value::Object(Ref(space), _) => space.member(name),
            // A module that is a member of an unknown value: `x.os.remove(...)`.
            Value::Method(_, module) if REACHED.contains(&&**module) => {
                self.table.module(module).and_then(|space| space.entry(name))
            }
            _ => None,
        }
    }

    /// Runs `f.call(this, ...)` and similar methods, and the callbacks of a promise.
    fn applied(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let is_function = matches!(
            of,
            Value::Function(_)
                | Value::Library(..)
                | Value::Method(..)
                | Value::Partial(..)
                | Value::Class(_)
        );
        match name {
            "" => Some(self.lost(node, Why::Dynamic)),
            "__call__" if is_function && self.language == Language::Python => {
                Some(self.call(node, of, arguments.to_vec()))
            }
            "call" | "apply" if is_function => {
                if let Some(this) = arguments.first() {
                    self.hand_capable(node, &this.value);
                }
                let rest = arguments.get(1..).unwrap_or_default();
                let mut given = Vec::new();
                match rest.first().filter(|_| name == "apply") {
                    Some(list) => self.spread(node, &list.value, &mut given),
                    None => given.extend(rest.iter().filter(|_| name == "call").cloned()),
                }
                Some(self.call(node, of, given))
            }
            "bind" if is_function => {
                let first: Vec<Value> = arguments.iter().skip(1).map(|one| one.value.clone()).collect();
                Some(if first.is_empty() { of.clone() } else { Value::partial(of.clone(), first) })
            }
            "then" | "finally" => {
                let callback = arguments.first()?;
                let given = if name == "then" { vec![Argument::plain(of.clone())] } else { Vec::new() };
                for failed in arguments.iter().skip(1) {
                    self.hand(node, &failed.value);
                }
                Some(self.call(node, &callback.value, given))
            }
            _ => None,
        }
    }

    /// Calls something without effects of its own.
    pub(super) fn inert(&mut self, node: &Node, arguments: &[Argument]) -> Value {
        self.hand_all(node, arguments);
        self.unknown(node, Why::Dynamic)
    }

    /// Passes all arguments to code that is not followed.
    pub(super) fn hand_all(&mut self, node: &Node, arguments: &[Argument]) {
        for argument in arguments {
            self.hand(node, &argument.value);
        }
    }

    /// Passes a value to code that is not followed. That code may call the program's functions with any arguments, and
    /// may use list elements separately.
    pub(super) fn hand(&mut self, node: &Node, value: &Value) {
        let mut left = vec![value.clone()];
        let mut seen = HashSet::new();
        while let Some(value) = left.pop() {
            if !value.is_callable() {
                continue;
            }
            if !self.step(1) {
                return;
            }
            match &value {
                Value::Any(values) => left.extend(values.iter().rev().cloned()),
                Value::List(cell) | Value::Map(cell) => {
                    if seen.insert(*cell) {
                        let entries = self.state.cell(*cell).entries;
                        left.extend(entries.into_iter().rev().map(|(_, value)| value));
                    }
                }
                one => self.hand_one(node, one),
            }
        }
    }

    fn hand_one(&mut self, node: &Node, value: &Value) {
        match value {
            Value::Function(function) => self.cover(node, *function, None, self.language.handed()),
            Value::Module(_) | Value::Names(_) => {
                if self.is_capable(value) {
                    self.lost(node, Why::Dynamic);
                }
            }
            Value::Library(..) | Value::Method(..) | Value::Partial(..) | Value::Object(..) => {
                let acts = match value {
                    Value::Object(space, _) => space.0.entry("@").is_some_and(Entry::is_capable),
                    Value::Partial(of, given) => match &**of {
                        Value::Function(function) => {
                            let first = given.first().map(|(_, value)| value.clone());
                            return self.cover(node, *function, first, self.language.handed());
                        }
                        _ => true,
                    },
                    other => self.is_capable(other),
                };
                if acts {
                    self.call(node, value, vec![Argument::unknown(Why::Parameter)]);
                }
            }
            // Their methods run at the end.
            Value::Class(_) | Value::Instance(_) => {}
            Value::Any(_) | Value::List(_) | Value::Map(_) => {}
            Value::Text(_) | Value::Number(_) | Value::Constant | Value::Package(_) | Value::Unknown(..) => {}
        }
    }

    fn hand_capable(&mut self, node: &Node, value: &Value) {
        if self.is_capable(value) {
            self.hand(node, value);
        }
    }
}
