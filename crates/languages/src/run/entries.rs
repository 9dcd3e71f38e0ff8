//! Maps that are built from other maps, including the environment. Must not know what variables do.

use std::rc::Rc;

use castellan_event::Why;

use super::{Argument, Machine};
use crate::state::Cell;
use crate::tree::Node;
use crate::value::Value;

impl Machine<'_> {
    /// Runs a computation on the entries of its arguments, including named ones. Returns `None` for another
    /// computation, or if an argument is no map; the caller then passes it on like any argument.
    pub(super) fn of_maps(&mut self, node: &Node, computes: &str, arguments: &[Argument]) -> Option<Value> {
        match computes {
            "keyed" => self.merged_maps(node, arguments).map(|cell| Value::Map(self.state.new_cell(cell))),
            "assigned" => self.assigned(node, arguments),
            "environment-update" => Some(self.update_environment(node, arguments)),
            "defined" => self.defined(node, arguments),
            _ => None,
        }
    }

    /// Merges the entries of maps and of named arguments. The last entry of a key wins.
    fn merged_maps(&mut self, node: &Node, arguments: &[Argument]) -> Option<Cell> {
        let mut made = Cell::default();
        let mut all = Vec::new();
        for argument in arguments {
            match (&argument.name, &argument.value) {
                (Some(name), value) => all.push((Some(Rc::clone(name)), value.clone())),
                (None, Value::Map(other) | Value::Instance(other)) => {
                    let other = self.state.cell(*other);
                    made.is_open |= other.is_open;
                    all.extend(other.entries);
                }
                (None, list @ Value::List(_)) => {
                    let (pairs, known) = self.elements(node, list);
                    made.is_open |= !known;
                    for pair in &pairs {
                        let (key, value) = self.pair(node, pair)?;
                        made.is_open |= key.is_none();
                        all.push((key, value));
                    }
                }
                (None, Value::Object(space, _)) if self.is_environment(space.0) => made.is_open = true,
                (None, Value::Unknown(..)) => made.is_open = true,
                (None, Value::Constant) => {}
                _ => return None,
            }
            made.is_open |= argument.is_spread;
        }
        for (key, value) in all {
            if key.is_some() {
                made.entries.retain(|(before, _)| *before != key);
                if !self.step(1 + made.entries.len() as u64 / 8) {
                    return None;
                }
            }
            made.entries.push((key, value));
        }
        let is_data = arguments.iter().any(|one| matches!(one.value, Value::Unknown(..)));
        (!is_data || !made.entries.is_empty()).then_some(made)
    }

    /// Returns the key, if it is known, and the value of a list of two.
    fn pair(&mut self, node: &Node, pair: &Value) -> Option<(Option<Rc<str>>, Value)> {
        if let Value::Unknown(..) = pair {
            return Some((None, pair.clone()));
        }
        let Value::List(_) = pair else { return None };
        let (pair, known) = self.elements(node, pair);
        let [key, value] = pair.as_slice() else { return None };
        known.then(|| (key.key(), value.clone()))
    }

    /// `Object.assign(target, ...sources)`: returns the target with all entries of the sources.
    fn assigned(&mut self, node: &Node, arguments: &[Argument]) -> Option<Value> {
        let (target, sources) = arguments.split_first()?;
        let into = &target.value;
        let is_data =
            matches!(into, Value::Unknown(..) | Value::Constant | Value::Number(_) | Value::Text(_));
        if is_data || target.is_spread {
            return None;
        }
        let cell = self.merged_maps(node, sources)?;
        for (key, value) in cell.entries {
            let key = self.key_value(node, key);
            self.store(node, into, &key, value);
        }
        if let (Value::Map(id) | Value::Instance(id), true) = (into, cell.is_open) {
            let opened = Cell { is_open: true, ..self.state.cell(*id) };
            self.state.set_cell(*id, opened);
        }
        Some(into.clone())
    }

    /// `Object.defineProperty(target, key, { value })`. An accessor function runs like any function that is passed on.
    fn defined(&mut self, node: &Node, arguments: &[Argument]) -> Option<Value> {
        let [target, key, Argument { value: Value::Map(descriptor), .. }] = arguments else { return None };
        let entries = self.state.cell(*descriptor).entries;
        for (name, value) in entries {
            match name.as_deref() {
                Some("value") => self.store(node, &target.value, &key.value, value),
                _ => self.hand(node, &value),
            }
        }
        Some(target.value.clone())
    }

    /// Sets environment variables, each separately. An unknown argument may set any variable.
    fn update_environment(&mut self, node: &Node, arguments: &[Argument]) -> Value {
        let unknown = self.unknown(node, Why::Dynamic);
        let Some(cell) = self.merged_maps(node, arguments) else {
            self.variable(node, &unknown, &unknown);
            return Value::Constant;
        };
        for (key, value) in cell.entries {
            let key = key.map_or_else(|| unknown.clone(), |key| Value::text(&*key));
            self.variable(node, &key, &value);
        }
        if arguments.iter().any(|argument| matches!(argument.value, Value::Unknown(..))) {
            self.variable(node, &unknown, &unknown);
        }
        Value::Constant
    }

    /// `Object.create(of)`: returns a copy, another object with the same members.
    pub(super) fn inherited(&mut self, of: &Value) -> Value {
        match of {
            Value::Map(cell) => {
                let cell = self.state.cell(*cell);
                Value::Map(self.state.new_cell(cell))
            }
            Value::Constant => Value::Map(self.state.new_cell(Cell::default())),
            other => self.cloned(other),
        }
    }
}
