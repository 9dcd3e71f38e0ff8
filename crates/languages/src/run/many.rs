//! Multiple values of Lua functions, and the values that Lua loops iterate. Must not know grammars.

use castellan_event::{Role, Why};

use super::bound::Bound;
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
        let firsts: Vec<Value> = value
            .choices()
            .iter()
            .map(|one| match one {
                Value::Object(_, list) if is_several(one) => {
                    self.elements(node, list).0.into_iter().next().unwrap_or(Value::Constant)
                }
                other => other.clone(),
            })
            .collect();
        self.any(node, firsts)
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
                self.open_list(any)
            }
            value => self.list([value]),
        }
    }

    fn open_list(&mut self, value: Value) -> Value {
        Value::List(self.state.new_cell(Cell { entries: vec![(None, value)], is_open: true, class: None }))
    }

    pub(super) fn several(&mut self, values: Vec<Value>) -> Value {
        let list = self.list(values);
        match self.table.kind(VALUES) {
            Some(kind) => Value::Object(Ref(kind), list.into()),
            None => list,
        }
    }

    /// `values(a, b)`: the values that a function returns.
    pub(super) fn returned(&mut self, bound: &Bound) -> Value {
        let values = bound.given.iter().map(|(_, value)| value.clone()).collect();
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
            (list @ Value::List(_), None) => match self.table.kind(VALUES) {
                Some(kind) => Value::Object(Ref(kind), list.into()),
                None => list,
            },
            (list, _) => {
                let (elements, _) = self.elements(node, &list);
                self.any(node, elements)
            }
        }
    }

    /// `select(from, ...)`
    pub(super) fn selected(&mut self, node: &Node, bound: &Bound) -> Value {
        let values: Vec<Value> = bound.given.iter().skip(1).map(|(_, value)| value.clone()).collect();
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
        let (of, name) = (bound.first(), bound.at(1).cloned().unwrap_or(Value::Constant));
        let given = bound.given.iter().skip(2).map(|(_, value)| value.clone());
        let mut arguments: Vec<Argument> = given.map(Argument::plain).collect();
        if let Some(last) = arguments.last_mut().filter(|_| bound.is_open) {
            last.is_spread = true;
        }
        let mut results = Vec::new();
        let mut outcomes = Vec::new();
        for one in of.choices() {
            let mark = self.state.mark();
            let of_texts = match one {
                Value::Text(_) => self.table.module("string").map(|space| Value::Module(Ref(space))),
                _ => None,
            };
            let of_one = of_texts.as_ref().unwrap_or(one);
            let member = self.index(node, of_one, &name);
            let takes_self = of_texts.is_some()
                || member.choices().iter().any(|member| matches!(member, Value::Function(_)));
            let own = takes_self.then(|| Argument::plain(one.clone()));
            let given = own.into_iter().chain(arguments.iter().cloned()).collect();
            results.push(self.call(node, &member, given));
            outcomes.push(self.state.leave(mark));
        }
        let joined = self.state.join(outcomes);
        self.settled(node, joined);
        self.any(node, results)
    }

    /// `pcall(f, ...)`: returns a status and the results. `skips` is the number of arguments before the function's own.
    pub(super) fn protected(&mut self, node: &Node, bound: &Bound, skips: usize) -> Value {
        let given = bound.given.iter().skip(1 + skips).map(|(_, value)| value.clone());
        let arguments: Vec<Argument> = given.map(Argument::plain).collect();
        for (_, handler) in bound.given.iter().skip(1).take(skips) {
            self.hand(node, handler);
        }
        let mark = self.state.mark();
        let result = self.call(node, &bound.first(), arguments);
        let joined = self.state.join_history(mark, false);
        self.settled(node, joined);
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
        let entries = rows.into_iter().map(|row| (None, row)).collect();
        Value::List(self.state.new_cell(Cell { entries, is_open, class: None }))
    }

    /// `pairs(table)`, `ipairs(table)`
    pub(super) fn rows(&mut self, node: &Node, bound: &Bound) -> Value {
        let rows = match bound.first() {
            Value::Module(_) => self.lost(node, Why::Dynamic),
            table => self.array_entries(node, &table),
        };
        match self.table.kind("Rows") {
            Some(kind) => Value::Object(Ref(kind), rows.into()),
            None => rows,
        }
    }

    /// `setmetatable(table, other)`: missing entries come from `__index`.
    pub(super) fn with_metatable(&mut self, node: &Node, bound: &Bound) -> Value {
        let table = bound.first();
        let other = bound.at(1).cloned().unwrap_or(Value::Constant);
        let lists = table.choices().iter().filter_map(|one| match one {
            Value::List(list) => Some(*list),
            _ => None,
        });
        for list in lists {
            let Value::List(meta) = &other else {
                if other != Value::Constant {
                    self.hand(node, &other);
                }
                continue;
            };
            let meta = self.state.cell(*meta);
            let mut cell = self.state.cell(list);
            cell.is_open |= meta.is_open;
            let has =
                |cell: &Cell, key: &str| cell.entries.iter().any(|(own, _)| own.as_deref() == Some(key));
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
                            if key.as_deref().is_some_and(|key| !has(&cell, key)) {
                                cell.entries.push((key, value));
                            }
                        }
                    }
                    Some("__call") if !has(&cell, "__call") => cell.entries.push((key, value)),
                    _ => {}
                }
            }
            self.state.set_cell(list, cell);
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
            if self.list_method(node, one, method, &given).is_none() {
                for argument in &given {
                    self.hand(node, &argument.value);
                }
            }
        }
        Value::Constant
    }

    /// Calls a table through its metatable.
    pub(super) fn called_table(&mut self, node: &Node, of: &Value, arguments: &[Argument]) -> Option<Value> {
        let Value::List(cell) = of else { return None };
        let entries = self.state.cell(*cell).entries;
        let (_, function) = entries.into_iter().find(|(key, _)| key.as_deref() == Some("__call"))?;
        let own = Argument::plain(of.clone());
        Some(self.call(node, &function, std::iter::once(own).chain(arguments.iter().cloned()).collect()))
    }
}

fn is_several(value: &Value) -> bool {
    matches!(value, Value::Object(space, _) if space.0.name() == VALUES)
}
