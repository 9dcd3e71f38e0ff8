//! Commands of a shell language: the meaning of names, and pipes. A name that is no function of the program and no
//! command of the tables is a program. Must not know what a command does.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};

use super::{Argument, Machine};
use crate::act::What;
use crate::language::Language;
use crate::limits::SPREAD_WORK;
use crate::tree::{Invoked, Kind, Node, Way};
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

/// PowerShell aliases whose names are programs on other systems than Windows.
const PROGRAMS: &[&str] = &[
    "rm", "cp", "mv", "ls", "cat", "rmdir", "mkdir", "kill", "tee", "sleep", "curl", "wget", "clear",
    "start", "find",
];

/// Windows programs whose names mean other programs elsewhere, with their files.
const FILES: &[(&str, &str)] = &[
    ("find", "find.exe"),
    ("sort", "sort.exe"),
    ("more", "more.com"),
    ("where", "where.exe"),
    ("timeout", "timeout.exe"),
    ("shutdown", "shutdown.exe"),
    ("tree", "tree.com"),
];

impl Machine<'_> {
    /// Evaluates a node that only shell languages have.
    pub(super) fn of_shell(&mut self, node: &Node) -> Value {
        match &node.kind {
            Kind::Command(command) => self.invoke(node, command, None),
            Kind::Pipe(parts) => self.pipe(parts),
            Kind::Flag(name) => Value::text(format!("-{name}")),
            _ => Value::Constant,
        }
    }

    /// Runs each part with the output of the part before.
    fn pipe(&mut self, parts: &[Node]) -> Value {
        let mut input = None;
        for part in parts {
            input = Some(self.piped(part, input.take()));
        }
        input.unwrap_or(Value::Constant)
    }

    fn piped(&mut self, node: &Node, input: Option<Value>) -> Value {
        match &node.kind {
            Kind::Command(command) => self.invoke(node, command, input),
            // A command with its redirections to files.
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
    fn invoke(&mut self, node: &Node, command: &Invoked, input: Option<Value>) -> Value {
        let name = self.eval(&command.name);
        let words = self.words_of(command);
        if self.language == Language::Batch
            && let Some(value) = self.pasted(node, command, &name, &words)
        {
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
                (other, arg) if starts_programs(other) => {
                    let arg = arg.map(|(arg, _)| arg.clone());
                    let arg = arg.unwrap_or_else(|| Arg::unknown(Why::Dynamic, &*self.written(node), false));
                    self.starts_program(node, &arg, command, &words, input.as_ref())
                }
                (other, _) => self.called_with(node, other, words.clone(), input.clone()),
            });
        }
        self.any(node, results)
    }

    /// Runs a line as code if a variable adds words or commands. Batch expands variables before it parses the line.
    fn pasted(&mut self, node: &Node, command: &Invoked, name: &Value, words: &[Word]) -> Option<Value> {
        let is_made = |node: &Node| matches!(node.kind, Kind::Join(_));
        let has = |value: &Value, letters: &[char]| {
            let args = value.choices().iter().filter_map(Value::to_arg);
            let holds = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(letters));
            args.into_iter().any(|arg| arg.pieces().iter().any(holds))
        };
        let operators = ['&', '|', '<', '>'];
        let adds = command.words.iter().zip(words).any(
            |(node, word)| matches!(word, Word::Plain(value) if is_made(node) && has(value, &operators)),
        );
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

    /// Runs a command by its name.
    fn named(
        &mut self,
        node: &Node,
        (arg, name): (&Arg, &str),
        command: &Invoked,
        words: Vec<Word>,
        input: Option<Value>,
    ) -> Value {
        let lower = name.to_lowercase();
        if is_drive(&lower) {
            // `D:` changes to that drive.
            self.act(node.at, What::Directory(arg.clone()));
            return Value::Constant;
        }
        let is_file = self.table.files.iter().any(|ending| lower.ends_with(ending));
        let is_source =
            command.way == Way::Source && (name.contains(['/', '\\']) || self.meant_by(&lower).is_none());
        if is_file || is_source {
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
                self.called_with(node, &Value::Library(space, entry), words, input)
            }
            Some(Value::Package(_)) => {
                self.handed(node, &words);
                self.unknown(node, Why::Dynamic)
            }
            Some(other) => self.called_with(node, &other, words, input),
            None => {
                // Windows ignores the case of program names.
                let is_plain = self.language == Language::Batch && !lower.contains(['/', '\\']);
                let file = FILES.iter().find(|(name, _)| *name == lower).map(|(_, file)| *file);
                let own = is_plain.then(|| Arg::known(file.unwrap_or(&lower)));
                self.starts_program(node, own.as_ref().unwrap_or(arg), command, &words, input.as_ref())
            }
        }
    }

    /// Returns the meaning of a command's name; `None` for a program.
    pub(super) fn meant_by(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.state.name(self.scope, name) {
            return Some(value);
        }
        let global = self.table.module(self.table.global)?;
        // `module\name`
        let is_path =
            name.starts_with(['.', '/', '\\', '~']) || name.contains(':') || self.language == Language::Batch;
        let bare = name.rsplit('\\').next().filter(|_| !is_path).unwrap_or(name);
        match global.entry(bare) {
            Some(entry) if entry.parameters.is_some() => Some(Value::Library(Ref(global), Ref(entry))),
            _ => global.has_inert(bare).then(|| Value::Package(bare.into())),
        }
    }

    /// Calls a known block, function or command.
    pub(super) fn called_with(
        &mut self,
        node: &Node,
        callee: &Value,
        words: Vec<Word>,
        input: Option<Value>,
    ) -> Value {
        match callee {
            Value::Library(_, entry) => self.cmdlet(node, entry.0, words, input),
            Value::Function(id) => self.function_with(node, *id, words, input),
            _ => {
                let value = |word: Word| match word {
                    Word::Plain(value) | Word::Named(_, value) => Some(Argument::plain(value)),
                    Word::Flag(_) => None,
                };
                self.call(node, callee, words.into_iter().filter_map(value).collect())
            }
        }
    }

    /// Evaluates the words of a command; a splatted map becomes its entries.
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
                    // Pays for the second pass over spread values.
                    if !self.step(SPREAD_WORK) {
                        break;
                    }
                    let value = self.eval(value);
                    match &value {
                        Value::Map(cell) => {
                            let cell = self.state.cell(*cell);
                            if cell.is_open {
                                self.hole(node.at, Role::Operand, Why::Dynamic, "");
                            }
                            words.extend(cell.entries.into_iter().map(|(name, value)| match name {
                                Some(name) => Word::Named(name, value),
                                None => Word::Plain(value),
                            }));
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

    /// Starts a program with the arguments as written.
    fn starts_program(
        &mut self,
        node: &Node,
        name: &Arg,
        command: &Invoked,
        words: &[Word],
        input: Option<&Value>,
    ) -> Value {
        let mut choices = vec![vec![name.clone()]];
        let dash = if self.language == Language::Batch { '/' } else { '-' };
        let is_bare =
            |at: usize| command.words.get(at).is_some_and(|node| matches!(node.kind, Kind::Text(_)));
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
                Word::Plain(function @ Value::Function(_)) => {
                    self.hand(node, function);
                    let written = command.words.get(at).map(|node| self.written(node)).unwrap_or_default();
                    vec![Arg::known(written.trim_matches(['{', '}']))]
                }
                Word::Plain(Value::Any(values)) => {
                    let all = values.iter().flat_map(|one| self.words_of_args(node, one)).collect();
                    choices = super::command::product(choices, all);
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

    /// Returns the values that go through a pipe one by one.
    pub(super) fn items(&self, node: &Node, value: &Value) -> (Vec<Value>, bool) {
        match value {
            Value::List(_) => self.elements(node, value),
            Value::Any(values) => (values.iter().flat_map(|one| self.items(node, one).0).collect(), false),
            Value::Constant => (Vec::new(), true),
            other => (vec![other.clone()], true),
        }
    }

    /// Returns the items of several values.
    pub(super) fn all_items(&self, node: &Node, values: &[Value]) -> Vec<Value> {
        values.iter().flat_map(|value| self.items(node, value).0).collect()
    }

    /// Returns the environment variable of a name.
    pub(super) fn shell_variable(&self, name: &str) -> Option<Value> {
        let name = match self.language {
            Language::PowerShell => name.strip_prefix("$env:"),
            Language::Batch => name.strip_prefix('%').and_then(|name| name.strip_suffix('%')),
            _ => None,
        };
        name.map(|name| Value::text(name.to_uppercase()))
    }

    /// Returns the value of an unset name.
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

/// Reports whether a value in the place of a command's name is the name of a program.
fn starts_programs(name: &Value) -> bool {
    matches!(
        name,
        Value::Text(_) | Value::Unknown(..) | Value::Constant | Value::Method(..) | Value::Object(..)
    )
}

/// `D:`
fn is_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}
