//! Assigns the words of a command to parameters: by name, name prefix, position, or pipe. Must not know what a command
//! does.

use std::rc::Rc;

use castellan_event::{Role, Why};

use super::bound::{Bound, is_true};
use super::shells::Word;
use super::{Argument, Machine};
use crate::language::Language;
use crate::table::{Entry, Parameter, Takes};
use crate::tree::{Function, Kind, Node, Rest};
use crate::value::Value;

/// Parameters of all commands, with name, alias, and whether they take a value.
const COMMON: &[(&str, &str, bool)] = &[
    ("verbose", "vb", false),
    ("debug", "db", false),
    ("whatif", "wi", false),
    ("confirm", "cf", false),
    ("erroraction", "ea", true),
    ("warningaction", "wa", true),
    ("informationaction", "infa", true),
    ("progressaction", "proga", true),
    ("errorvariable", "ev", true),
    ("warningvariable", "wv", true),
    ("informationvariable", "iv", true),
    ("outvariable", "ov", true),
    ("outbuffer", "ob", true),
    ("pipelinevariable", "pv", true),
    ("usetransaction", "usetx", false),
];

/// The meaning of `-name` for a command.
enum Meant {
    Own(&'static Parameter),
    /// The flag shows if it takes a value.
    Common(&'static str, bool),
    Nothing,
}

impl Machine<'_> {
    /// Reports whether a command has all the given parameters. A program's one-letter options do not match.
    pub(super) fn fits(&self, entry: &'static Entry, words: &[Word]) -> bool {
        let places =
            entry.parameters().iter().filter(|one| one.takes == Takes::One && !is_switch(one)).count();
        let takes_all = entry.parameters().iter().any(|one| one.takes == Takes::Rest);
        let plain = words.iter().filter(|word| matches!(word, Word::Plain(_))).count();
        let has_places = takes_all || plain <= places || words.len() > plain;
        has_places
            && words.iter().all(|word| {
                let (Word::Flag(name) | Word::Named(name, _)) = word else { return true };
                let lower = name.to_lowercase();
                let own = entry.parameters().iter();
                let fitting = own
                    .clone()
                    .filter(|parameter| names(parameter).any(|one| one.starts_with(&lower)))
                    .count();
                let is_exact = own.clone().any(|parameter| names(parameter).any(|one| one == lower));
                let is_word = fitting == 1 && (lower.len() == 1 || lower.len() > 3);
                is_exact || is_word || matches!(meant(entry, name, COMMON), Meant::Common(..))
            })
    }

    pub(super) fn cmdlet(
        &mut self,
        node: &Node,
        entry: &'static Entry,
        words: Vec<Word>,
        input: Option<Value>,
    ) -> Value {
        let mut bound = Bound::default();
        let mut plain = Vec::new();
        let mut is_dry = false;
        let words = if self.language == Language::Batch { slashed(words) } else { words };
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let (name, given) = match word {
                Word::Plain(value) => {
                    plain.push(value);
                    continue;
                }
                Word::Flag(name) => (name, None),
                Word::Named(name, value) => (name, Some(value)),
            };
            let common = if self.language == Language::PowerShell { COMMON } else { &[] };
            let (own, takes) = match meant(entry, &name, common) {
                Meant::Own(parameter) => (Some(parameter), !is_switch(parameter)),
                Meant::Common(common, takes) => {
                    is_dry |= common == "whatif" && given.as_ref().is_none_or(is_true);
                    (None, takes)
                }
                Meant::Nothing => {
                    self.hole(node.at, Role::Operand, Why::Flag, &name);
                    (None, false)
                }
            };
            let next = |words: &mut std::iter::Peekable<std::vec::IntoIter<Word>>| match words
                .next_if(|word| matches!(word, Word::Plain(_)))
            {
                Some(Word::Plain(value)) => Some(value),
                _ => None,
            };
            let value = match (given, takes) {
                (Some(value), _) => value,
                (None, true) => next(&mut words).unwrap_or(Value::Constant),
                (None, false) => Value::Number(1),
            };
            match own {
                Some(parameter) => bound.given.push((parameter, value)),
                None => bound.others.push(value),
            }
        }
        self.places(entry, &mut bound, plain, input);
        if is_dry {
            return self.unknown(node, Why::Dynamic);
        }
        self.provided(node, &mut bound);
        self.perform_bound(node, entry, &bound)
    }

    /// Assigns words without names, and pipeline input, to the remaining parameters.
    fn places(&self, entry: &'static Entry, bound: &mut Bound, plain: Vec<Value>, input: Option<Value>) {
        let mut plain = plain.into_iter();
        let mut input = input;
        for parameter in entry.parameters() {
            if bound.given.iter().any(|(own, _)| std::ptr::eq(*own, parameter)) {
                continue;
            }
            let value = match parameter.takes {
                Takes::Rest => {
                    bound.given.extend(plain.by_ref().map(|value| (parameter, value)));
                    None
                }
                Takes::One if !is_switch(parameter) => plain.next(),
                Takes::One | Takes::Named | Takes::Receiver => None,
            };
            let piped = if parameter.name.starts_with('<') && value.is_none() { input.take() } else { None };
            let value = value.or(piped).or_else(|| parameter.default.map(Value::text));
            bound.given.extend(value.map(|value| (parameter, value)));
        }
        bound.others.extend(plain);
        let place = |of: &Parameter| entry.parameters().iter().position(|own| std::ptr::eq(own, of));
        bound.given.sort_by_key(|(parameter, _)| place(parameter));
    }

