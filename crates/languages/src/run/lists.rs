//! Lists and maps: their elements, and the methods that change them.

use std::ops::Range;
use std::rc::Rc;

use castellan_event::Why;

use super::call::MethodCall;
use super::{Argument, Machine};
use crate::language::Language;
use crate::limits::ITERATIONS_MAX;
use crate::state::Cell;
use crate::tree::Node;
use crate::value::Value;

/// Methods that return all or some of the same elements.
const SAME: &[&str] = &["copy", "sort", "toSorted", "slice", "flat", "values", "filter", "concat", "splice"];

/// Reports whether a value is one element of its list, and no list itself.
fn is_whole(value: &Value) -> bool {
    !value.choices().iter().any(|one| matches!(one, Value::List(_) | Value::Map(_) | Value::Unknown(..)))
}

/// Returns the positions from one bound to the other, in a list of this length. A negative bound counts from the end.
fn places(count: usize, from: Option<i64>, to: Option<i64>) -> Range<usize> {
    let most = i64::try_from(count).unwrap_or(i64::MAX);
    let place = |at: i64| {
        let at = if at < 0 { at.saturating_add(most) } else { at };
        usize::try_from(at.clamp(0, most)).unwrap_or(count)
    };
    let from = from.map_or(0, place);
    from..to.map_or(count, place).max(from)
}

/// Returns the elements that `pop(at)` or `splice(from, count, ...)` removes, if known.
fn taken_out(cell: &Cell, name: &str, arguments: &[Argument]) -> Option<Range<usize>> {
    if cell.is_open || arguments.iter().any(|one| one.is_spread) {
        return None;
    }
    let count = cell.entries.len();
    let number = |at: usize| arguments.get(at).and_then(|one| one.value.number());
    let from = places(count, Some(number(0)?), None);
    match (name, arguments.len()) {
        ("pop", 1) => Some(from.start..(from.start + 1).min(count)),
        ("splice", 1) => Some(from),
        ("splice", _) => {
            let taken = usize::try_from(number(1)?.max(0)).unwrap_or(count);
            Some(from.start..from.start.saturating_add(taken).min(count))
        }
        _ => None,
    }
}

/// Returns the bounds of a part, where they are known.
fn bounds(arguments: &[Argument]) -> Option<(i64, Option<i64>)> {
    let known = |one: &Argument| one.value.number().filter(|_| !one.is_spread);
    match arguments {
        [] => Some((0, None)),
        [from] => Some((known(from)?, None)),
        [from, to] => Some((known(from)?, Some(known(to)?))),
        _ => None,
    }
}

