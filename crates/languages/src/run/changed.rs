//! Ruby texts and lists that change in place. All names of a text see the change. Must not know what other objects do.

use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Arg;

use super::call::MethodCall;
use super::{Argument, Machine};
use crate::state::Cell;
use crate::tree::Node;
use crate::value::{CellId, Given, Value};

/// Methods that remove or reorder elements.
const SORTS: &[&str] = &[
    "sort!",
    "sort_by!",
    "shuffle!",
    "rotate!",
    "uniq!",
    "compact!",
    "flatten!",
    "select!",
    "filter!",
    "reject!",
    "keep_if",
    "delete_if",
    "slice!",
    "delete",
    "delete_at",
];

/// Methods that change a text, besides those that end in `!`.
const OF_TEXTS: &[&str] = &[
    "<<",
    "concat",
    "append_as_bytes",
    "prepend",
    "replace",
    "initialize_copy",
    "insert",
    "clear",
    "setbyte",
];

/// Methods that change a list, besides [`SORTS`] and those that end in `!`.
const OF_LISTS: &[&str] = &["<<", "concat", "prepend", "append", "replace", "insert", "clear", "fill"];

/// Methods that change a map, besides those that end in `!`.
const OF_MAPS: &[&str] = &["update", "store", "replace", "clear", "delete", "delete_if", "keep_if"];

