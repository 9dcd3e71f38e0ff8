//! Runs a program with values that may be unknown: every branch, body and call that the text shows. Must not know
//! grammars, nor the functions of single libraries.

use std::collections::HashSet;
use std::rc::Rc;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::Arg;

use crate::act::{Act, Operand, Reading, Start, What};
use crate::language::Language;
use crate::limits::{
    ACTS_MAX, BYTES_PER_WORK, CHOICES_MAX, NESTED_VALUES_MAX, PARSER_CALLS_MIN, PARSER_CALLS_PER_KIB,
    RUN_DEPTH_MAX, WORK_MIN, WORK_PER_BYTE,
};
use crate::parse::guard::Process;
use crate::state::{Cell, State};
use crate::table::Table;
use crate::tree::{Function, Kind, Node, Span};
use crate::value::{Given, Ref, ScopeId, TooMany, Value, concat, shortened, written_bytes};
use crate::work::Work;

mod access;
mod arrays;
mod assign;
mod bound;
mod call;
mod changed;
mod classes;
mod cmdlets;
mod code;
mod command;
mod compute;
mod computed;
mod entries;
mod flow;
mod formats;
mod functions;
mod harness;
mod lists;
mod many;
mod named;
mod opens;
mod pack;
mod parameters;
mod paths;
mod perform;
mod perl;
mod php;
mod pipes;
mod providers;
mod requests;
mod ruby;
mod settings;
mod shells;
mod sources;
mod texts;
mod vim;

pub(crate) use texts::{base64, utf16};

/// Runs a program text within the work that is left. The run ends at a text that this process does not read, and its work
/// is not spent.
pub(crate) fn run(
    language: Language,
    text: &str,
    start: &Start,
    work: &mut Work,
    process: Process,
) -> (Reading, End) {
    let mut machine = Machine::new(language, text, start, work.left());
    machine.process = process;
    machine.program(text);
    machine.rest();
    machine.end();
    let end = match (machine.is_apart, machine.state.purse.is_over()) {
        (true, _) => End::Apart,
        (false, true) => End::OutOfWork,
        (false, false) => End::Whole,
    };
    if end != End::Apart {
        work.spend(machine.state.purse.spent());
    }
    (Reading { acts: machine.acts, modules: machine.modules }, end)
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    /// The work was used up.
    OutOfWork,
    /// Another process has to read a text.
    Apart,
    /// The helper process did not answer.
    GivenUp,
}

/// A text that is run. `at` is the place to report for its acts; `None`: their places in the text itself.
#[derive(Debug)]
struct Source {
    text: Rc<str>,
    at: Option<Span>,
    /// Bytes before the program itself.
    opening: u32,
}

/// A function of the program, with the scope that it sees.
#[derive(Debug, Clone)]
struct Closure {
    function: Rc<Function>,
    scope: ScopeId,
    source: usize,
    defaults: Rc<[Option<Value>]>,
    /// The class of which it is a member.
    class: Option<usize>,
    /// Reason for unknown arguments if the program never calls it by name.
    why: Why,
    /// The language itself calls the function: operators, conversions, accessors.
    is_implicit: bool,
    /// The function was run.
    is_called: bool,
    /// The function was run with unknown arguments.
    is_covered: bool,
}

/// A class of the program.
#[derive(Debug, Clone)]
struct ClassOf {
    members: ScopeId,
    bases: Rc<[Value]>,
    /// The objects that were made of it.
    instances: Vec<usize>,
}

/// A call that is being run.
#[derive(Debug, Default)]
struct Frame {
    returns: Vec<Value>,
    yields: Option<Vec<Value>>,
}

#[derive(Debug, Clone)]
struct Argument {
    name: Option<Rc<str>>,
    value: Value,
    /// It may be any number of arguments.
    is_spread: bool,
}

impl Argument {
    fn plain(value: Value) -> Argument {
        Argument { name: None, value, is_spread: false }
    }

