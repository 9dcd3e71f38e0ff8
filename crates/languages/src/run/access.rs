//! Members and elements of values, and the effects that a value gives access to.

use std::collections::HashSet;

use castellan_event::{Role, Why};

use super::{Argument, Machine};
use crate::language::Language;
use crate::table::{Entry, Parameter, Space};
use crate::tree::Node;
use crate::value::{CellId, Ref, Value};

/// Members of a promise, such as a module that is being loaded.
const PROMISED: &[&str] = &["then", "catch", "finally"];

impl Machine<'_> {
    /// `of.name`
    pub(super) fn member(&mut self, node: &Node, of: &Value, name: &str) -> Value {
        if let Value::Any(values) = of {
            let members: Vec<Value> = values.iter().map(|one| self.member(node, one, name)).collect();
            return self.any(node, members);
        }
        if let Value::Object(space, this) = of
            && space.0.name() == "Super"
        {
            return self.member_of_super(node, this, name);
        }
        let has_entry = matches!(of, Value::Module(space) if space.0.entry(name).is_some());
        if self.table.escapes.contains(&name) && !has_entry && !matches!(of, Value::Map(_)) {
            return self.escape(node, of, name);
        }
        self.known_member(node, of, name).unwrap_or_else(|| Value::Method(of.clone().into(), name.into()))
    }

    /// Returns a member of one value; `None` if only its name is known.
    fn known_member(&mut self, node: &Node, of: &Value, name: &str) -> Option<Value> {
        match of {
            Value::Module(_) if PROMISED.contains(&name) && self.language == Language::JavaScript => None,
            Value::Module(space) => {
                let is_global = space.0.name() == self.table.global;
                // A global that the program itself has set.
                let own = self.state.own_name(0, name).filter(|_| is_global);
                let known = own.or_else(|| self.member_of_module(node, space.0, name));
                if known.is_some() {
                    return known;
                }
                let written = format!("{}.{name}", space.0.name());
                self.hole(node.at, Role::Code, Why::Unsupported, &written);
                Some(Value::unknown(Why::Unsupported, &written))
            }
            Value::Package(package) => Some(self.member_of_package(package, name)),
            Value::Library(_, entry) => self.member_of_library(of, entry.0, name),
            Value::Object(space, _)
                if self.is_environment(space.0) && self.language == Language::JavaScript =>
            {
                Some(self.environment(node, &Value::text(name)))
            }
            Value::Object(space, inner) => {
                if let Some(member) = self.remote_member(space.0, inner, name) {
                    return Some(member);
                }
                let entry = space.0.member(name).filter(|entry| entry.parameters.is_none())?;
                Some(self.value_of(node, entry, Some(of)))
            }
            Value::Map(_) if matches!(self.language, Language::Perl | Language::Ruby) => None,
            Value::Class(class) if self.language == Language::Ruby => {
                Some(self.member_of_class(of, *class, name))
            }
            Value::Instance(cell) => self.member_of_instance(node, of, *cell, name),
            Value::Class(class) => self.class_member(*class, name),
            Value::Map(cell) => self.member_of_map(of, *cell, name),
            Value::Names(scope) => self.state.own_name(*scope, name),
            Value::List(_) if name == "length" => Some(self.length(node, of)),
            Value::Text(_)
            | Value::Number(_)
            | Value::Constant
            | Value::List(_)
            | Value::Function(_)
            | Value::Method(..)
            | Value::Partial(..)
            | Value::Any(_)
            | Value::Unknown(..) => None,
        }
    }

    fn length(&mut self, node: &Node, list: &Value) -> Value {
        let (elements, known) = self.elements(node, list);
        match i64::try_from(elements.len()) {
            Ok(count) if known => Value::Number(count),
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    fn member_of_library(&self, of: &Value, entry: &Entry, name: &str) -> Option<Value> {
        if name == "default" {
            return Some(of.clone());
        }
        let kind = self.table.kind(entry.gives).or_else(|| self.table.kind(entry.name()));
        match kind.and_then(|kind| Some((kind, kind.entry(name)?))) {
            // PHP allows calls of some methods without an object.
            Some((kind, entry)) if self.language == Language::Php && entry.takes_receiver() => {
                Some(Value::Method(Value::Object(Ref(kind), Value::Constant.into()).into(), name.into()))
            }
            Some((kind, entry)) => Some(Value::Library(Ref(kind), Ref(entry))),
            // A member of an opaque function is opaque, too: `vim.cmd.name(...)` is like `vim.cmd("name ...")`.
            None => entry.parameters().iter().any(Parameter::is_opaque).then(|| of.clone()),
        }
    }

    fn member_of_instance(&mut self, node: &Node, of: &Value, cell: CellId, name: &str) -> Option<Value> {
        let cell = self.state.cell(cell);
        let own = cell.value(name).cloned();
        let of_class = cell.class.and_then(|class| self.class_member(class, name));
        match (own, of_class) {
            (Some(own), _) => Some(own),
            (None, Some(Value::Function(function))) => Some(self.method_of(of, function)),
            (None, Some(other)) => Some(other),
            (None, None) => cell.class.and_then(|class| self.missing_member(node, of, class, name)),
        }
    }

    fn member_of_map(&self, of: &Value, cell: CellId, name: &str) -> Option<Value> {
        Some(match self.state.cell(cell).value(name)? {
            Value::Function(function) if self.language == Language::JavaScript => {
                self.method_of(of, *function)
            }
            value => value.clone(),
        })
    }

    /// Binds a function to an object.
    pub(super) fn method_of(&self, of: &Value, function: usize) -> Value {
        Value::partial(Value::Function(function), vec![of.clone()])
    }

    /// Reads a member that gives access to anything.
    fn escape(&mut self, node: &Node, of: &Value, name: &str) -> Value {
        match (of, name) {
            // The module's names, like those of `globals()`.
            (Value::Module(space), "__dict__") => Value::Module(*space),
            (Value::Module(_) | Value::Names(_) | Value::Package(_), "__builtins__") => self.globals(),
            (
                Value::Instance(_) | Value::Class(_),
                "__dict__" | "__init__" | "constructor" | "prototype" | "__proto__",
            ) => Value::Method(of.clone().into(), name.into()),
            (_, "constructor") => Value::Method(of.clone().into(), name.into()),
            _ => self.lost(node, Why::Dynamic),
        }
    }

    pub(super) fn member_of_module(
        &mut self,
        node: &Node,
        space: &'static Space,
        name: &str,
    ) -> Option<Value> {
        if space.name() == self.table.global && space.names.contains(&name) {
            return Some(Value::Module(Ref(space)));
        }
        if let Some(entry) = space.entry(name) {
            return Some(match entry.parameters {
                Some(_) => Value::Library(Ref(space), Ref(entry)),
                None => self.value_of(node, entry, None),
            });
        }
        if name == "default" {
            return Some(Value::Module(Ref(space)));
        }
        if let Some(remote) = self.remote_of_module(node, space, name) {
            return Some(remote);
        }
        for own in space.names {
            let below = format!("{own}.{name}");
            if let Some(module) = self.table.module(&below) {
                return Some(Value::Module(Ref(module)));
            }
        }
        if space.has_inert(name) {
            return Some(self.unknown(node, Why::Dynamic));
        }
        // A module gives access to the modules that it has loaded for itself.
        if space.name() != self.table.global
            && let Some(module) = self.table.module(name.trim_start_matches('_'))
        {
            return Some(Value::Module(Ref(module)));
        }
        space.is_inert(name).then(|| self.unknown(node, Why::Dynamic))
    }

    /// Returns an unknown member. In JavaScript it may be the function constructor, so a call of it gives a `Hole`.
    fn some_member(&self, node: &Node, of: &Value) -> Value {
        match (self.language, of) {
            (Language::JavaScript, _) => Value::Method(of.clone().into(), "".into()),
            (
                Language::Python | Language::Perl | Language::Ruby | Language::Php | Language::Lua,
                Value::Unknown(why, written),
            ) => Value::Unknown(*why, written.clone()),
            (Language::Python | Language::Perl | Language::Ruby | Language::Php | Language::Lua, _) => {
                self.unknown(node, Why::Dynamic)
            }
            // These languages call members by name, so it may be a method that acts.
            (Language::PowerShell | Language::Batch | Language::AppleScript, _) => {
                Value::Method(of.clone().into(), "".into())
            }
        }
    }

    pub(super) fn is_environment(&self, space: &Space) -> bool {
        space.name() == "Environment"
    }

    /// Returns the module whose members need no import.
    pub(super) fn globals(&self) -> Value {
        self.table.module(self.table.global).map_or(Value::Constant, |space| Value::Module(Ref(space)))
    }

    fn member_of_package(&self, package: &str, name: &str) -> Value {
        let below = format!("{package}.{name}");
        let bare = name.trim_start_matches('_');
        let module = self.table.module(&below).or_else(|| {
            let is_own = self.table.inert.binary_search(&below.as_str()).is_ok();
            if is_own { None } else { self.table.module(bare) }
        });
        match module {
            Some(module) => Value::Module(Ref(module)),
            // Modules that it loads at a deeper level are accessible, too.
            None => Value::Package(below.into()),
        }
    }

    /// `of[index]`
    pub(super) fn index(&mut self, node: &Node, of: &Value, index: &Value) -> Value {
        if let Value::Any(values) = of {
            let values: Vec<Value> = values.iter().map(|one| self.index(node, one, index)).collect();
            return self.any(node, values);
        }
        if let Value::Any(indexes) = index {
            let values: Vec<Value> = indexes.iter().map(|one| self.index(node, of, one)).collect();
            return self.any(node, values);
        }
        match of {
            Value::List(cell) | Value::Map(cell) => self.element(node, of, *cell, index),
            Value::Object(space, _) if self.is_environment(space.0) => self.environment(node, index),
            Value::Object(space, _) if space.0.name() == "Modules" => self.load(node, index),
            _ if self.language == Language::Ruby && super::ruby::is_function(of) => {
                self.call(node, of, vec![Argument::plain(index.clone())])
            }
            Value::Text(_) if matches!(index, Value::Number(_)) => {
                let (elements, known) = self.elements(node, of);
                let at = match index {
                    Value::Number(at) if *at < 0 => at + elements.len() as i64,
                    Value::Number(at) => *at,
                    _ => -1,
                };
                let found =
                    usize::try_from(at).ok().filter(|_| known).and_then(|at| elements.get(at).cloned());
                found.unwrap_or_else(|| self.unknown(node, Why::Dynamic))
            }
            Value::Names(scope) => match index.as_str().map(|name| self.language.variable(name)) {
                Some(name) => match self.state.name(*scope, &name) {
                    Some(value) => value,
                    None => self.member(node, of, &name),
                },
                None => self.lost(node, Why::Dynamic),
            },
            _ => match index.as_str().map(str::to_owned) {
                Some(name) => self.member(node, of, &name),
                None if self.is_capable(of) => self.lost(node, Why::Dynamic),
                None => self.some_member(node, of),
            },
        }
    }

    /// Returns an element of a list or map, whose position may be unknown.
    fn element(&mut self, node: &Node, of: &Value, cell: CellId, index: &Value) -> Value {
        let cell = self.state.cell(cell);
        let key = index.to_arg().and_then(|arg| arg.as_str().map(str::to_owned));
        let found = match (index, &key) {
            (Value::Number(at), _) if matches!(of, Value::List(_)) => {
                let at = &(*at - self.language.first_index());
                let is_keyed = matches!(self.language, Language::Php | Language::Lua)
                    && (*at < 0 || cell.entries.iter().any(|(key, _)| key.is_some()));
                if is_keyed {
                    let own = cell
                        .entries
                        .iter()
                        .find(|(own, _)| own.is_some() && own.as_deref() == key.as_deref());
                    return match own.filter(|_| !cell.is_open) {
                        Some((_, value)) => value.clone(),
                        None => {
                            let other = self.some_member(node, of);
                            self.any(node, cell.entries.iter().map(|(_, value)| value.clone()).chain([other]))
                        }
                    };
                }
                let at = if *at < 0 { at + cell.entries.len() as i64 } else { *at };
                let at = usize::try_from(at).ok().filter(|_| !cell.is_open);
                at.and_then(|at| cell.entries.get(at)).map(|(_, value)| value.clone())
            }
            (_, Some(key)) => {
                let found = cell.entries.iter().find(|(own, _)| own.as_deref() == Some(key));
                found.map(|(_, value)| value.clone())
            }
            _ => None,
        };
        match (found, &key) {
            // A value that was stored under an unknown key may have replaced it.
            (Some(value), _) if cell.is_open => {
                let others = cell.entries.into_iter().filter(|(key, _)| key.is_none());
                let others: Vec<Value> = others.map(|(_, value)| value).collect();
                self.any(node, [value].into_iter().chain(others))
            }
            (Some(value), _) => value,
            // An index after the end.
            (None, _) if matches!((of, index), (Value::List(_), Value::Number(_))) && !cell.is_open => {
                self.unknown(node, Why::Dynamic)
            }
            (None, Some(name)) if !matches!(index, Value::Number(_)) && !cell.is_open => {
                self.member(node, of, &name.clone())
            }
            _ => {
                let values: Vec<Value> = cell.entries.into_iter().map(|(_, value)| value).collect();
                let other = self.some_member(node, of);
                self.any(node, values.into_iter().chain([other]))
            }
        }
    }

    /// Reports whether a value may act on files, processes or the network, or give access to a value that does.
    /// Functions of the program are not included, because they run separately.
    pub(super) fn is_capable(&mut self, value: &Value) -> bool {
        let mut left = vec![value];
        let mut seen = HashSet::new();
        let mut is_capable = false;
        while let Some(value) = left.pop().filter(|_| !is_capable) {
            if !self.step(1) {
                return true;
            }
            match value {
                Value::Module(space) => is_capable |= space.0.is_capable(),
                Value::Library(_, entry) => is_capable |= entry.0.is_capable(),
                Value::Method(of, name) => match &**of {
                    Value::Object(space, _) => {
                        is_capable |= space.0.entry(name).is_some_and(Entry::is_capable);
                    }
                    other => left.push(other),
                },
                Value::Partial(of, _) => left.push(of),
                Value::Names(_) => is_capable = true,
                Value::Any(values) => left.extend(values.iter()),
                Value::List(cell) | Value::Map(cell) => {
                    let entries = self.state.cell_ref(*cell).filter(|_| seen.insert(*cell));
                    let entries = entries.into_iter().flat_map(|cell| &cell.entries);
                    left.extend(entries.map(|(_, value)| value).filter(|value| value.is_callable()));
                    is_capable |= !self.step(8);
                }
                Value::Text(_)
                | Value::Number(_)
                | Value::Constant
                | Value::Instance(_)
                | Value::Function(_)
                | Value::Class(_)
                | Value::Object(..)
                | Value::Package(_)
                | Value::Unknown(..) => {}
            }
        }
        is_capable
    }
}
