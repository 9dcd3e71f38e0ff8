//! Ruby's own semantics: names of functions and constants, methods of the program, blocks.

use castellan_event::Why;

use super::bound::Bound;
use super::call::MethodCall;
use super::{Argument, Machine};
use crate::act::What;
use crate::limits::ITERATIONS_MAX;
use crate::tree::Node;
use crate::value::{Ref, Value};

impl Machine<'_> {
    pub(super) fn unset_in_ruby(&mut self, node: &Node, name: &str) -> Option<Value> {
        if let Some(function) = name.strip_suffix("()") {
            return self.function_in_ruby(node, function);
        }
        if let Some(module) = self.table.module(name) {
            return Some(Value::Module(Ref(module)));
        }
        if let Some((of, member)) = name.rsplit_once("::") {
            let of = self.name(node, &of.into());
            return Some(self.member(node, &of, member));
        }
        let is_constant = name.starts_with(|letter: char| letter.is_ascii_uppercase());
        if is_constant { self.starred(node) } else { Some(Value::unknown(Why::Variable, name)) }
    }

    /// Returns the function of a call without receiver.
    fn function_in_ruby(&mut self, node: &Node, name: &str) -> Option<Value> {
        if let Some(function) = self.state.name(self.scope, &format!("->{name}")) {
            let this = self.state.name(self.scope, "self");
            let this = this.unwrap_or_else(|| Value::unknown(Why::Parameter, "self"));
            return Some(self.bound_to(node, &this, &function));
        }
        let global = self.table.module(self.table.global)?;
        match self.member_of_module(node, global, name) {
            Some(value) => Some(value),
            // `URI(...)`
            None if self.table.module(name).is_some_and(|module| module.entry("@").is_some()) => {
                self.table.module(name).map(|module| Value::Module(Ref(module)))
            }
            None => {
                // A method of a parent class or an included module.
                let this = self.state.name(self.scope, "self")?;
                let is_own = matches!(this, Value::Instance(_) | Value::Class(_));
                is_own.then(|| self.starred(node)).flatten()
            }
        }
    }

    /// Binds functions of the program to their receiver.
    fn bound_to(&mut self, node: &Node, of: &Value, function: &Value) -> Value {
        self.over(node, function, |machine, one| match one {
            Value::Function(id) => machine.method_of(of, *id),
            other => other.clone(),
        })
    }

    pub(super) fn member_of_class(&self, of: &Value, class: usize, name: &str) -> Value {
        let own = self.class_member(class, &format!("self.{name}"));
        match own.or_else(|| self.class_member(class, name)) {
            Some(Value::Function(id)) => self.method_of(of, id),
            Some(other) => other,
            None => Value::Method(of.clone().into(), name.into()),
        }
    }

    /// Calls a method that does not belong to a library object.
    pub(super) fn method_in_ruby(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        if is_function(of)
            && let Some(value) = self.method_of_function(call)
        {
            return Some(value);
        }
        match (of, name) {
            (Value::Class(class), "new") => return Some(self.instantiate(node, *class, arguments.to_vec())),
            (Value::Instance(cell), _) if arguments.is_empty() => {
                let own = self.state.cell(*cell).value(&format!("@{name}")).cloned();
                if own.is_some() {
                    return own;
                }
            }
            _ => {}
        }
        if let Some(function) = self.state.name(self.scope, &format!("->{name}")) {
            let function = self.bound_to(node, of, &function);
            return Some(self.call(node, &function, arguments.to_vec()));
        }
        // A class that a text names.
        let names_class = matches!(name, "const_get" | "qualified_const_get");
        arguments.first().filter(|_| names_class).map(|name| self.constant(node, &name.value))
    }

    /// Runs a method of a function object.
    fn method_of_function(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let other = || call.first().unwrap_or(Value::Constant);
        match name {
            "call" | "()" | "yield" | "===" | "[]" => Some(self.call(node, of, arguments.to_vec())),
            "bind_call" => Some(self.call(node, of, arguments.iter().skip(1).cloned().collect())),
            "to_proc" | "unbind" | "bind" => Some(of.clone()),
            "curry" if arguments.is_empty() => Some(of.clone()),
            // The curried function runs once it has enough arguments.
            "curry" => self.is_capable(of).then(|| self.lost(node, Why::Unsupported)),
            ">>" => Some(self.chain_of(of.clone(), other())),
            "<<" => Some(self.chain_of(other(), of.clone())),
            _ => None,
        }
    }

    /// Makes a function that passes the result of the first function to the second.
    fn chain_of(&self, first: Value, then: Value) -> Value {
        let global = self.table.module(self.table.global);
        match global.and_then(|space| Some((space, space.entry("chain.of")?))) {
            Some((space, entry)) => Value::partial(Value::Library(Ref(space), Ref(entry)), vec![first, then]),
            None => Value::Constant,
        }
    }

    /// `(f >> g).call(...)`
    pub(super) fn chained(&mut self, node: &Node, bound: &Bound) -> Value {
        let [(_, first), (_, then), rest @ ..] = bound.given.as_slice() else { return Value::Constant };
        let mut given: Vec<Argument> = rest.iter().map(|(_, value)| Argument::plain(value.clone())).collect();
        if bound.is_open {
            given.push(Argument::unknown(Why::Parameter));
        }
        let made = self.call(node, first, given);
        self.call(node, then, vec![Argument::plain(made)])
    }

    /// A function of `un.rb`: does with the program's arguments the same as the program of that name.
    pub(super) fn utility(&mut self, node: &Node, bound: &Bound) -> Value {
        let program = bound.first();
        let programs = self.words_of_args(node, &program);
        let arguments = self.name(node, &"ARGV".into());
        let arguments = arguments.choices().iter().flat_map(|one| self.argv(node, one)).collect();
        self.starts(node, super::command::product(programs, arguments), bound);
        Value::Constant
    }

    /// `of[a, b]`: a part, unless the receiver is a function.
    pub(super) fn element_of(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = bound.first();
        let given = bound.arguments(1);
        self.over(node, &of, |machine, one| match is_function(one) {
            true => machine.call(node, one, given.clone()),
            false => machine.inert(node, &given),
        })
    }

    /// Returns a constant by its name; an unknown name gives a `Hole`.
    pub(super) fn constant(&mut self, node: &Node, name: &Value) -> Value {
        self.over(node, name, |machine, one| match one.as_str() {
            Some(name) => machine.name(node, &name.into()),
            None => machine.lost(node, Why::Dynamic),
        })
    }

    /// `def_delegator :Of, :method`: gives a function that acts another name. Other receivers than constants are
    /// unknown.
    pub(super) fn delegated(&mut self, node: &Node, bound: &Bound) -> Value {
        let values = bound.given.iter().filter(|(parameter, _)| parameter.name != "alias");
        let mut values = values.map(|(_, value)| value.clone());
        let of = values.next().unwrap_or(Value::Constant);
        let is_constant =
            of.as_str().is_some_and(|name| name.starts_with(|one: char| one.is_ascii_uppercase()));
        let of = if is_constant { self.constant(node, &of) } else { of };
        for name in values {
            match name.as_str() {
                Some(name) if is_constant => {
                    let member = self.member(node, &of, name);
                    self.hand(node, &member);
                }
                _ => self.hand(node, &name),
            }
        }
        Value::Constant
    }

    /// `delegate [:method] => :Of`: like [`Machine::delegated`], for the methods of each pair.
    pub(super) fn delegated_to(&mut self, node: &Node, bound: &Bound) -> Value {
        let pairs = bound.given.iter().map(|(_, value)| value).chain(&bound.others);
        let is_constant =
            |name: &str| name.trim_start_matches("::").starts_with(|one: char| one.is_ascii_uppercase());
        for pair in pairs {
            let Value::Map(cell) = pair else { continue };
            for of in self.state.cell(*cell).values() {
                // The method names do not matter: constants hardly ever delegate like this.
                if of.as_str().is_none_or(is_constant) {
                    self.lost(node, Why::Dynamic);
                }
            }
        }
        Value::Constant
    }

    /// Returns the block of a call.
    pub(super) fn block_of(bound: &Bound) -> Option<Value> {
        bound.named("&").cloned()
    }

    /// `each`, `map` and similar methods. Arguments: the kind of result, the method's name, the object.
    pub(super) fn each_of(&mut self, node: &Node, bound: &Bound) -> Value {
        let text = |at: usize| bound.at(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (gives, name) = (text(0), text(1));
        let of = bound.value(2);
        let block = Self::block_of(bound);
        let is_own = |one: &Value| matches!(one, Value::Instance(_) | Value::Class(_) | Value::Object(..));
        if gives != "whole" && of.choices().iter().all(is_own) {
            let member = self.member(node, &of, &name);
            let block = block.map(|value| Argument { name: Some("&".into()), value, is_spread: false });
            let others = bound.given.iter().skip(3).filter(|(one, _)| one.name != "&");
            let others = others.map(|(_, value)| Argument::plain(value.clone()));
            return self.call(node, &member, block.into_iter().chain(others).collect());
        }
        let (elements, known) = match (&of, name.as_str()) {
            (_, "tap" | "then" | "yield_self") => (vec![of.clone()], true),
            (Value::Number(count), "times") => match usize::try_from(*count).unwrap_or_default() {
                count if count <= ITERATIONS_MAX => ((0..).take(count).map(Value::Number).collect(), true),
                _ => (vec![self.unknown(node, Why::Dynamic)], false),
            },
            (Value::Map(_), _) => self.pairs_of(node, &of),
            (Value::Text(_) | Value::Number(_) | Value::Constant, _) => {
                (vec![self.unknown(node, Why::Dynamic)], false)
            }
            _ => self.elements(node, &of),
        };
        let Some(block) = block else { return of };
        let mut made = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            if !self.step(1) {
                break;
            }
            let mut given = self.spread_over(node, &block, element);
            if name == "each_with_index" {
                given = vec![element.clone(), Value::Number(i64::try_from(at).unwrap_or_default())];
            }
            made.push(self.call(node, &block, given.into_iter().map(Argument::plain).collect()));
        }
        match gives.as_str() {
            "map" => self.listed(made, !known || name == "filter_map"),
            "whole" if name != "tap" => self.any(node, made),
            "some" if matches!(name.as_str(), "find" | "detect") => self.any(node, elements),
            "some" => self.listed(elements, true),
            _ => of,
        }
    }

    /// Returns the entries of a map, each as a list of key and value.
    fn pairs_of(&mut self, node: &Node, map: &Value) -> (Vec<Value>, bool) {
        let pairs = self.list_method(MethodCall { node, of: map, name: "items", arguments: &[] });
        pairs.map(|pairs| self.elements(node, &pairs)).unwrap_or_default()
    }

    /// Splits a list element for a block with several parameters.
    fn spread_over(&self, node: &Node, block: &Value, element: &Value) -> Vec<Value> {
        let count = match block {
            Value::Function(id) => self.functions.get(*id).map_or(1, |one| {
                let parameters = one.function.parameters.iter();
                parameters.filter(|one| one.rest != crate::tree::Rest::Named).count()
            }),
            _ => 1,
        };
        match element {
            Value::List(_) if count > 1 => self.elements(node, element).0,
            _ => vec![element.clone()],
        }
    }

    /// Returns a copy of an object; changes in the copy do not affect the original.
    pub(super) fn copied_object(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = bound.first();
        self.over(node, &of, |machine, one| match one {
            Value::Text(text) => Value::arg((**text).clone()),
            Value::Number(number) => Value::text(number.to_string()),
            Value::List(cell) => Value::List(machine.state.new_cell(machine.state.cell(*cell))),
            Value::Map(cell) => Value::Map(machine.state.new_cell(machine.state.cell(*cell))),
            other => other.clone(),
        })
    }

    /// `Dir.chdir`, for the duration of its block.
    pub(super) fn moved(&mut self, node: &Node, bound: &Bound) -> Value {
        let Some(block) = Self::block_of(bound) else { return Value::Number(0) };
        let value = self.call(node, &block, vec![Argument::unknown(Why::Parameter)]);
        if let Some(cwd) = &self.start.cwd {
            let back = castellan_programs::Arg::known(cwd.clone());
            self.act(node.at, What::Directory(back));
        }
        value
    }

    /// `reverse` of a text or list.
    pub(super) fn reversed_of(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = bound.first();
        match (&of, of.as_str()) {
            (_, Some(text)) => Value::text(text.chars().rev().collect::<String>()),
            (Value::List(_), _) => self.same_elements(node, &of, true),
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    /// `[...].pack(FORMAT)`
    pub(super) fn packed_of(&mut self, node: &Node, bound: &Bound) -> Value {
        let of = bound.first();
        let (elements, known) = self.elements(node, &of);
        let Some((parameter, format)) = bound.given.get(1).filter(|_| known) else {
            return self.unknown(node, Why::Dynamic);
        };
        let mut given = vec![(*parameter, format.clone())];
        given.extend(elements.into_iter().map(|value| (*parameter, value)));
        self.packed(node, &Bound { given, ..Bound::default() })
    }

    /// `text.unpack1("m")`: decodes base64.
    pub(super) fn unpacked_of(&mut self, node: &Node, bound: &Bound) -> Value {
        let is_base64 = bound.text(1).is_some_and(|format| format.trim_end_matches(['*', '0']) == "m");
        let made = bound.text(0).filter(|_| is_base64).and_then(super::texts::base64);
        made.map_or_else(|| self.unknown(node, Why::Encoding), Value::text)
    }

    /// `first`, `last`, without a number.
    pub(super) fn end_of(&mut self, node: &Node, bound: &Bound, at: i64) -> Value {
        let of = bound.first();
        match (&of, bound.given.len()) {
            (Value::List(_), 1) => self.index(node, &of, &Value::Number(at)),
            (Value::List(_), _) => {
                let list = self.same_elements(node, &of, false);
                let more = self.unknown(node, Why::Dynamic);
                let more = Argument { name: None, value: more, is_spread: true };
                self.list_method(MethodCall { node, of: &list, name: "push", arguments: &[more] });
                list
            }
            _ => self.unknown(node, Why::Dynamic),
        }
    }
}

/// Reports whether `f[...]` and `f.call(...)` call the value.
pub(super) fn is_function(value: &Value) -> bool {
    matches!(value, Value::Function(_) | Value::Library(..) | Value::Method(..) | Value::Partial(..))
}