    fn given_by_name(&self) -> Option<Given> {
        self.name.clone().map(|name| (Some(name), self.value.clone()))
    }

    /// Any number of unknown arguments.
    fn unknown(why: Why) -> Argument {
        let value = Value::unknown(why, "an argument");
        Argument { name: None, value, is_spread: true }
    }
}

struct Machine<'s> {
    language: Language,
    table: &'static Table,
    start: &'s Start,
    state: State,
    sources: Vec<Source>,
    /// The position of the text that is being run.
    source: usize,
    scope: ScopeId,
    functions: Vec<Closure>,
    classes: Vec<ClassOf>,
    frames: Vec<Frame>,
    /// The functions that are being run, each with the log position of the state at its entry.
    active: Vec<(usize, usize)>,
    acts: Vec<Act>,
    seen: HashSet<Act>,
    modules: Vec<String>,
    /// Directories that are searched first for modules, absolute if possible.
    libraries: Vec<String>,
    /// Names may come from a module or file that is not known.
    stars: bool,
    /// The list of the program's arguments, once the program has used it.
    argv: Option<Value>,
    depth: usize,
    text_depth: usize,
    process: Process,
    /// There was a text that this process does not read.
    is_apart: bool,
}

impl<'s> Machine<'s> {
    fn new(language: Language, text: &str, start: &'s Start, left: u64) -> Machine<'s> {
        let bytes = text.len() as u64;
        let parsing =
            language.work_per_parser_call() * (PARSER_CALLS_MIN + PARSER_CALLS_PER_KIB * (bytes / 1024));
        let mut state = State::within((parsing + WORK_MIN + WORK_PER_BYTE * bytes).min(left));
        let scope = state.scope(None, &[], false);
        Machine {
            language,
            table: Table::of(language),
            start,
            state,
            sources: Vec::new(),
            source: 0,
            scope,
            functions: Vec::new(),
            classes: Vec::new(),
            frames: vec![Frame::default()],
            active: Vec::new(),
            acts: Vec::new(),
            seen: HashSet::new(),
            modules: Vec::new(),
            libraries: Vec::new(),
            stars: false,
            argv: None,
            depth: 0,
            text_depth: 0,
            process: Process::Helper,
            is_apart: false,
        }
    }

    /// Pays for work; returns whether the work may be done.
    fn step(&self, work: u64) -> bool {
        self.state.purse.pays(work)
    }

    /// Reports a run that did not reach its end.
    fn end(&mut self) {
        let what = What::Hole { role: Role::Code, why: Why::Budget, written: String::new() };
        let hole = Act { span: 0..0, what };
        if self.state.purse.is_over() && !self.seen.contains(&hole) {
            self.acts.push(hole);
        }
    }

    /// Returns the place in the program to report for an act at this place of the current text.
    fn place(&self, at: Span) -> Span {
        let source = self.sources.get(self.source);
        let opening = source.map_or(0, |source| source.opening);
        let own = (at.0.saturating_sub(opening), at.1.saturating_sub(opening));
        source.and_then(|source| source.at).unwrap_or(own)
    }

    fn act(&mut self, at: Span, what: What) {
        if self.state.purse.is_over() {
            return;
        }
        let (start, end) = self.place(at);
        let most = self.sources.first().map_or(0, |source| source.text.len());
        let act = Act { span: (start as usize).min(most)..(end as usize).min(most), what };
        if !self.seen.contains(&act) {
            self.seen.insert(act.clone());
            self.acts.push(act);
        }
        if self.acts.len() + 1 >= ACTS_MAX {
            self.state.purse.end();
        }
    }

    fn effect(&mut self, node: &Node, kind: EffectKind, on: Operand) {
        self.act(node.at, What::Effect { kind, on, recursive: false });
    }

    fn hole(&mut self, at: Span, role: Role, why: Why, written: &str) {
        self.act(at, What::Hole { role, why, written: shortened(written).to_owned() });
    }

    /// Reports a `Hole` for unknown code, and returns its value.
    fn lost(&mut self, node: &Node, why: Why) -> Value {
        let written = self.written(node);
        self.hole(node.at, Role::Code, why, &written);
        Value::unknown(why, &written)
    }

    /// Returns the node's source text, shortened.
    fn written(&self, node: &Node) -> Rc<str> {
        let range = node.at.0 as usize..node.at.1 as usize;
        let text = self.sources.get(self.source).and_then(|source| source.text.get(range));
        shortened(text.unwrap_or_default()).into()
    }

    fn unknown(&self, node: &Node, why: Why) -> Value {
        Value::Unknown(why, self.written(node))
    }

    fn any(&mut self, node: &Node, values: impl IntoIterator<Item = Value>) -> Value {
        Value::any(values).unwrap_or_else(|TooMany| self.lost(node, Why::Budget))
    }

    /// Returns any of the results for each choice of a value.
    fn over(&mut self, node: &Node, of: &Value, mut result: impl FnMut(&mut Self, &Value) -> Value) -> Value {
        let results: Vec<Value> = of.choices().iter().map(|one| result(self, one)).collect();
        self.any(node, results)
    }

    /// Like [`Machine::over`], where exactly one of the results happens: each begins in the same state.
    fn either<T>(&mut self, node: &Node, all: &[T], mut result: impl FnMut(&mut Self, &T) -> Value) -> Value {
        let mut outcomes = Vec::new();
        let mut results = Vec::new();
        for one in all {
            let mark = self.state.mark();
            results.push(result(self, one));
            outcomes.push(self.state.leave(mark));
        }
        let joined = self.state.join(outcomes);
        self.settled(node, joined);
        self.any(node, results)
    }

    /// Joins the states since a mark.
    fn rejoin(&mut self, node: &Node, mark: usize, widens: bool) {
        let joined = self.state.join_history(mark, widens);
        self.settled(node, joined);
    }

    fn settled(&mut self, node: &Node, joined: Result<(), TooMany>) {
        if joined.is_err() {
            self.lost(node, Why::Budget);
        }
    }

    fn list(&mut self, values: impl IntoIterator<Item = Value>) -> Value {
        self.listed(values, false)
    }

    /// Returns a list that may have further elements.
    fn listed(&mut self, values: impl IntoIterator<Item = Value>, is_open: bool) -> Value {
        let entries = values.into_iter().map(|value| (None, value)).collect();
        Value::List(self.state.new_cell(Cell { entries, is_open, class: None }))
    }

    fn eval(&mut self, node: &Node) -> Value {
        if !self.step(1) {
            return Value::Constant;
        }
        if self.depth >= RUN_DEPTH_MAX {
            return self.lost(node, Why::Nesting);
        }
        self.depth += 1;
        let value = self.kind(node);
        self.depth -= 1;
        if value.depth() > NESTED_VALUES_MAX {
            return self.lost(node, Why::Nesting);
        }
        value
    }

    fn kind(&mut self, node: &Node) -> Value {
        match &node.kind {
            Kind::Text(text) => Value::text(&**text),
            Kind::Number(number) => Value::Number(*number),
            Kind::Constant => Value::Constant,
            Kind::Name(name) => self.name(node, name),
            Kind::Member(of, name) => {
                let of = self.eval(of);
                self.member(node, &of, name)
            }
            Kind::Index(of, index) => {
                let (of, index) = (self.eval(of), self.eval(index));
                self.index(node, &of, &index)
            }
            Kind::Slice(of, bounds) => self.slice(node, of, bounds),
            Kind::Call(callee, arguments) => self.single_call(node, callee, arguments),
            Kind::New(callee, arguments) => self.calls(node, callee, arguments, true),
            Kind::Spread(value) if self.language == Language::Lua => self.many(value),
            Kind::Keyword(_, value) | Kind::Spread(value) => self.eval(value),
            Kind::List(values) => self.list_of(values),
            Kind::Map(entries) => self.map_of(entries),
            Kind::Join(_)
            | Kind::Add(_)
            | Kind::Divide(..)
            | Kind::Modulo(..)
            | Kind::Multiply(..)
            | Kind::Inert(_) => self.operation(node),
            Kind::Sequence(parts) => {
                let mut last = Value::Constant;
                for part in parts {
                    last = self.eval(part);
                }
                last
            }
            Kind::Or(parts) => self.or(node, parts),
            Kind::Either(parts) => self.either(node, parts, Self::eval),
            Kind::Function(function) => self.function(function),
            Kind::Class(class) => self.class(node, class),
            Kind::Assign(target, value) => {
                let value = self.eval(value);
                self.assign(target, value.clone());
                value
            }
            Kind::Augment(target, value) => self.augment(node, target, value),
            Kind::Loop(one) => self.repeat(node, one),
            Kind::Try(parts) => self.attempt(node, parts),
            Kind::Return(value) => self.returns(value.as_deref()),
            Kind::Yield(value) => self.yielded(node, value.as_deref()),
            Kind::Scope(locals, body) => {
                let scope = self.state.scope(Some(self.scope), locals, false);
                self.eval_in(scope, body)
            }
            Kind::Load(name) => {
                let name = self.eval(name);
                self.load(node, &name)
            }
            Kind::LoadAll(module) => {
                let module = self.eval(module);
                self.load_all(node, &module);
                Value::Constant
            }
            Kind::Command(_) | Kind::Pipe(_) | Kind::Flag(_) => self.of_shell(node),
            Kind::Hole(why) => self.lost(node, *why),
        }
    }

    fn eval_in(&mut self, scope: ScopeId, body: &Node) -> Value {
        let before = std::mem::replace(&mut self.scope, scope);
        let value = self.eval(body);
        self.scope = before;
        value
    }

    fn operation(&mut self, node: &Node) -> Value {
        match &node.kind {
            Kind::Join(parts) => self.joined(node, parts),
            Kind::Add(parts) => self.added(node, parts),
            Kind::Divide(left, right) => {
                let (left, right) = (self.eval(left), self.eval(right));
                self.divided(node, &left, &right)
            }
            Kind::Modulo(left, right) => {
                let (left, right) = (self.eval(left), self.eval(right));
                self.formatted(node, &left, &right)
            }
            Kind::Multiply(left, right) => {
                let (left, right) = (self.eval(left), self.eval(right));
                self.repeated(node, &left, &right)
            }
            Kind::Inert(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.eval(part)).collect();
                match parts.as_slice() {
                    [] => Value::Constant,
                    _ => self.unknown(node, Why::Dynamic),
                }
            }
            _ => Value::Constant,
        }
    }

