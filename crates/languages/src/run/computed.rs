//! Longer computations of the table in `compute`.

use castellan_event::{Role, Why};

use super::bound::Bound;
use super::bound::inner;
use super::{Argument, Machine};
use crate::language::Language;
use crate::limits::ITERATIONS_MAX;
use crate::table::Part;
use crate::tree::Node;
use crate::value::Value;
use castellan_programs::{Arg, Quoting};

/// The state's key for a list that replaces the program's arguments; no name of a program equals it.
pub(super) const OTHER_ARGV: &str = "its arguments";

impl Machine<'_> {
    /// Returns the argument list, with the elements before the arguments. All uses share one list, unless the program
    /// has replaced it.
    pub(super) fn argv_of_program(&mut self) -> Value {
        if let Some(own) = self.state.own_name(0, OTHER_ARGV).or_else(|| self.argv.clone()) {
            return own;
        }
        let own = Value::text(self.start.file.clone().unwrap_or_else(|| "-c".to_owned()));
        let before = match self.language {
            Language::Python | Language::Php => vec![own],
            Language::JavaScript if self.start.file.is_some() => vec![Value::text("node"), own],
            Language::JavaScript => vec![Value::text("node")],
            Language::Perl
            | Language::Ruby
            | Language::Lua
            | Language::PowerShell
            | Language::Batch
            | Language::AppleScript => Vec::new(),
        };
        let list = self.arguments_behind(before);
        self.argv = Some(list.clone());
        list
    }

    /// Returns the arguments alone.
    pub(super) fn own_arguments(&mut self) -> Value {
        self.arguments_behind(Vec::new())
    }

    fn arguments_behind(&mut self, before: Vec<Value>) -> Value {
        let Some(args) = self.start.args.as_deref() else {
            // No position is known, not even that of the program's name.
            return self.listed([Value::unknown(Why::Dynamic, "an argument")], true);
        };
        // A shell script without given arguments may get any number of them.
        let is_open = args.is_empty() && self.language.is_shell() || args.iter().any(Arg::splits);
        let args: Vec<Value> = args.iter().cloned().map(Value::arg).collect();
        self.listed(before.into_iter().chain(args), is_open)
    }

    pub(super) fn environment(&mut self, node: &Node, name: &Value) -> Value {
        let Some(name) = name.as_str() else { return self.unknown(node, Why::Variable) };
        let known = self.start.env.iter().rev().find(|(own, _)| own == name);
        match (known, name, &self.start.home, &self.start.cwd) {
            (Some((_, value)), ..) => Value::arg(value.clone()),
            (None, "HOME", Some(home), _) => Value::text(home.clone()),
            (None, "PWD", _, Some(cwd)) => Value::text(cwd.clone()),
            _ => Value::unknown(Why::Variable, &format!("${name}")),
        }
    }

    pub(super) fn environment_or(&mut self, node: &Node, bound: &Bound) -> Value {
        let name = bound.named("key").cloned().unwrap_or_else(|| bound.first());
        let value = self.environment(node, &name);
        match bound.named("default") {
            Some(default) if value.as_str().is_none() => self.any(node, [value, default.clone()]),
            _ => value,
        }
    }

    pub(super) fn content(&mut self, node: &Node, bound: &Bound) -> Value {
        let url = [Part::Request, Part::Download, Part::Upload].into_iter().find_map(|part| bound.part(part));
        let is_url = bound.first().to_arg().is_some_and(|arg| arg.prefix().contains("://"));
        let why = if url.is_some() || is_url { Why::Network } else { Why::File };
        match inner(url.unwrap_or(&bound.first())) {
            Value::Unknown(why, written) => Value::Unknown(why, written),
            other => match other.to_arg() {
                Some(path) => Value::unknown(why, &path.written()),
                None => self.unknown(node, why),
            },
        }
    }

    pub(super) fn characters(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut text = String::new();
        for value in bound.values(0) {
            let elements = match value {
                Value::List(_) => match self.elements(node, &value) {
                    (elements, true) => elements,
                    (_, false) => return self.unknown(node, Why::Dynamic),
                },
                // `"ab".chr`
                Value::Text(_) if self.language == Language::Ruby => {
                    let letter = value.as_str().and_then(|text| text.chars().next());
                    return letter.map_or_else(|| self.unknown(node, Why::Dynamic), Value::text);
                }
                // A text of digits is a number.
                Value::Text(_) if self.language != Language::Python => vec![self.integer(node, &value)],
                Value::Text(_) => return value,
                other => vec![other],
            };
            for element in elements {
                let Value::Number(number) = element else { return self.unknown(node, Why::Dynamic) };
                let Some(letter) = u32::try_from(number).ok().and_then(char::from_u32) else {
                    return self.unknown(node, Why::Dynamic);
                };
                text.push(letter);
            }
        }
        Value::text(text)
    }

    pub(super) fn decoded(
        &mut self,
        node: &Node,
        bound: &Bound,
        decode: fn(&str) -> Option<String>,
    ) -> Value {
        let of = bound.first();
        self.over(node, &of, |machine, one| match one.as_str().and_then(decode) {
            Some(text) => Value::text(text),
            None => machine.unknown(node, Why::Dynamic),
        })
    }

    /// `codecs.decode(text, encoding)`, `Buffer.from(text, encoding)`
    pub(super) fn decode(&mut self, node: &Node, bound: &Bound) -> Value {
        if let Value::List(_) = bound.first() {
            let alone = Bound { given: bound.given.iter().take(1).cloned().collect(), ..Bound::default() };
            return self.characters(node, &alone);
        }
        let encoding = bound.text(1).unwrap_or_default().replace('-', "_").to_ascii_lowercase();
        match encoding.as_str() {
            "rot13" | "rot_13" => self.decoded(node, bound, super::texts::rot13),
            "hex" | "hex_codec" => self.decoded(node, bound, super::texts::hex),
            "base64" | "base64_codec" | "base64url" => self.decoded(node, bound, super::texts::base64),
            "" | "utf_8" | "utf8" | "ascii" | "latin1" | "latin_1" | "binary" => bound.first(),
            _ => self.unknown(node, Why::Encoding),
        }
    }

    pub(super) fn integer(&mut self, node: &Node, value: &Value) -> Value {
        let number = value.number().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        number.map_or_else(|| self.unknown(node, Why::Arithmetic), Value::Number)
    }

    /// Parses a number in this radix.
    pub(super) fn integer_of(&mut self, node: &Node, value: &Value, radix: u32) -> Value {
        let digits = value.as_str().map(|text| text.trim_start_matches("0x").to_owned());
        let digits = digits.or_else(|| value.number().map(|number| number.to_string()));
        let number = digits.and_then(|digits| i64::from_str_radix(&digits, radix).ok());
        number.map_or_else(|| self.unknown(node, Why::Arithmetic), Value::Number)
    }

    pub(super) fn range(&mut self, node: &Node, bound: &Bound) -> Value {
        let numbers: Option<Vec<i64>> = bound.given.iter().map(|(_, value)| value.number()).collect();
        let (from, to, step) = match numbers.as_deref() {
            Some([to]) => (0, *to, 1),
            Some([from, to]) => (*from, *to, 1),
            Some([from, to, step]) if *step != 0 => (*from, *to, *step),
            _ => return self.unknown(node, Why::Arithmetic),
        };
        let mut values = Vec::new();
        let mut at = from;
        while (step > 0 && at < to) || (step < 0 && at > to) {
            if values.len() >= ITERATIONS_MAX {
                return self.unknown(node, Why::Arithmetic);
            }
            values.push(Value::Number(at));
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        self.step(values.len() as u64);
        self.list(values)
    }

    pub(super) fn mapped(&mut self, node: &Node, bound: &Bound, filters: bool) -> Value {
        let mut given_values = bound.plain();
        let function = given_values.next().cloned().unwrap_or(Value::Constant);
        let list = given_values.next();
        let more: Vec<Value> = given_values.cloned().collect();
        let mut made = Vec::new();
        let (elements, known) = list.map(|list| self.elements(node, list)).unwrap_or_default();
        for element in elements {
            let mut given = vec![Argument::plain(element.clone())];
            // Any element of a further list may be the partner.
            for list in &more {
                let (elements, _) = self.elements(node, list);
                let value = self.any(node, elements);
                given.push(Argument::plain(value));
            }
            let value = self.call_named(node, &function, given);
            made.push(if filters { element } else { value });
        }
        let is_open = !known || filters;
        self.listed(made, is_open)
    }

    /// Calls a function that is passed with its arguments: threads, executors, exit handlers.
    pub(super) fn run_with(&mut self, node: &Node, bound: &Bound) -> Value {
        let is_target = |name: &str| matches!(name, "target" | "function");
        let at = bound.given.iter().position(|(parameter, _)| is_target(parameter.name)).unwrap_or(0);
        let Some((_, target)) = bound.given.get(at) else { return Value::Constant };
        let is_named = self.language == Language::Php;
        let mut given = Vec::new();
        match bound.named("args") {
            Some(list) => {
                let (elements, known) = self.elements(node, list);
                given.extend(elements.into_iter().map(Argument::plain));
                if !known {
                    given.push(Argument::unknown(Why::Parameter));
                }
            }
            None => {
                given.extend(bound.given.iter().skip(at + 1).map(|(_, value)| Argument::plain(value.clone())))
            }
        }
        given.extend(bound.others.iter().cloned().map(Argument::plain));
        if is_named || target.is_callable() {
            self.call_named(node, target, given)
        } else {
            self.unknown(node, Why::Dynamic)
        }
    }

    /// Returns a decorator that returns its argument.
    pub(super) fn identity(&mut self, node: &Node) -> Value {
        let table = self.table;
        let global = table.module(table.global);
        let same = global.and_then(|global| self.member_of_module(node, global, "staticmethod"));
        same.unwrap_or(Value::Constant)
    }

    /// Splits a command into words, where the quoting is simple.
    pub(super) fn words(&mut self, node: &Node, text: &Value) -> Value {
        match text.as_str() {
            Some(text) if !text.contains(['\'', '"', '\\', '#']) => {
                self.list(text.split_whitespace().map(Value::text))
            }
            text => match text.and_then(|text| Quoting::SHLEX.closed_words(text)) {
                Some(words) => self.list(words.into_iter().map(Value::text)),
                None => self.unknown(node, Why::Dynamic),
            },
        }
    }

    pub(super) fn member_by_name(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = bound.first();
        let name = bound.value(1);
        let mut values = Vec::new();
        for name in name.choices() {
            match name.as_str().map(str::to_owned) {
                Some(name) => values.push(self.member(node, &of, &name)),
                None if matches!(of, Value::Instance(_) | Value::Class(_)) => {
                    values.push(self.unknown(node, Why::Dynamic));
                }
                // The member is unknown.
                None => values.push(self.lost(node, Why::Dynamic)),
            }
        }
        values.extend(bound.at(2).cloned());
        self.any(node, values)
    }

    pub(super) fn set_member(&mut self, node: &Node, bound: &Bound) -> Value {
        if let [(_, of), (_, name), (_, value), ..] = bound.given.as_slice() {
            self.store(node, of, name, value.clone());
        }
        if bound.is_open {
            self.hole(node.at, Role::Code, Why::Dynamic, "");
        }
        Value::Constant
    }
}
