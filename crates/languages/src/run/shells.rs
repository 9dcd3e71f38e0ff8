//! Commands of a shell language: what a name means, which word is whose argument, and pipes. What is no function of the program and
//! no command of the tables is a program. It must not know what a command does.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};

use super::perform::{Bound, is_true};
use super::{Argument, Machine};
use crate::act::What;
use crate::language::Language;
use crate::table::{Entry, Parameter, Part, Takes};
use crate::tree::{Function, Invoked, Kind, Node, Rest, Way};
use crate::value::{Ref, Value, shortened};

/// A word of a command.
#[derive(Debug, Clone)]
pub(super) enum Word {
    /// `-name`
    Flag(Rc<str>),
    /// `-name:value`
    Named(Rc<str>, Value),
    Plain(Value),
}

/// Parameters that all commands have, by their names and aliases, and whether they take a value.
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

/// Short names of commands that are programs where PowerShell does not run on Windows.
const PROGRAMS: &[&str] =
    &["rm", "cp", "mv", "ls", "cat", "rmdir", "mkdir", "kill", "tee", "sleep", "curl", "wget", "clear", "start", "find"];

/// Programs of Windows whose names mean other programs elsewhere, and their files.
const FILES: &[(&str, &str)] = &[
    ("find", "find.exe"),
    ("sort", "sort.exe"),
    ("more", "more.com"),
    ("where", "where.exe"),
    ("timeout", "timeout.exe"),
    ("shutdown", "shutdown.exe"),
    ("tree", "tree.com"),
];