    fn name(&mut self, node: &Node, name: &Rc<str>) -> Value {
        if let Some(value) = self.state.name(self.scope, name) {
            return value;
        }
        let table = self.table;
        let Some(global) = table.module(table.global) else { return Value::Constant };
        if global.names.contains(&&**name) {
            return Value::Module(Ref(global));
        }
        if let Some(value) = self.member_of_module(node, global, name) {
            // Later uses get the same list.
            if name.starts_with('@') || &**name == "ARGV" {
                self.state.set_own(0, name, value.clone());
            }
            return value;
        }
        if self.language.is_quiet(name) {
            return self.unknown(node, Why::Variable);
        }
        // Code without a file, such as `node -e`, sees Node's own modules by name.
        if self.language == Language::JavaScript
            && self.start.file.is_none()
            && let Some(module) = table.module(name)
        {
            return Value::Module(Ref(module));
        }
        if let Some(value) = self.unset(node, name).or_else(|| self.starred(node)) {
            return value;
        }
        if matches!(self.language, Language::Php | Language::Lua) {
            // The value is stored so that the name is reported once.
            let unknown = self.unknown(node, Why::Variable);
            self.state.set_own(0, name, unknown);
        }
        // Nothing in the program gave it a value.
        self.lost(node, Why::Variable)
    }