impl Machine<'_> {
    /// Returns the elements of a value, and whether these are all elements, in order.
    pub(super) fn elements(&self, node: &Node, value: &Value) -> (Vec<Value>, bool) {
        if matches!(self.language, Language::Perl | Language::Ruby) && is_whole(value) {
            return (vec![value.clone()], true);
        }
        match value {
            // A service gives lists of things with the same library.
            service if self.is_service(service) => (vec![service.clone()], false),
            Value::List(cell) => {
                let cell = self.state.cell(*cell);
                let mut values: Vec<Value> = cell.entries.into_iter().map(|(_, value)| value).collect();
                if cell.is_open {
                    values.push(self.unknown(node, Why::Dynamic));
                }
                (values, !cell.is_open)
            }
            Value::Map(cell) => {
                let cell = self.state.cell(*cell);
                let known = !cell.is_open && cell.entries.iter().all(|(key, _)| key.is_some());
                let entries = cell.entries.into_iter();
                if self.language == Language::Perl {
                    let pairs = entries.flat_map(|(name, value)| [self.key_value(node, name), value]);
                    return (pairs.collect(), known);
                }
                let keys = entries.filter_map(|(key, _)| key.map(|key| Value::text(&*key)));
                let rest = (!known).then(|| self.unknown(node, Why::Dynamic));
                (keys.chain(rest).collect(), known)
            }
            Value::Text(arg) => match arg.as_str() {
                Some(text) if text.len() <= ITERATIONS_MAX => {
                    (text.chars().map(|letter| Value::text(letter.to_string())).collect(), true)
                }
                _ => (vec![self.unknown(node, Why::Dynamic)], false),
            },
            Value::Unknown(why, written) => (vec![Value::Unknown(*why, written.clone())], false),
            // The lines of a file.
            Value::Object(_, inner) => match &**inner {
                Value::Unknown(why, written) => (vec![Value::Unknown(*why, written.clone())], false),
                Value::List(_) => self.elements(node, inner),
                _ => (vec![self.unknown(node, Why::File)], false),
            },
            Value::Any(values) => {
                let all = values.iter().flat_map(|one| self.elements(node, one).0).collect();
                (all, false)
            }
            Value::Constant
            | Value::Number(_)
            | Value::Instance(_)
            | Value::Function(_)
            | Value::Class(_)
            | Value::Module(_)
            | Value::Package(_)
            | Value::Library(..)
            | Value::Method(..)
            | Value::Partial(..)
            | Value::Names(_) => (vec![self.unknown(node, Why::Dynamic)], false),
        }
    }

    /// Returns the value of a map's key, which may be unknown.
    pub(super) fn key_value(&self, node: &Node, key: Option<Rc<str>>) -> Value {
        key.map_or_else(|| self.unknown(node, Why::Dynamic), |key| Value::text(&*key))
    }

    pub(super) fn same_elements(&mut self, node: &Node, value: &Value, reverses: bool) -> Value {
        let (mut elements, known) = self.elements(node, value);
        if reverses {
            elements.reverse();
        }
        self.step(elements.len() as u64);
        self.listed(elements, !known)
    }

    /// Returns the elements of a list, or another value as the only element.
    pub(super) fn listed_or_one(&self, node: &Node, value: &Value) -> (Vec<Value>, bool) {
        match value {
            Value::List(_) => self.elements(node, value),
            other => (vec![other.clone()], true),
        }
    }

    /// `of[from:to] = value`
    pub(super) fn store_part(
        &mut self,
        node: &Node,
        of: &Value,
        bounds: &[Option<Box<Node>>; 3],
        value: Value,
    ) {
        let range = self.bounds(bounds);
        let Value::List(id) = of else {
            return self.store(node, of, &Value::unknown(Why::Dynamic, "a part"), value);
        };
        let (elements, known) = self.elements(node, &value);
        let mut cell = self.state.cell(*id);
        match range {
            Some([from, to, None]) if known && !cell.is_open => {
                let put = elements.into_iter().map(|value| (None, value));
                cell.entries.splice(places(cell.entries.len(), from, to), put);
            }
            _ => cell.extend(elements, false),
        }
        self.state.set_cell(*id, cell);
    }

    pub(super) fn enumerated(&mut self, node: &Node, value: &Value) -> Value {
        let (elements, known) = self.elements(node, value);
        let mut rows = Vec::new();
        for (at, element) in elements.into_iter().enumerate() {
            let number = if known { i64::try_from(at).ok() } else { None };
            let number = number.map_or_else(|| self.unknown(node, Why::Arithmetic), Value::Number);
            rows.push(self.list([number, element]));
        }
        self.listed(rows, !known)
    }

    pub(super) fn zipped(&mut self, node: &Node, bound: &super::bound::Bound) -> Value {
        let lists: Vec<(Vec<Value>, bool)> =
            bound.given.iter().map(|(_, value)| self.elements(node, value)).collect();
        let known = lists.iter().all(|(_, known)| *known);
        let count = lists.iter().map(|(list, _)| list.len()).min().unwrap_or_default();
        let mut rows = Vec::new();
        for at in 0..count {
            let row: Vec<Value> = lists.iter().filter_map(|(list, _)| list.get(at).cloned()).collect();
            rows.push(self.list(row));
        }
        self.listed(rows, !known)
    }

    /// Runs a method of a list or map. Returns `None` for another value, or a method without effects on elements.
    pub(super) fn list_method(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { of, name, .. } = call;
        match of {
            Value::List(cell) => self.method_of_list(call, *cell),
            Value::Map(cell) => self.method_of_map(call, *cell),
            Value::Names(scope) => {
                let value = self.state.name(*scope, call.first()?.as_str()?);
                match name {
                    "get" | "__getitem__" | "pop" => value,
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn method_of_list(&mut self, call: MethodCall<'_>, id: usize) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let first = call.first();
        let mut cell = self.state.cell(id);
        match name {
            "append" | "push" | "add" | "unshift" | "appendleft" => {
                let is_first = matches!(name, "unshift" | "appendleft");
                let place = if is_first { 0 } else { cell.entries.len() };
                cell.entries.splice(place..place, arguments.iter().map(|one| (None, one.value.clone())));
                cell.is_open |= arguments.iter().any(|one| one.is_spread);
            }
            "extend" | "update" => {
                let (elements, known) = self.elements(node, &first?);
                cell.extend(elements, known);
            }
            "insert" => {
                let value = arguments.get(1)?.value.clone();
                match first {
                    Some(Value::Number(at)) if !cell.is_open => {
                        let at = usize::try_from(at).unwrap_or(0).min(cell.entries.len());
                        cell.entries.insert(at, (None, value));
                    }
                    _ => cell.extend([value], false),
                }
            }
            "reverse" | "toReversed" => {
                cell.entries.reverse();
                self.state.set_cell(id, cell);
                return Some(of.clone());
            }
            "shift" | "popleft" if arguments.is_empty() && !cell.is_open && !cell.entries.is_empty() => {
                let (_, value) = cell.entries.remove(0);
                self.state.set_cell(id, cell);
                return Some(value);
            }
            "pop" | "shift" | "popleft" | "remove" | "clear" | "sort" | "splice" | "fill" => {
                return self.reordered(call, id);
            }
            _ => return self.made_of_list(call, cell),
        }
        self.state.set_cell(id, cell);
        Some(Value::Constant)
    }

    /// Runs a method that removes or moves elements.
    fn reordered(&mut self, call: MethodCall<'_>, id: usize) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let mut cell = self.state.cell(id);
        if name == "pop" && arguments.is_empty() && !cell.is_open {
            let last = cell.entries.pop().map(|(_, value)| value);
            self.state.set_cell(id, cell);
            return last;
        }
        if let Some(taken) = taken_out(&cell, name, arguments) {
            let put = arguments.get(2..).unwrap_or_default().iter().map(|one| (None, one.value.clone()));
            let taken: Vec<_> = cell.entries.splice(taken, put).map(|(_, value)| value).collect();
            self.state.set_cell(id, cell);
            return match taken.as_slice() {
                [one] if name == "pop" => Some(one.clone()),
                _ => Some(self.list(taken)),
            };
        }
        let taken = self.any(node, cell.values().cloned());
        cell.extend(arguments.iter().map(|one| one.value.clone()), false);
        self.state.set_cell(id, cell);
        self.hand_all(node, arguments);
        Some(if name == "sort" { of.clone() } else { taken })
    }

    /// Returns the result of a method that does not change the list.
    fn made_of_list(&mut self, call: MethodCall<'_>, mut cell: Cell) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let first = call.first();
        match name {
            "map" | "forEach" | "flatMap" | "every" | "some" | "find" => {
                Some(self.each(node, of, name, &first?))
            }
            "concat" => {
                for argument in arguments {
                    let (elements, known) = self.listed_or_one(node, &argument.value);
                    cell.extend(elements, known);
                }
                Some(Value::List(self.state.new_cell(cell)))
            }
            "join" => {
                let comma = Value::text(",");
                Some(self.joined_by(node, &first.unwrap_or(comma), of))
            }
            "toString" => Some(self.as_text(node, of)),
            "next" | "__next__" | "__anext__" | "send" | "asend" => {
                self.hand_all(node, arguments);
                let (elements, _) = self.elements(node, of);
                let value = self.any(node, elements);
                if name != "next" {
                    return Some(value);
                }
                let entries = vec![(Some("value".into()), value)];
                Some(Value::Map(self.state.new_cell(Cell { entries, is_open: true, class: None })))
            }
            "entries" => Some(self.enumerated(node, of)),
            "reduce" | "reduceRight" => {
                self.hand_all(node, arguments);
                None
            }
            "slice"
                if self.language == Language::JavaScript && !cell.is_open && bounds(arguments).is_some() =>
            {
                let (from, to) = bounds(arguments)?;
                let kept = places(cell.entries.len(), Some(from), to);
                cell.entries.truncate(kept.end);
                cell.entries.drain(..kept.start);
                Some(Value::List(self.state.new_cell(cell)))
            }
            _ if SAME.contains(&name) => {
                self.hand_all(node, arguments);
                let cut = !matches!(name, "copy" | "values" | "toSorted") && !arguments.is_empty();
                cell.is_open |= cut || name == "toSorted";
                Some(Value::List(self.state.new_cell(cell)))
            }
            _ => None,
        }
    }

    /// Calls a function with each element.
    fn each(&mut self, node: &Node, of: &Value, name: &str, function: &Value) -> Value {
        let (elements, known) = self.elements(node, of);
        let mut made = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            let at = i64::try_from(at).unwrap_or_default();
            let mut given = vec![Argument::plain(element.clone())];
            if let Value::Function(_) = function {
                given.push(Argument::plain(Value::Number(at)));
            }
            made.push(self.call(node, function, given));
        }
        match name {
            "map" | "flatMap" => self.listed(made, !known),
            "find" => self.any(node, elements),
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    fn method_of_map(&mut self, call: MethodCall<'_>, id: usize) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let first = call.first();
        let second = arguments.get(1).map(|one| one.value.clone());
        match name {
            "get" | "pop" | "setdefault" | "__getitem__" => {
                let cell = self.state.cell(id);
                let first = first?;
                if let Some(value) = first.as_str().and_then(|key| cell.value(key)) {
                    return Some(value.clone());
                }
                let may_be_any = first.as_str().is_none() || cell.is_open;
                let values = cell.values().filter(|_| may_be_any).cloned();
                Some(self.any(node, values.chain(second)))
            }
            "set" | "__setitem__" => {
                self.store(node, of, &first?, second?);
                Some(of.clone())
            }
            "update" => Some(self.updated(id, arguments)),
            "items" | "entries" | "values" | "keys" => {
                let cell = self.state.cell(id);
                let mut rows = Vec::new();
                for (key, value) in cell.entries {
                    let key = self.key_value(node, key);
                    rows.push(match name {
                        "values" => value,
                        "keys" => key,
                        _ => self.list([key, value]),
                    });
                }
                Some(self.listed(rows, cell.is_open))
            }
            "copy" => {
                let cell = self.state.cell(id);
                Some(Value::Map(self.state.new_cell(cell)))
            }
            _ => None,
        }
    }

    fn updated(&mut self, id: usize, arguments: &[Argument]) -> Value {
        let mut cell = self.state.cell(id);
        for argument in arguments {
            match (&argument.name, &argument.value) {
                (Some(name), value) => {
                    cell.entries.retain(|(own, _)| own.as_deref() != Some(&**name));
                    cell.entries.push((Some(name.clone()), value.clone()));
                }
                (None, Value::Map(other)) => {
                    let other = self.state.cell(*other);
                    for (key, value) in other.entries {
                        cell.entries.retain(|(own, _)| own.is_none() || *own != key);
                        cell.entries.push((key, value));
                    }
                    cell.is_open |= other.is_open;
                }
                (None, _) => cell.is_open = true,
            }
        }
        self.state.set_cell(id, cell);
        Value::Constant
    }
}
