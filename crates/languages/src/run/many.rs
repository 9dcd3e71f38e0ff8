//! Multiple values of Lua functions, and the values that Lua loops iterate. Must not know grammars.

use castellan_event::{Role, Why};

use super::bound::Bound;
use super::call::MethodCall;
use super::{Argument, Machine};
use crate::language::Language;
use crate::state::Cell;
use crate::tree::{Kind, Node};
use crate::value::{Ref, Value};

/// The type of multiple values.
const VALUES: &str = "Values";

impl Machine<'_> {
    /// Returns the first of multiple values.
    pub(super) fn single(&mut self, node: &Node, value: Value) -> Value {
        if self.language != Language::Lua || !value.choices().iter().any(is_several) {
            return value;
        }
        self.over(node, &value, |machine, one| match one {
            Value::Object(_, list) if is_several(one) => {
                machine.elements(node, list).0.into_iter().next().unwrap_or(Value::Constant)
            }
            other => other.clone(),
        })
    }

    pub(super) fn single_call(&mut self, node: &Node, callee: &Node, arguments: &[Node]) -> Value {
        let value = self.calls(node, callee, arguments, false);
        self.single(node, value)
    }

    /// Evaluates an expression; keeps all values of a call.
    pub(super) fn untruncated(&mut self, node: &Node) -> Value {
        match &node.kind {
            Kind::Call(callee, arguments) if self.language == Language::Lua && self.step(1) => {
                self.calls(node, callee, arguments, false)
            }
            _ => self.eval(node),
        }
    }

    /// Returns all values of an expression, as a list.
    pub(super) fn many(&mut self, node: &Node) -> Value {
        let is_rest = matches!(node.kind, Kind::Name(_));
        match self.untruncated(node) {
            Value::Object(kind, list) if kind.0.name() == VALUES => (*list).clone(),
            list @ Value::List(_) if is_rest => list,
            value if value.choices().iter().any(is_several) => {
                let mut all = Vec::new();
                for one in value.choices() {
                    match one {
                        Value::Object(_, list) if is_several(one) => all.extend(self.elements(node, list).0),
                        other => all.push(other.clone()),
                    }
                }
                let any = self.any(node, all);
                self.listed([any], true)
            }
            value => self.list([value]),
        }
    }

    pub(super) fn several(&mut self, values: Vec<Value>) -> Value {
        let list = self.list(values);
        self.object(VALUES, list)
    }

    /// Returns an object of a library type, or the value alone if the language has no such type.
    fn object(&self, kind: &str, value: Value) -> Value {
        match self.table.kind(kind) {
            Some(kind) => Value::Object(Ref(kind), value.into()),
            None => value,
        }
    }

    /// `values(a, b)`: the values that a function returns.
    pub(super) fn returned(&mut self, bound: &Bound) -> Value {
        let values = bound.values(0);
        match (self.several(values), bound.is_open) {
            (Value::Object(kind, list), true) => {
                if let Value::List(id) = &*list {
                    let cell = Cell { is_open: true, ..self.state.cell(*id) };
                    self.state.set_cell(*id, cell);
                }
                Value::Object(kind, list)
            }
            (value, _) => value,
        }
    }

    /// `table.unpack(list)`
    pub(super) fn unpacked(&mut self, node: &Node, bound: &Bound) -> Value {
        match (bound.first(), bound.at(1)) {
            (list @ Value::List(_), None) => self.object(VALUES, list),
            (list, _) => {
                let (elements, _) = self.elements(node, &list);
                self.any(node, elements)
            }
        }
    }

    /// `select(from, ...)`
    pub(super) fn selected(&mut self, node: &Node, bound: &Bound) -> Value {
        let values = bound.values(1);
        match bound.first() {
            Value::Number(from) if from > 0 && !bound.is_open => {
                let skipped = usize::try_from(from - 1).unwrap_or(usize::MAX);
                self.several(values.into_iter().skip(skipped).collect())
            }
            Value::Text(_) => self.unknown(node, Why::Arithmetic),
            _ => self.any(node, values),
        }
    }

    /// `of:name(...)`
    pub(super) fn method_called(&mut self, node: &Node, bound: &Bound) -> Value {
        let (of, name) = (bound.first(), bound.value(1));
        let mut arguments = bound.plain_arguments(2);
        if let Some(last) = arguments.last_mut().filter(|_| bound.is_open) {
            last.is_spread = true;
        }
        self.either(node, of.choices(), |machine, one| {
            let of_texts = match one {
                Value::Text(_) => machine.table.module("string").map(|space| Value::Module(Ref(space))),
                _ => None,
            };
            let member = machine.index(node, of_texts.as_ref().unwrap_or(one), &name);
            let takes_self = of_texts.is_some()
                || member.choices().iter().any(|member| matches!(member, Value::Function(_)));
            let own = takes_self.then(|| Argument::plain(one.clone()));
            let given = own.into_iter().chain(arguments.iter().cloned()).collect();
            machine.call(node, &member, given)
        })
    }

    /// `pcall(f, ...)`: returns a status and the results. `skips` is the number of arguments before the function's own.
    pub(super) fn protected(&mut self, node: &Node, bound: &Bound, skips: usize) -> Value {
        let arguments = bound.plain_arguments(1 + skips);
        for (_, handler) in bound.given.iter().skip(1).take(skips) {
            self.hand(node, handler);
        }
        let mark = self.state.mark();
        let result = self.call(node, &bound.first(), arguments);
        self.rejoin(node, mark, false);
        let ok = self.unknown(node, Why::Dynamic);
        let values = match &result {
            Value::Object(_, list) if is_several(&result) => self.elements(node, list).0,
            _ => vec![self.single(node, result.clone())],
        };
        self.several(std::iter::once(ok).chain(values).collect())
    }

    /// Returns a row of values for each round of a loop.
    pub(super) fn iterated(&mut self, node: &Node, bound: &Bound) -> Value {
        let over = bound.first();
        let mut rows = Vec::new();
        let mut is_open = true;
        match &over {
            Value::Object(space, list) if space.0.name() == "Rows" => return (**list).clone(),
            Value::Library(_, entry) if entry.0.name() == "next" => {
                return self.array_entries(node, bound.at(1).unwrap_or(&Value::Constant));
            }
            Value::List(_) => {
                let (elements, known) = self.elements(node, &over);
                is_open = !known;
                for element in elements {
                    rows.push(self.list([element]));
                }
            }
            Value::Function(_) | Value::Partial(..) | Value::Any(_) => {
                let given = bound.given.iter().skip(1).map(|(_, value)| Argument::plain(value.clone()));
                let result = self.call(node, &over, given.collect());
                rows.push(match &result {
                    Value::Object(_, list) if is_several(&result) => (**list).clone(),
                    _ => self.list([result]),
                });
            }
            Value::Unknown(..) => return over,
            _ => return self.unknown(node, Why::Dynamic),
        }
        self.listed(rows, is_open)
    }

    /// `pairs(table)`, `ipairs(table)`
    pub(super) fn rows(&mut self, node: &Node, bound: &Bound) -> Value {
        let rows = match bound.first() {
            Value::Module(_) => self.lost(node, Why::Dynamic),
            table => self.array_entries(node, &table),
        };
        self.object("Rows", rows)
    }

    /// `setmetatable(table, other)`: missing entries come from `__index`.
    pub(super) fn with_metatable(&mut self, node: &Node, bound: &Bound) -> Value {
        let table = bound.first();
        let other = bound.value(1);
        for one in table.choices() {
            let Value::List(list) = one else { continue };
            let Value::List(meta) = &other else {
                if other != Value::Constant {
                    self.hand(node, &other);
                }
                continue;
            };
            let meta = self.state.cell(*meta);
            let mut cell = self.state.cell(*list);
            cell.is_open |= meta.is_open;
            for (key, value) in meta.entries {
                match key.as_deref() {
                    Some("__index") => {
                        let Value::List(index) = &value else {
                            if !matches!(value, Value::Function(_)) && self.is_capable(&value) {
                                self.lost(node, Why::Dynamic);
                            }
                            continue;
                        };
                        for (key, value) in self.state.cell(*index).entries {
                            if key.as_deref().is_some_and(|key| cell.value(key).is_none()) {
                                cell.entries.push((key, value));
                            }
                        }
                    }
                    Some("__call") if cell.value("__call").is_none() => cell.entries.push((key, value)),
                    _ => {}
                }
            }
            self.state.set_cell(*list, cell);
        }
        table
    }

    /// `load(text)`: returns a function with this code. A function that returns the text in parts is not followed.
    pub(super) fn loaded_code(&mut self, node: &Node, bound: &Bound) -> Value {
        let text = bound.first();
        if text.is_callable() {
            return self.lost(node, Why::Dynamic);
        }
        if bound.at(3).is_some() {
            // The names in the code come from a table.
            self.hole(node.at, Role::Code, Why::Dynamic, "names of its own");
        }
        self.made_function(node, &[Argument::plain(text)])
    }

    /// `string.gsub(text, pattern, to)`, where the pattern is plain text.
    pub(super) fn plainly_replaced(&mut self, node: &Node, bound: &Bound) -> Value {
        if let Some(to) = bound.at(2).filter(|to| to.is_callable()).cloned() {
            self.hand(node, &to);
            return self.unknown(node, Why::Dynamic);
        }
        let is_magic =
            |text: &str| text.contains(['^', '$', '(', ')', '%', '.', '[', ']', '*', '+', '-', '?']);
        let texts = (bound.first(), bound.at(1).and_then(Value::as_str), bound.at(2).and_then(Value::as_str));
        let (text @ Value::Text(_), Some(from), Some(to)) = texts else {
            return self.unknown(node, Why::Dynamic);
        };
        if is_magic(from) || to.contains('%') || bound.at(3).is_some() {
            return self.unknown(node, Why::Dynamic);
        }
        let given = [Value::text(from), Value::text(to), text];
        let mut parts = bound.given.iter().map(|(parameter, _)| *parameter);
        let given = given.into_iter().filter_map(|value| Some((parts.next()?, value))).collect();
        self.replaced(node, &Bound { given, ..Bound::default() })
    }

    /// `table.insert(list, value)`, `table.insert(list, place, value)`
    pub(super) fn inserted(&mut self, node: &Node, bound: &Bound) -> Value {
        let list = bound.first();
        let (method, given) = match (bound.at(1), bound.at(2)) {
            (Some(Value::Number(place)), Some(value)) => {
                ("insert", vec![Value::Number(place.saturating_sub(1)), value.clone()])
            }
            (Some(place), Some(value)) => ("insert", vec![place.clone(), value.clone()]),
            (Some(value), None) => ("append", vec![value.clone()]),
            _ => return Value::Constant,
        };
        let given: Vec<Argument> = given.into_iter().map(Argument::plain).collect();
        for one in list.choices() {
            if self.list_method(MethodCall { node, of: one, name: method, arguments: &given }).is_none() {
                self.hand_all(node, &given);
            }
        }
        Value::Constant
    }

    /// Calls a table through its metatable.
    pub(super) fn called_table(&mut self, node: &Node, of: &Value, arguments: &[Argument]) -> Option<Value> {
        let Value::List(cell) = of else { return None };
        let cell = self.state.cell(*cell);
        let own = Argument::plain(of.clone());
        let given = std::iter::once(own).chain(arguments.iter().cloned()).collect();
        Some(self.call(node, cell.value("__call")?, given))
    }
}

fn is_several(value: &Value) -> bool {
    matches!(value, Value::Object(space, _) if space.0.name() == VALUES)
}