    /// Evaluates text with values in it.
    fn joined(&mut self, node: &Node, parts: &[Node]) -> Value {
        let parts: Vec<Value> = parts.iter().map(|part| self.eval(part)).collect();
        let parts: Vec<Value> = parts.iter().map(|part| self.as_text(node, part)).collect();
        self.concatenated(node, &parts)
    }

    fn added(&mut self, node: &Node, parts: &[Node]) -> Value {
        let values: Vec<Value> = parts.iter().map(|part| self.eval(part)).collect();
        self.sum(node, values)
    }

    fn sum(&mut self, node: &Node, values: Vec<Value>) -> Value {
        let mut values = values;
        if self.language == Language::JavaScript && values.iter().any(|value| matches!(value, Value::List(_)))
        {
            values = values.iter().map(|value| self.as_text(node, value)).collect();
        }
        let is = |test: fn(&Value) -> bool| values.iter().any(|value| value.choices().iter().any(test));
        if is(|value| matches!(value, Value::List(_))) {
            let mut cell = Cell::default();
            for value in &values {
                let (elements, known) = self.elements(node, value);
                cell.extend(elements, known);
            }
            return Value::List(self.state.new_cell(cell));
        }
        let numbers: Option<Vec<i64>> = values.iter().map(Value::number).collect();
        if let Some(numbers) = numbers {
            let sum = numbers.iter().try_fold(0_i64, |sum, number| sum.checked_add(*number));
            return sum.map_or_else(|| self.unknown(node, Why::Arithmetic), Value::Number);
        }
        if values.iter().any(|value| matches!(value, Value::Instance(_))) {
            return self.unknown(node, Why::Dynamic);
        }
        // These languages add texts as numbers.
        if matches!(self.language, Language::Perl | Language::Php | Language::Lua)
            || !is(|value| matches!(value, Value::Text(_)))
        {
            return self.unknown(node, Why::Dynamic);
        }
        self.concatenated(node, &values)
    }