/// What a `-name` is for a command.
enum Meant {
    Own(&'static Parameter),
    /// Whether it takes a value.
    Common(&'static str, bool),
    Nothing,
}

impl Machine<'_> {
    /// Each with what the one before gives.
    pub(super) fn pipe(&mut self, parts: &[Node]) -> Value {
        let mut input = None;
        for part in parts {
            input = Some(self.piped(part, input.take()));
        }
        input.unwrap_or(Value::Constant)
    }

    fn piped(&mut self, node: &Node, input: Option<Value>) -> Value {
        match &node.kind {
            Kind::Command(command) => self.invoke(node, command, input),
            // With the files that it writes.
            Kind::Sequence(parts) => {
                let mut value = Value::Constant;
                for part in parts {
                    value = match &part.kind {
                        Kind::Command(command) => self.invoke(part, command, input.clone()),
                        _ => self.eval(part),
                    };
                }
                value
            }
            _ => self.eval(node),
        }
    }

    /// Runs a command.
    pub(super) fn invoke(&mut self, node: &Node, command: &Invoked, input: Option<Value>) -> Value {
        let name = self.eval(&command.name);
        let words = self.words_of(command);
        if self.language == Language::Batch && let Some(value) = self.pasted(node, command, &name, &words) {
            return value;
        }
        let mut results = Vec::new();
        for one in name.choices() {
            let text = one.to_arg();
            results.push(match (one, text.as_deref().map(|arg| (arg, arg.as_str()))) {
                (Value::Text(_) | Value::Object(..), Some((arg, Some(name)))) => {
                    let (arg, name) = (arg.clone(), name.to_owned());
                    self.named(node, (&arg, &name), command, words.clone(), input.clone())
                }
                (Value::Text(_) | Value::Unknown(..) | Value::Constant | Value::Method(..) | Value::Object(..), arg) => {
                    let arg = arg.map(|(arg, _)| arg.clone());
                    let arg = arg.unwrap_or_else(|| Arg::unknown(Why::Dynamic, &*self.written(node), false));
                    self.starts_program(node, &arg, command, &words, input.as_ref())
                }
                (other, _) => self.called(node, other, words.clone(), input.clone()),
            });
        }
        self.any(node, results)
    }

    /// Variables are put into a line before it is read: what they hold may be a command with words, or several.
    fn pasted(&mut self, node: &Node, command: &Invoked, name: &Value, words: &[Word]) -> Option<Value> {
        let is_made = |node: &Node| matches!(node.kind, Kind::Join(_));
        let has = |value: &Value, letters: &[char]| {
            value.choices().iter().any(|one| one.to_arg().is_some_and(|arg| {
                arg.pieces().iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(letters)))
            }))
        };
        let operators = ['&', '|', '<', '>'];
        let adds = command.words.iter().zip(words).any(|(node, word)| {
            matches!(word, Word::Plain(value) if is_made(node) && has(value, &operators))
        });
        let splits = is_made(&command.name) && has(name, &['&', '|', '<', '>', ' ']);
        if !adds && !splits {
            return None;
        }
        let mut line = vec![name.clone()];
        for word in words {
            line.push(Value::text(" "));
            match word {
                Word::Plain(value) => line.push(value.clone()),
                Word::Flag(name) => line.push(Value::text(format!("/{name}"))),
                Word::Named(name, value) => line.extend([Value::text(format!("/{name}:")), value.clone()]),
            }
        }
        let text = self.concatenated(node, &line);
        Some(self.code(node, &text))
    }

    /// A command by its name.
    fn named(
        &mut self,
        node: &Node,
        (arg, name): (&Arg, &str),
        command: &Invoked,
        words: Vec<Word>,
        input: Option<Value>,
    ) -> Value {
        let lower = name.to_lowercase();
        let is_file = self.table.files.iter().any(|ending| lower.ends_with(ending));
        if is_file || command.way == Way::Source {
            let path = Arg::known(name.replace('\\', "/"));
            self.act(node.at, What::Script { language: self.language, path });
            self.handed(node, &words);
            return Value::unknown(Why::File, name);
        }
        match self.meant_by(&lower) {
            Some(Value::Text(other)) => self.starts_program(node, &other, command, &words, input.as_ref()),
            Some(Value::Library(space, entry)) => {
                let is_program = self.language == Language::PowerShell && PROGRAMS.contains(&&*lower);
                if is_program && !self.fits(entry.0, &words) {
                    return self.starts_program(node, arg, command, &words, input.as_ref());
                }
                self.called(node, &Value::Library(space, entry), words, input)
            }
            Some(Value::Package(_)) => {
                self.handed(node, &words);
                self.unknown(node, Why::Dynamic)
            }
            Some(other) => self.called(node, &other, words, input),
            None => {
                // Windows knows its programs in any case of letters.
                let is_plain = self.language == Language::Batch && !lower.contains(['/', '\\']);
                let file = FILES.iter().find(|(name, _)| *name == lower).map(|(_, file)| *file);
                let own = is_plain.then(|| Arg::known(file.unwrap_or(&lower)));
                self.starts_program(node, own.as_ref().unwrap_or(arg), command, &words, input.as_ref())
            }
        }
    }

    /// What a command's name means here; `None`: a program.
    pub(super) fn meant_by(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.state.name(self.scope, name) {
            return Some(value);
        }
        let global = self.table.module(self.table.global)?;
        // `module\name`
        let is_path = name.starts_with(['.', '/', '\\', '~']) || name.contains(':') || self.language == Language::Batch;
        let bare = name.rsplit('\\').next().filter(|_| !is_path).unwrap_or(name);
        match global.entry(bare) {
            Some(entry) if entry.parameters.is_some() => Some(Value::Library(Ref(global), Ref(entry))),
            _ => global.inert.contains(&bare).then(|| Value::Package(bare.into())),
        }
    }

    /// A block, function or command that is known.
    pub(super) fn called(&mut self, node: &Node, callee: &Value, words: Vec<Word>, input: Option<Value>) -> Value {
        match callee {
            Value::Library(_, entry) => self.cmdlet(node, entry.0, words, input),
            Value::Function(id) => self.function_with(node, *id, words, input),
            _ => {
                let mut given = Vec::new();
                for word in words {
                    match word {
                        Word::Plain(value) | Word::Named(_, value) => given.push(Argument::plain(value)),
                        Word::Flag(_) => {}
                    }
                }
                self.call(node, callee, given)
            }
        }
    }

    /// The words of a command as values; a splatted map is its entries.
    fn words_of(&mut self, command: &Invoked) -> Vec<Word> {
        let mut words = Vec::new();
        for node in &command.words {
            match &node.kind {
                Kind::Flag(name) => words.push(Word::Flag(Rc::clone(name))),
                Kind::Keyword(name, value) => {
                    let value = self.eval(value);
                    words.push(Word::Named(Rc::clone(name), value));
                }
                Kind::Spread(value) => {
                    let value = self.eval(value);
                    match &value {
                        Value::Map(cell) => {
                            let cell = self.state.cell(*cell);
                            if cell.is_open {
                                self.hole(node.at, Role::Operand, Why::Dynamic, "");
                            }
                            for (name, value) in cell.entries {
                                words.push(match name {
                                    Some(name) => Word::Named(name, value),
                                    None => Word::Plain(value),
                                });
                            }
                        }
                        Value::List(_) => {
                            let (elements, _) = self.elements(node, &value);
                            words.extend(elements.into_iter().map(Word::Plain));
                        }
                        other => words.push(Word::Plain(other.clone())),
                    }
                }
                _ => {
                    let value = self.eval(node);
                    words.push(Word::Plain(value));
                }
            }
        }
        words
    }

    fn handed(&mut self, node: &Node, words: &[Word]) {
        for word in words {
            if let Word::Plain(value) | Word::Named(_, value) = word {
                self.hand(node, value);
            }
        }
    }

    /// A program of its own, with its arguments as they stand.
    fn starts_program(&mut self, node: &Node, name: &Arg, command: &Invoked, words: &[Word], input: Option<&Value>) -> Value {
        let mut choices = vec![vec![name.clone()]];
        let dash = if self.language == Language::Batch { '/' } else { '-' };
        let is_bare = |at: usize| command.words.get(at).is_some_and(|node| matches!(node.kind, Kind::Text(_)));
        for (at, word) in words.iter().enumerate() {
            let more: Vec<Arg> = match word {
                Word::Flag(name) => vec![Arg::known(format!("{dash}{name}"))],
                Word::Named(name, value) => {
                    let start = Arg::known(format!("{dash}{name}:"));
                    let values = self.operands(node, value);
                    let end = values.first().cloned().unwrap_or_else(|| Arg::known(""));
                    vec![crate::value::concat([&start, &end])]
                }
                Word::Plain(value) if is_bare(at) => {
                    let value = self.expanded(node, value);
                    self.operands(node, &value).iter().map(super::paths::pattern_of).collect()
                }
                Word::Plain(Value::Number(number)) => vec![Arg::known(number.to_string())],
                Word::Plain(Value::Function(_)) => {
                    if let Word::Plain(value) = word {
                        self.hand(node, value);
                    }
                    let written = command.words.get(at).map(|node| self.written(node)).unwrap_or_default();
                    vec![Arg::known(written.trim_matches(['{', '}']))]
                }
                Word::Plain(Value::Any(values)) => {
                    choices = super::command::product(choices, values.iter().flat_map(|one| self.args(node, one)).map(|arg| vec![(*arg).clone()]).collect());
                    continue;
                }
                Word::Plain(value) => self.operands(node, value),
            };
            choices.iter_mut().for_each(|argv| argv.extend(more.iter().cloned()));
        }
        let stdin = input.map(|value| match self.operands(node, value).as_slice() {
            [] => Arg::known(""),
            [one] => one.clone(),
            lines => {
                let end = Arg::known("\n");
                crate::value::concat(lines.iter().flat_map(|line| [line, &end]))
            }
        });
        for argv in choices {
            self.act(node.at, What::Command { argv, cwd: None, env: Vec::new(), stdin: stdin.clone() });
        }
        self.unknown(node, Why::Substitution)
    }

    /// Whether a command has all parameters that it is given, and these are no letters of a program's.
    fn fits(&self, entry: &'static Entry, words: &[Word]) -> bool {
        words.iter().all(|word| {
            let (Word::Flag(name) | Word::Named(name, _)) = word else { return true };
            let lower = name.to_lowercase();
            let own = entry.parameters().iter();
            let fitting = own.clone().filter(|parameter| names(parameter).any(|one| one.starts_with(&lower))).count();
            let is_exact = own.clone().any(|parameter| names(parameter).any(|one| one == lower));
            let is_word = fitting == 1 && (lower.len() == 1 || lower.len() > 3);
            is_exact || is_word || matches!(meant(entry, name, COMMON), Meant::Common(..))
        })
    }

    fn cmdlet(&mut self, node: &Node, entry: &'static Entry, words: Vec<Word>, input: Option<Value>) -> Value {
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
            let next = |words: &mut std::iter::Peekable<std::vec::IntoIter<Word>>| {
                match words.next_if(|word| matches!(word, Word::Plain(_))) {
                    Some(Word::Plain(value)) => Some(value),
                    _ => None,
                }
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

    /// Gives the words without names, and what comes through a pipe, to the parameters that are left.
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

    /// A function or block of the program, with its parameters by their names.
    fn function_with(&mut self, node: &Node, id: usize, words: Vec<Word>, input: Option<Value>) -> Value {
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

    /// The values that go through a pipe one by one.
    pub(super) fn items(&self, node: &Node, value: &Value) -> (Vec<Value>, bool) {
        match value {
            Value::List(_) => self.elements(node, value),
            Value::Any(values) => {
                (values.iter().flat_map(|one| self.items(node, one).0).collect(), false)
            }
            Value::Constant => (Vec::new(), true),
            other => (vec![other.clone()], true),
        }
    }

    /// The variable of the environment that a name stands for.
    pub(super) fn shell_variable(&self, name: &str) -> Option<Value> {
        let name = match self.language {
            Language::PowerShell => name.strip_prefix("$env:"),
            Language::Batch => name.strip_prefix('%').and_then(|name| name.strip_suffix('%')),
            _ => None,
        };
        name.map(|name| Value::text(name.to_uppercase()))
    }

    /// What a name means that nothing gave a value.
    pub(super) fn shell_name(&mut self, node: &Node, name: &str) -> Option<Value> {
        if let Some(variable) = self.shell_variable(name) {
            return Some(match (variable.as_str(), &self.start.home) {
                (Some("USERPROFILE" | "HOMEPATH"), Some(home)) => Value::text(home.clone()),
                _ => self.environment(node, &variable),
            });
        }
        if name.starts_with('%') {
            return Some(Value::unknown(Why::Parameter, shortened(name)));
        }
        if name.starts_with('$') {
            return Some(Value::unknown(Why::Variable, shortened(name)));
        }
        let kind = name.strip_prefix('[')?.to_owned();
        Some(self.load(node, &Value::text(kind)))
    }
}

/// `/s/q` as two options.
fn slashed(words: Vec<Word>) -> Vec<Word> {
    let split = |word: Word| match word {
        Word::Flag(name) => name.split('/').map(|one| Word::Flag(one.into())).collect(),
        other => vec![other],
    };
    words.into_iter().flat_map(split).collect()
}

/// The names of a parameter: `<` says that it takes what comes through a pipe, `?` that it takes no value.
fn names(parameter: &Parameter) -> impl Iterator<Item = &'static str> {
    parameter.name.trim_start_matches('<').trim_end_matches('?').split('/')
}

fn is_switch(parameter: &Parameter) -> bool {
    parameter.name.ends_with('?')
}

/// The parameter that a beginning of its name means, the exact one first.
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

/// The parameters of a function that have names, and whether they take a value.
fn named_parameters(function: &Function) -> Vec<(Rc<str>, bool)> {
    let own = function.parameters.iter().filter(|parameter| parameter.rest == Rest::One);
    own.filter_map(|parameter| {
        let Kind::Name(name) = &parameter.target.kind else { return None };
        let is_switch =
            parameter.default.as_ref().is_some_and(|value| matches!(&value.kind, Kind::Inert(parts) if parts.is_empty()));
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

/// Whether a part of an argument is a path of a provider: a drive may stand before it, and patterns in it.
pub(super) fn is_provided(part: Part) -> bool {
    matches!(
        part,
        Part::Read | Part::Write | Part::Delete | Part::Permission | Part::Link | Part::Script | Part::Directory | Part::Execute
    )
}
