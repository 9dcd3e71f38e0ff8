//! Texts and arrays of PHP functions, whose argument order differs from methods. Must not know which functions these
//! are.

use castellan_event::{EffectKind, Role, Why};

use super::bound::Bound;
use super::call::MethodCall;
use super::{Argument, Machine};
use crate::act::Operand;
use crate::limits::{BYTES_PER_WORK, ITERATIONS_MAX, VALUE_BYTES_MAX};
use crate::state::Cell;
use crate::tree::Node;
use crate::value::Value;

impl Machine<'_> {
    /// Calls the method of this name on the first argument, with the other arguments.
    pub(super) fn as_method(&mut self, node: &Node, name: &str, bound: &Bound) -> Value {
        let of = bound.first();
        if let Value::Unknown(..) = of {
            return of;
        }
        let others = bound.plain_arguments(1);
        self.over(node, &of, |machine, one| {
            machine.method_of_value(MethodCall { node, of: one, name, arguments: &others })
        })
    }

    fn method_of_value(&mut self, call: MethodCall<'_>) -> Value {
        let made = self.list_method(call).or_else(|| self.text_method(call));
        made.unwrap_or_else(|| self.unknown(call.node, Why::Dynamic))
    }

    /// `implode(by, list)`, `implode(list)`
    pub(super) fn imploded(&mut self, node: &Node, bound: &Bound) -> Value {
        let (by, list) = match (bound.first(), bound.at(1)) {
            (list @ Value::List(_), Some(by)) => (by.clone(), list),
            (by, Some(list)) => (by, list.clone()),
            (list, None) => (Value::text(""), list),
        };
        self.joined_by(node, &by, &list)
    }

    /// `explode(by, text)`
    pub(super) fn exploded(&mut self, node: &Node, bound: &Bound) -> Value {
        match (bound.first().as_str(), bound.at(1).and_then(Value::as_str), bound.at(2)) {
            (Some(by), Some(text), None) if !by.is_empty() => {
                let parts: Vec<Value> = text.split(by).map(Value::text).collect();
                self.step(parts.len() as u64);
                self.list(parts)
            }
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    pub(super) fn letters(&mut self, node: &Node, bound: &Bound) -> Value {
        let size = match bound.at(1) {
            None => 1,
            Some(Value::Number(size)) => usize::try_from(*size).unwrap_or(0),
            Some(_) => 0,
        };
        match bound.first().as_str() {
            Some(text) if size > 0 => {
                let letters: Vec<char> = text.chars().collect();
                self.step(letters.len() as u64);
                self.list(letters.chunks(size).map(|part| Value::text(part.iter().collect::<String>())))
            }
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    pub(super) fn reversed_text(&mut self, node: &Node, bound: &Bound) -> Value {
        self.made_of_text(node, bound, |text| text.chars().rev().collect())
    }

    pub(super) fn first_letter(&mut self, node: &Node, bound: &Bound, is_large: bool) -> Value {
        self.made_of_text(node, bound, |text| {
            let mut letters = text.chars();
            let turn = |c: char| if is_large { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
            letters.next().map(turn).into_iter().chain(letters).collect()
        })
    }

    fn made_of_text(&mut self, node: &Node, bound: &Bound, make: impl Fn(&str) -> String) -> Value {
        let of = bound.first();
        self.over(node, &of, |machine, one| match one.as_str() {
            Some(text) => {
                machine.step((text.len() / BYTES_PER_WORK) as u64);
                Value::text(make(text))
            }
            None => machine.unknown(node, Why::Dynamic),
        })
    }

    /// `substr(text, from, count)`; `first_is_one` as in Lua: indexes begin at 1, and a last index replaces the count.
    pub(super) fn substring(&mut self, node: &Node, bound: &Bound, first_is_one: bool) -> Value {
        let number = |at: usize| match bound.at(at) {
            None | Some(Value::Constant) => Some(None),
            Some(Value::Number(number)) => Some(Some(*number)),
            Some(_) => None,
        };
        let (Some(text), Some(from), Some(second)) =
            (bound.first().as_str().map(str::to_owned), number(1), number(2))
        else {
            return self.unknown(node, Why::Dynamic);
        };
        let letters: Vec<char> = text.chars().collect();
        self.step((letters.len() / BYTES_PER_WORK) as u64);
        let count = i64::try_from(letters.len()).unwrap_or(i64::MAX);
        let place = |at: i64| if at < 0 { at.saturating_add(count).max(0) } else { at.min(count) };
        let (from, to) = if first_is_one {
            let from = from.unwrap_or(1);
            let from = if from < 0 { place(from) } else { from.saturating_sub(1).max(0) };
            let to =
                second.map_or(count, |last| if last < 0 { count.saturating_add(last + 1) } else { last });
            (from, to.clamp(0, count))
        } else {
            let from = place(from.unwrap_or(0));
            let to = second.map_or(count, |size| {
                if size < 0 { place(size) } else { from.saturating_add(size).min(count) }
            });
            (from, to)
        };
        let taken = letters
            .get(usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0))
            .unwrap_or_default();
        Value::text(taken.iter().collect::<String>())
    }

    /// `str_replace(from, to, text)`; `from` and `to` may be lists.
    pub(super) fn replaced(&mut self, node: &Node, bound: &Bound) -> Value {
        let (Some(from), Some(to), Some(text)) = (bound.at(0), bound.at(1), bound.at(2)) else {
            return self.unknown(node, Why::Dynamic);
        };
        let texts = |machine: &Self, value: &Value| match value {
            Value::List(_) => {
                let (elements, known) = machine.elements(node, value);
                elements.iter().map(|one| one.as_str().filter(|_| known).map(str::to_owned)).collect()
            }
            other => Some(vec![other.as_str()?.to_owned()]),
        };
        let (Some(froms), Some(tos), Some(text)): (Option<Vec<String>>, Option<Vec<String>>, _) =
            (texts(self, from), texts(self, to), text.as_str())
        else {
            return self.unknown(node, Why::Dynamic);
        };
        let mut text = text.to_owned();
        for (at, from) in froms.iter().enumerate().filter(|(_, from)| !from.is_empty()) {
            let one = if matches!(to, Value::List(_)) { tos.get(at) } else { tos.first() };
            let one = one.map_or("", String::as_str);
            let count = text.matches(from.as_str()).count();
            let is_long = text.len().saturating_add(count.saturating_mul(one.len())) > VALUE_BYTES_MAX;
            if is_long || !self.step(1 + (text.len() / BYTES_PER_WORK) as u64) {
                return self.unknown(node, Why::Size);
            }
            text = text.replace(from.as_str(), one);
        }
        Value::text(text)
    }

    /// `strtr(text, from, to)`: letter for letter.
    pub(super) fn translated(&mut self, node: &Node, bound: &Bound) -> Value {
        match (bound.first().as_str(), bound.text(1), bound.text(2)) {
            (Some(text), Some(from), Some(to)) => {
                let pairs: std::collections::HashMap<char, char> = from.chars().zip(to.chars()).collect();
                self.step((text.len() / BYTES_PER_WORK) as u64);
                Value::text(text.chars().map(|c| pairs.get(&c).copied().unwrap_or(c)).collect::<String>())
            }
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    /// `sprintf(format, ...)`; with `in_list` the values are in one list.
    pub(super) fn printed(&mut self, node: &Node, bound: &Bound, in_list: bool) -> Value {
        let list = bound.at(1).filter(|_| in_list).cloned();
        let values = list.unwrap_or_else(|| self.list(bound.values(1)));
        self.formatted(node, &bound.first(), &values)
    }

    /// `pack(format, ...)`
    pub(super) fn packed_bytes(&mut self, node: &Node, bound: &Bound) -> Value {
        let given = bound.given.get(1..).unwrap_or_default().to_vec();
        let rest = Bound { given, ..Bound::default() };
        match bound.first().as_str() {
            Some("H*") => self.decoded(node, &rest, super::texts::hex),
            Some("C*" | "c*" | "U*") => self.characters(node, &rest),
            Some("A*" | "a*") => rest.first(),
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    /// Returns the keys and values of an array, as pairs.
    pub(super) fn array_entries(&mut self, node: &Node, value: &Value) -> Value {
        let Value::List(cell) = value else {
            let (elements, _) = self.elements(node, value);
            let value = self.any(node, elements);
            let key = self.unknown(node, Why::Dynamic);
            let row = self.list([key, value]);
            return self.listed([row], true);
        };
        let cell = self.state.cell(*cell);
        let is_keyed = cell.entries.iter().any(|(key, _)| key.is_some());
        let mut rows = Vec::new();
        for (at, (key, value)) in cell.entries.into_iter().enumerate() {
            let key = match (key, i64::try_from(at)) {
                (Some(key), _) => Value::text(&*key),
                (None, Ok(at)) if !is_keyed && !cell.is_open => Value::Number(at),
                _ => self.unknown(node, Why::Dynamic),
            };
            rows.push((None, self.list([key, value])));
        }
        Value::List(self.state.new_cell(Cell { entries: rows, is_open: cell.is_open, class: None }))
    }

    pub(super) fn array_keys(&mut self, node: &Node, bound: &Bound) -> Value {
        let entries = self.array_entries(node, &bound.first());
        let (rows, known) = self.elements(node, &entries);
        let keys: Vec<Value> =
            rows.iter().filter_map(|row| self.elements(node, row).0.into_iter().next()).collect();
        self.listed(keys, !known)
    }

    /// Merges arrays; the last entry of a key wins.
    pub(super) fn merged(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut merged = Cell { is_open: bound.is_open, ..Cell::default() };
        for (_, value) in &bound.given {
            let Value::List(cell) = value else {
                let (elements, known) = self.elements(node, value);
                merged.extend(elements, known);
                continue;
            };
            let cell = self.state.cell(*cell);
            merged.is_open |= cell.is_open;
            for (key, value) in cell.entries {
                if key.is_some() {
                    merged.entries.retain(|(own, _)| *own != key);
                    self.step(1 + merged.entries.len() as u64 / 8);
                }
                merged.entries.push((key, value));
            }
        }
        Value::List(self.state.new_cell(merged))
    }

    pub(super) fn array_of(&mut self, value: &Value) -> Value {
        match value {
            Value::Text(_) | Value::Number(_) => self.list([value.clone()]),
            other => other.clone(),
        }
    }

    /// Calls a function, the second argument, with each element of the first.
    pub(super) fn array_walk(&mut self, node: &Node, bound: &Bound) -> Value {
        let list = bound.first();
        let Some(function) = bound.at(1).cloned() else { return list };
        let (elements, _) = self.elements(node, &list);
        for element in &elements {
            let other = Argument::plain(self.unknown(node, Why::Dynamic));
            self.call_named(node, &function, vec![Argument::plain(element.clone()), other]);
        }
        self.listed(elements, true)
    }

    /// `array_reduce(list, function, first)`
    pub(super) fn array_reduce(&mut self, node: &Node, bound: &Bound) -> Value {
        let (mut elements, _) = self.elements(node, &bound.first());
        let Some(function) = bound.at(1).cloned() else { return Value::Constant };
        let mut value = bound.value(2);
        if elements.len() > ITERATIONS_MAX {
            elements = vec![self.any(node, elements)];
            value = self.unknown(node, Why::Dynamic);
        }
        for element in elements {
            value = self.call_named(node, &function, vec![Argument::plain(value), Argument::plain(element)]);
        }
        value
    }

    /// `range(from, to)`, both included.
    pub(super) fn inclusive_range(&mut self, node: &Node, bound: &Bound) -> Value {
        let letter =
            |value: &Value| value.as_str().filter(|text| text.len() == 1)?.bytes().next().map(i64::from);
        let ends = match (bound.at(0), bound.at(1), bound.at(2)) {
            (Some(Value::Number(from)), Some(Value::Number(to)), None) => Some((*from, *to, false)),
            (Some(from), Some(to), None) => letter(from).zip(letter(to)).map(|(from, to)| (from, to, true)),
            _ => None,
        };
        let Some((from, to, are_letters)) = ends else { return self.unknown(node, Why::Arithmetic) };
        let size = usize::try_from(from.abs_diff(to)).unwrap_or(usize::MAX);
        if size >= ITERATIONS_MAX {
            return self.unknown(node, Why::Arithmetic);
        }
        let numbers: Vec<i64> = if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
        let value = |number: i64| match u8::try_from(number) {
            Ok(letter) if are_letters => Value::text(char::from(letter)),
            _ => Value::Number(number),
        };
        self.step(numbers.len() as u64);
        self.list(numbers.into_iter().map(value))
    }

    /// `dirname(path, levels)`
    pub(super) fn ancestor(&mut self, node: &Node, bound: &Bound) -> Value {
        let levels = match bound.at(1) {
            None => 1,
            Some(Value::Number(levels)) if (1..20).contains(levels) => *levels,
            Some(_) => return self.unknown(node, Why::Dynamic),
        };
        (0..levels).fold(bound.first(), |path, _| self.path_part(node, &path, true))
    }

    /// `putenv('NAME=value')`
    pub(super) fn put_environment(&mut self, node: &Node, bound: &Bound) -> Value {
        for arg in self.operands(node, &bound.first()) {
            let (name, value) = match arg.prefix().split_once('=') {
                Some((name, _)) => {
                    let value = arg.strip_prefix(&format!("{name}=")).unwrap_or_else(|| arg.clone());
                    (Value::text(name), Value::arg(value))
                }
                None => (Value::arg(arg.clone()), Value::text("")),
            };
            self.variable(node, &name, &value);
        }
        Value::Constant
    }

    /// `preg_replace(pattern, to, text)`: with the flag `e`, the replacement is code.
    pub(super) fn pattern_replaced(&mut self, node: &Node, bound: &Bound) -> Value {
        let patterns = match bound.first() {
            list @ Value::List(_) => self.elements(node, &list).0,
            other => other.choices().to_vec(),
        };
        let is_code = patterns.iter().filter_map(Value::as_str).any(|pattern| {
            let flags = pattern.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            pattern.len() > flags.len() && flags.contains('e')
        });
        // `mb_ereg_replace` has this flag in a separate argument.
        let options = bound.value_of("options");
        let is_code = is_code
            || options.choices().iter().any(|one| match one.as_str() {
                Some(options) => options.contains('e'),
                None => *one != Value::Constant,
            });
        if let Some(to) = bound.at(1).cloned().filter(|_| is_code) {
            self.expression(node, &to);
        }
        self.unknown(node, Why::Dynamic)
    }

    /// Runs code that is one expression without a semicolon.
    pub(super) fn expression(&mut self, node: &Node, code: &Value) -> Value {
        let code = self.concatenated(node, &[code.clone(), Value::text(";")]);
        self.code(node, &code)
    }

    /// Returns the content of a path or URL. A context may send data there.
    pub(super) fn read_content(&mut self, node: &Node, bound: &Bound) -> Value {
        let path = bound.first();
        let has_context = bound.named("context").is_some_and(|context| *context != Value::Constant);
        for arg in self.operands(node, &path) {
            if has_context && arg.prefix().starts_with("http") {
                self.effect(node, EffectKind::Upload, Operand::Url(arg.clone()));
                if let Some(Value::Object(_, options)) = bound.named("context") {
                    let http = self.index(node, options, &Value::text("http"));
                    let method = self.index(node, &http, &Value::text("method"));
                    if let Value::Text(_) = method {
                        self.request_of(node, &method, &Value::arg(arg), &http);
                    }
                }
            }
        }
        match path.as_str().and_then(super::named::inline_data) {
            Some(text) => Value::text(text),
            None => self.content(node, bound),
        }
    }

    /// `curl_setopt(handle, option, value)`, `curl_setopt_array(handle, options)`
    pub(super) fn curl_option(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut options = Vec::new();
        match (bound.at(1), bound.at(2)) {
            (Some(option), Some(value)) => options.push((option.clone(), value.clone())),
            (Some(Value::List(cell)), None) => {
                for (key, value) in self.state.cell(*cell).entries {
                    options.push((key.map_or(Value::Constant, |key| Value::text(&*key)), value));
                }
            }
            _ => self.hole(node.at, Role::Target, Why::Dynamic, "options"),
        }
        let url = super::bound::inner(&bound.first());
        for (option, value) in options {
            match option.as_str().unwrap_or_default().trim_start_matches("CURLOPT_") {
                "URL" => self.url(node, EffectKind::Download, &value),
                option @ ("POST" | "POSTFIELDS" | "UPLOAD" | "PUT" | "INFILE" | "CUSTOMREQUEST") => {
                    let on = url.to_arg().map_or(Operand::Nothing, |url| Operand::Url((*url).clone()));
                    self.effect(node, EffectKind::Upload, on);
                    let (method, body) = match option {
                        "CUSTOMREQUEST" => (value, Value::Constant),
                        _ => (Value::text("POST"), value),
                    };
                    self.request_of(node, &method, &url, &body);
                }
                "COOKIEJAR" => self.path(node, EffectKind::Write, &value, false),
                "COOKIEFILE" | "CAINFO" | "SSLCERT" | "SSLKEY" => {
                    self.path(node, EffectKind::Read, &value, false);
                }
                "" => self.hole(node.at, Role::Target, Why::Dynamic, "an option"),
                option if option.ends_with("FUNCTION") => {
                    self.call_named(node, &value, vec![Argument::unknown(Why::Dynamic)]);
                }
                _ => {
                    let callback = if value.is_callable() { value } else { Value::Constant };
                    self.hand(node, &callback);
                }
            }
        }
        Value::Constant
    }

    /// Copies an object.
    pub(super) fn cloned(&mut self, value: &Value) -> Value {
        match value {
            Value::Instance(cell) => {
                let cell = self.state.cell(*cell);
                Value::Instance(self.state.new_cell(cell))
            }
            other => other.clone(),
        }
    }
}