    /// Concatenates texts; each may be one of several.
    fn concatenated(&mut self, node: &Node, values: &[Value]) -> Value {
        let mut made: Vec<Vec<Rc<Arg>>> = vec![Vec::with_capacity(values.len())];
        for value in values {
            let args = self.args(node, value);
            if !self.step(args.len() as u64) || made.len() * args.len() > CHOICES_MAX {
                return self.unknown(node, Why::Dynamic);
            }
            if let [only] = args.as_slice() {
                made.iter_mut().for_each(|parts| parts.push(Rc::clone(only)));
                continue;
            }
            let with_each = |parts: &Vec<Rc<Arg>>| -> Vec<Vec<Rc<Arg>>> {
                args.iter().map(|arg| parts.iter().chain([arg]).cloned().collect()).collect()
            };
            made = made.iter().flat_map(with_each).collect();
        }
        let mut texts = Vec::with_capacity(made.len());
        for parts in &made {
            let bytes: usize = parts.iter().map(|arg| written_bytes(arg)).sum();
            if !self.step((parts.len() / 4 + bytes / BYTES_PER_WORK) as u64) {
                return self.unknown(node, Why::Dynamic);
            }
            texts.push(Value::arg(concat(parts.iter().map(|arg| &**arg))));
        }
        self.any(node, texts)
    }

    /// Returns a value's choices as arguments. A choice that is no text is unknown.
    fn args(&self, node: &Node, value: &Value) -> Vec<Rc<Arg>> {
        let unknown = || Rc::new(Arg::unknown(Why::Dynamic, &*self.written(node), false));
        let mut args: Vec<Rc<Arg>> = Vec::new();
        for one in value.choices() {
            let arg = one.to_arg().unwrap_or_else(unknown);
            if !args.contains(&arg) {
                args.push(arg);
            }
        }
        args
    }
}