impl Machine<'_> {
    /// Runs a method that changes its receiver; `None` for other methods.
    pub(super) fn changed(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let is_change = name.len() > 1 && name.ends_with('!');
        match of {
            Value::Text(text) if is_change || OF_TEXTS.contains(&name) => {
                let new = self.changed_text(call);
                self.hand_all(node, arguments);
                self.change(text, &new);
                Some(if name == "slice!" { self.unknown(node, Why::Dynamic) } else { new })
            }
            Value::List(cell) if is_change || OF_LISTS.contains(&name) || SORTS.contains(&name) => {
                self.changed_list(call, *cell)
            }
            Value::Map(cell) if is_change || OF_MAPS.contains(&name) => self.changed_map(call, *cell),
            // A shifted number.
            Value::Number(_) if matches!(name, "<<" | ">>") => Some(self.unknown(node, Why::Arithmetic)),
            _ => None,
        }
    }

    /// Replaces a text in all its names.
    pub(super) fn change(&mut self, old: &Rc<Arg>, new: &Value) {
        if self.state.change_text(old, new).is_err() {
            self.hole((0, 0), castellan_event::Role::Code, Why::Budget, "");
        }
    }

    /// `text[index] = by`
    pub(super) fn changed_part(&mut self, node: &Node, text: &Arg, index: &Value, by: &Value) -> Value {
        let made = match (text.as_str(), index, by.as_str()) {
            (Some(text), Value::Number(at), Some(by)) => with_letter(text, *at, by),
            (Some(text), Value::Text(part), Some(by)) => {
                part.as_str().filter(|part| text.contains(part)).map(|part| text.replacen(part, by, 1))
            }
            _ => None,
        };
        made.map_or_else(|| self.unknown(node, Why::Dynamic), Value::text)
    }

    fn changed_text(&mut self, call: MethodCall<'_>) -> Value {
        let MethodCall { node, of, name, arguments } = call;
        let plain: Vec<Value> =
            arguments.iter().filter(|one| one.name.is_none()).map(|one| one.value.clone()).collect();
        if arguments.iter().any(|one| one.is_spread) {
            return self.unknown(node, Why::Dynamic);
        }
        let method = |machine: &mut Self, name: &str| {
            let made = machine.text_method(MethodCall { name, ..call });
            made.unwrap_or_else(|| machine.unknown(node, Why::Dynamic))
        };
        match (name, plain.as_slice()) {
            ("<<" | "concat" | "append_as_bytes", _) => {
                let mut parts = vec![of.clone()];
                // A number is a character code.
                let letter = |code: i64| u32::try_from(code).ok().and_then(char::from_u32);
                parts.extend(plain.iter().map(|one| match one.number() {
                    Some(code) => letter(code).map_or_else(|| self.unknown(node, Why::Dynamic), Value::text),
                    None => one.clone(),
                }));
                self.concatenated(node, &parts)
            }
            ("prepend", _) => {
                let parts: Vec<Value> = plain.iter().cloned().chain([of.clone()]).collect();
                self.concatenated(node, &parts)
            }
            // A new text.
            ("replace" | "initialize_copy", [by]) => self.concatenated(node, std::slice::from_ref(by)),
            ("clear", []) => Value::text(""),
            ("insert", [Value::Number(at), by]) => {
                let made = of.as_str().zip(by.as_str()).and_then(|(text, by)| inserted(text, *at, by));
                made.map_or_else(|| self.unknown(node, Why::Dynamic), Value::text)
            }
            ("gsub!", [_, _]) => method(self, "replaceAll"),
            ("sub!", [_, _]) => method(self, "replace"),
            ("upcase!", []) => method(self, "toUpperCase"),
            ("downcase!", []) => method(self, "toLowerCase"),
            ("strip!", []) => method(self, "trim"),
            ("lstrip!", []) => method(self, "trimStart"),
            ("rstrip!" | "chomp!", []) => method(self, "trimEnd"),
            ("tr!", [from, to]) => self.translated_letters(node, of, from, to),
            ("reverse!", []) => match of.as_str() {
                Some(text) => Value::text(text.chars().rev().collect::<String>()),
                None => self.unknown(node, Why::Dynamic),
            },
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    fn changed_list(&mut self, call: MethodCall<'_>, id: CellId) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let mut cell = self.state.cell(id);
        match name {
            "<<" | "append" | "push" | "prepend" => {
                let method = if name == "prepend" { "unshift" } else { "push" };
                self.list_method(MethodCall { name: method, ..call });
                return Some(of.clone());
            }
            "reverse!" => return self.list_method(MethodCall { name: "reverse", ..call }),
            "concat" | "replace" => {
                if name == "replace" {
                    cell = Cell::default();
                }
                for argument in arguments {
                    let (elements, known) = self.elements(node, &argument.value);
                    cell.extend(elements, known);
                }
            }
            "clear" => cell = Cell::default(),
            "insert" => match arguments {
                [Argument { value: Value::Number(at), .. }, _] if *at >= 0 => {
                    self.list_method(MethodCall { name: "insert", ..call });
                    return Some(of.clone());
                }
                _ => cell.extend(arguments.iter().skip(1).map(|one| one.value.clone()), false),
            },
            "map!" | "collect!" => {
                let block = arguments.iter().find(|one| one.name.as_deref() == Some("&"))?.value.clone();
                let mut made = Vec::new();
                for (key, value) in cell.entries {
                    made.push((key, self.call(node, &block, vec![Argument::plain(value)])));
                }
                cell.entries = made;
            }
            _ => {
                let one = self.any(node, cell.values().cloned());
                self.run_blocks(node, arguments, vec![one.clone()]);
                if !SORTS.contains(&name) {
                    cell.entries.push((None, self.unknown(node, Why::Dynamic)));
                }
                cell.is_open = true;
                self.state.set_cell(id, cell);
                let gives_one = matches!(name, "slice!" | "delete" | "delete_at");
                return Some(if gives_one { one } else { of.clone() });
            }
        }
        self.state.set_cell(id, cell);
        Some(of.clone())
    }

    fn changed_map(&mut self, call: MethodCall<'_>, id: CellId) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let mut cell = self.state.cell(id);
        match (name, arguments) {
            ("merge!" | "update" | "replace", _) => {
                if name == "replace" {
                    self.state.set_cell(id, Cell::default());
                }
                let (blocks, given): (Vec<_>, Vec<_>) =
                    arguments.iter().cloned().partition(|one| one.name.as_deref() == Some("&"));
                self.list_method(MethodCall { name: "update", arguments: &given, ..call });
                if !blocks.is_empty() {
                    let unknown = self.unknown(node, Why::Dynamic);
                    self.run_blocks(node, &blocks, vec![unknown.clone(); 3]);
                    self.loosen(id, &unknown);
                }
            }
            ("store", [key, value]) => self.store(node, of, &key.value, value.value.clone()),
            ("clear", _) => self.state.set_cell(id, Cell::default()),
            ("delete", [key]) => {
                let own = |(name, _): &Given| name.is_some() && name.as_deref() == key.value.as_str();
                let taken = cell.entries.iter().position(own).map(|at| cell.entries.remove(at).1);
                let value = match taken {
                    Some(value) => value,
                    None if key.value.as_str().is_some() && !cell.is_open => Value::Constant,
                    None => {
                        cell.is_open = true;
                        self.any(node, cell.values().cloned())
                    }
                };
                self.state.set_cell(id, cell);
                return Some(value);
            }
            _ => {
                let unknown = self.unknown(node, Why::Dynamic);
                let one = self.any(node, cell.values().cloned());
                self.run_blocks(node, arguments, vec![unknown.clone(), one]);
                if SORTS.contains(&name) {
                    cell.is_open = true;
                    self.state.set_cell(id, cell);
                } else {
                    self.loosen(id, &unknown);
                }
            }
        }
        Some(of.clone())
    }

    fn run_blocks(&mut self, node: &Node, arguments: &[Argument], given: Vec<Value>) {
        for argument in arguments {
            match argument.name.as_deref() {
                Some("&") => {
                    let given = given.iter().cloned().map(Argument::plain).collect();
                    self.call(node, &argument.value, given);
                }
                _ => self.hand(node, &argument.value),
            }
        }
    }

    /// Keeps the values that can act, and adds an unknown value.
    pub(super) fn loosen(&mut self, id: CellId, unknown: &Value) {
        let mut cell = self.state.cell(id);
        cell.entries.retain(|(_, value)| value.is_callable());
        for (key, _) in &mut cell.entries {
            *key = None;
        }
        cell.extend([unknown.clone()], false);
        self.state.set_cell(id, cell);
    }
}

/// Replaces one letter; a negative index counts from the end.
fn with_letter(text: &str, at: i64, by: &str) -> Option<String> {
    let count = i64::try_from(text.chars().count()).ok()?;
    let at = usize::try_from(if at < 0 { at.checked_add(count)? } else { at }).ok()?;
    let (start, letter) = text.char_indices().nth(at)?;
    Some(format!("{}{by}{}", text.get(..start)?, text.get(start + letter.len_utf8()..)?))
}

/// Inserts before that letter, or after the letter that a negative index counts from the end.
fn inserted(text: &str, at: i64, by: &str) -> Option<String> {
    let count = i64::try_from(text.chars().count()).ok()?;
    let at = usize::try_from(if at < 0 { at.checked_add(count + 1)? } else { at }).ok()?;
    let ends = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    let (before, after) = text.split_at_checked(ends.into_iter().nth(at)?)?;
    Some(format!("{before}{by}{after}"))
}