    /// Calls a function or block of the program, with named parameters.
    pub(super) fn function_with(
        &mut self,
        node: &Node,
        id: usize,
        words: Vec<Word>,
        input: Option<Value>,
    ) -> Value {
        let Some(closure) = self.functions.get(id) else { return Value::Constant };
        let function = Rc::clone(&closure.function);
        let mut given: Vec<Argument> = Vec::new();
        let mut plain = Vec::new();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let (name, value) = match word {
                Word::Plain(value) => {
                    plain.push(value);
                    continue;
                }
                Word::Flag(name) => (name, None),
                Word::Named(name, value) => (name, Some(value)),
            };
            let Some((own, takes)) = parameter_of(&function, &name) else {
                plain.push(Value::text(format!("-{name}")));
                plain.extend(value);
                continue;
            };
            let value = match (value, takes) {
                (Some(value), _) => value,
                (None, false) => Value::Number(1),
                (None, true) => match words.next_if(|word| matches!(word, Word::Plain(_))) {
                    Some(Word::Plain(value)) => value,
                    _ => Value::Constant,
                },
            };
            given.push(Argument { name: Some(own), value, is_spread: false });
        }
        let mut plain = plain.into_iter();
        for (name, takes) in named_parameters(&function) {
            if given.iter().any(|one| one.name.as_deref() == Some(&*name)) {
                continue;
            }
            let value = if takes { plain.next() } else { Some(Value::Number(0)) };
            given.extend(value.map(|value| Argument { name: Some(name), value, is_spread: false }));
        }
        let has_rest = plain.len() > 0;
        given.extend(plain.map(Argument::plain));
        if has_rest && function.parameters.iter().all(|one| one.rest == Rest::One) {
            self.hole(node.at, Role::Operand, Why::Unsupported, "");
        }
        let scope = self.scope;
        let before = (self.state.name(scope, "$_"), self.state.name(scope, "$input"));
        if let Some(input) = input {
            let (items, known) = self.items(node, &input);
            let item = self.any(node, items);
            self.state.set_name(scope, &"$_".into(), item);
            self.state.set_name(scope, &"$input".into(), input);
            let _ = known;
        }
        let value = self.inline(node, id, None, given);
        for (name, value) in [("$_", before.0), ("$input", before.1)] {
            if let Some(value) = value {
                self.state.set_name(scope, &name.into(), value);
            }
        }
        value
    }
}

/// Splits `/s/q` into two options.
fn slashed(words: Vec<Word>) -> Vec<Word> {
    let split = |word: Word| match word {
        Word::Flag(name) => name.split('/').map(|one| Word::Flag(one.into())).collect(),
        other => vec![other],
    };
    words.into_iter().flat_map(split).collect()
}

/// Returns the names of a parameter. `<` marks pipeline input, `?` marks a switch without value.
fn names(parameter: &Parameter) -> impl Iterator<Item = &'static str> {
    parameter.name.trim_start_matches('<').trim_end_matches('?').split('/')
}

fn is_switch(parameter: &Parameter) -> bool {
    parameter.name.ends_with('?')
}

/// Returns the parameter that a name or name prefix means; an exact name wins.
fn meant(entry: &'static Entry, written: &str, of_all: &'static [(&str, &str, bool)]) -> Meant {
    let written = written.to_lowercase();
    let all = entry.parameters().iter();
    if let Some(own) = all.clone().find(|parameter| names(parameter).any(|name| name == written)) {
        return Meant::Own(own);
    }
    let common = of_all.iter().find(|(name, alias, _)| *name == written || *alias == written);
    if let Some((name, _, takes)) = common {
        return Meant::Common(name, *takes);
    }
    let mut all = all;
    if let Some(own) = all.find(|parameter| names(parameter).any(|name| name.starts_with(&written))) {
        return Meant::Own(own);
    }
    match of_all.iter().find(|(name, _, _)| name.starts_with(&written)) {
        Some((name, _, takes)) => Meant::Common(name, *takes),
        None => Meant::Nothing,
    }
}

/// Returns the named parameters of a function, with a flag for those that take a value.
fn named_parameters(function: &Function) -> Vec<(Rc<str>, bool)> {
    let own = function.parameters.iter().filter(|parameter| parameter.rest == Rest::One);
    own.filter_map(|parameter| {
        let Kind::Name(name) = &parameter.target.kind else { return None };
        let is_switch = parameter
            .default
            .as_ref()
            .is_some_and(|value| matches!(&value.kind, Kind::Inert(parts) if parts.is_empty()));
        Some((Rc::clone(name), !is_switch))
    })
    .collect()
}

fn parameter_of(function: &Function, written: &str) -> Option<(Rc<str>, bool)> {
    let written = format!("${}", written.to_lowercase());
    let all = named_parameters(function);
    let exact = all.iter().find(|(name, _)| **name == *written);
    exact.or_else(|| all.iter().find(|(name, _)| name.starts_with(&*written))).cloned()
}
