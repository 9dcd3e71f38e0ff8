//! The walk follows a text as a shell would run it, with values instead of processes. The walk takes every branch and
//! joins the resulting states. This module must not know what a program does.
//!
//! Two deliberate simplifications:
//! - A plain `cd x` is assumed to succeed. Only the code after its `||` runs in the previous directory.
//! - Code after `exit` or `return` is still walked, in case the walk was wrong about the end of the shell. Such code
//!   does not change the state elsewhere.

mod aliases;
mod assigning;
mod compound;
mod emit;
mod exits;
mod flow;
mod jobs;
mod loops;
pub(crate) mod past;
mod pipes;
mod processes;
mod prompts;
mod readings;
mod redirects;
mod simple;
mod zsh;

use std::collections::BTreeMap;
use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;
use emit::Items;
use exits::Frame;
pub(crate) use exits::Leave;
use processes::FIRST_DESCRIPTOR;
pub(crate) use processes::Reading;

use crate::choices::Choices;
use crate::files::Files;
use crate::found::{Found, Gap, Item, Origin};
use crate::limits::{DEPTH_MAX, TEXT_BYTES_MAX};
use crate::run::Call;
use crate::scope::{Scope, Source};
use crate::start::Start;
use crate::state::{Body, Descriptor, Function, Process, State, join};
use crate::syntax::Shell;
use crate::text::{Text, cut};
use crate::tree::{Script, Span};
use crate::work::Work;

/// Returns every command that a text would run. File contents are unknown.
pub fn commands(text: &str, start: &Start) -> Found {
    let mut work = Work::of_text(text.len().min(TEXT_BYTES_MAX));
    commands_within(text, start, &mut work, Files::new(&mut |_| Err(Why::File)))
}

/// Like [`commands`], but reads code files and shares a budget between texts. A part over it becomes a [`Gap`].
pub fn commands_within(text: &str, start: &Start, work: &mut Work, files: Files<'_>) -> Found {
    let mut walker = Walker::new(std::mem::take(work), files, start);
    let state = walker.all(text, start);
    *work = walker.work;
    walker.items.found(state.written())
}

/// Returns the commands of a program that another program starts without a shell: the program itself, and the commands
/// in its wrappers and arguments. `input`: its standard input, if known.
pub fn program_within(
    argv: Vec<Arg>,
    input: Option<&Arg>,
    start: &Start,
    work: &mut Work,
    files: Files<'_>,
) -> Found {
    let mut walker = Walker::new(std::mem::take(work), files, start);
    let scope = Scope::of("");
    let mut state = State::new(start);
    if let Some(input) = input {
        state.set_descriptor(0, Descriptor::Input(Rc::new(Text::from(input))));
    }
    walker.started(&mut state, &scope, Call::new(argv, Span::default()));
    walker.tell_over(Span::default());
    *work = walker.work;
    walker.items.found(state.written())
}

/// The walk of one text.
#[derive(Debug)]
pub(crate) struct Walker<'f> {
    pub(crate) files: Files<'f>,
    pub(crate) work: Work,
    pub(crate) choices: Choices,
    /// Startup files named by the initial environment, which the text did not set.
    pub(crate) startup_files: Vec<String>,
    /// Virtual environments created by the text, by the path of their activation file.
    pub(crate) environments: BTreeMap<String, Rc<str>>,
    items: Items,
    depth: usize,
    descriptor: u32,
    pub(crate) processes: Vec<(Rc<Process>, Reading)>,
    functions: Vec<Definition>,
    /// Functions with an active call.
    active: Vec<usize>,
    frames: Vec<Frame>,
    /// The span at which the budget ran out.
    over: Option<Span>,
    /// True if an expansion of the current command may fail (`${!x}`, `${x?}`): then the command does not run.
    pub(crate) may_fail: bool,
    /// A variable whose value is assumed while a word is expanded again.
    pub(crate) assumed: Option<(Rc<str>, Text)>,
    /// The number of the complete line that is being walked. The shell expands the aliases of a line when it reads it.
    pub(crate) line: u64,
    /// Complete lines so far, of all texts.
    lines: u64,
    /// The lines in which aliases were defined last, by name.
    pub(crate) alias_lines: BTreeMap<String, u64>,
    /// Count of walked substitutions: an assignment takes its status from the last substitution in it.
    pub(crate) substituted: usize,
}

/// The definition of a function.
#[derive(Debug)]
struct Definition {
    function: Rc<Function>,
    /// The shell state at the definition.
    state: State,
    scope: Scope,
    span: Span,
    /// The line of the definition: the shell expands the aliases of the body when it reads the line.
    line: u64,
    called: bool,
}

impl<'f> Walker<'f> {
    fn new(work: Work, files: Files<'f>, start: &Start) -> Walker<'f> {
        let startup = start.env.iter().filter(|(name, _)| matches!(name.as_str(), "BASH_ENV" | "ENV"));
        Walker {
            files,
            work,
            choices: Choices::default(),
            startup_files: startup.map(|(_, path)| path.clone()).collect(),
            environments: BTreeMap::new(),
            items: Items::default(),
            depth: 0,
            descriptor: FIRST_DESCRIPTOR,
            processes: Vec::new(),
            functions: Vec::new(),
            active: Vec::new(),
            frames: Vec::new(),
            over: None,
            may_fail: false,
            assumed: None,
            line: 0,
            lines: 0,
            alias_lines: BTreeMap::new(),
            substituted: 0,
        }
    }

    /// Walks a whole text; returns the final state of the shell.
    fn all(&mut self, text: &str, start: &Start) -> State {
        let scope = Scope::of(text);
        let mut state = State::new(start);
        if let Some(input) = &start.input {
            state.set_descriptor(0, Descriptor::Input(Rc::new(Text::from(input))));
        }
        self.known_functions(&mut state, &scope, start);
        let bash = [Shell::Bash];
        let shells = if start.shells.is_empty() { &bash[..] } else { &start.shells };
        self.each_shell(&mut state, &scope, shells, |walker, state, script| {
            walker.shell(state, &scope, script)
        });
        self.open_processes(&state, &scope);
        self.uncalled();
        self.tell_over(Span { start: 0, end: text.len().try_into().unwrap_or(u32::MAX) });
        state
    }

    /// Reports that the budget or the list of items was exhausted.
    fn tell_over(&mut self, whole: Span) {
        let is_over = self.work.is_over() || self.items.is_full();
        if let Some(span) = self.over.or(is_over.then_some(whole)) {
            let (why, written) = (Why::Budget, String::new());
            self.items.gap(Gap { role: Role::Code, why, written, script: None, span });
        }
    }

    /// Walks commands as a separate shell and runs its traps at the end.
    pub(crate) fn shell(&mut self, state: &mut State, scope: &Scope, script: &Script) {
        self.leaving(Leave::Shell, state, |walker, state| {
            walker.text_script(state, scope, script);
        });
        self.run_traps(state, scope);
    }

    /// Runs the traps of a shell at its end.
    pub(crate) fn run_traps(&mut self, state: &mut State, scope: &Scope) {
        let mut done = 0;
        // A trap may set others.
        while let Some(trap) = state.traps.get(done).cloned() {
            done += 1;
            let mut inner = scope.clone();
            inner.source = Rc::clone(&trap.source);
            if trap.is_between {
                let mut between = self.fork(state);
                between.set_passing();
                self.run_text(&mut between, &inner, &trap.code, Origin::Trap, trap.span);
                self.take_traps(state, &between);
            } else {
                self.run_text(state, &inner, &trap.code, Origin::Trap, trap.span);
            }
        }
        state.traps = Rc::default();
    }

    /// Walks the tree of a whole text, line by line.
    pub(crate) fn text_script(&mut self, state: &mut State, scope: &Scope, script: &Script) {
        let outer = self.line;
        let mut before = None;
        for statement in &script.statements {
            let between = Span { start: before.unwrap_or_default(), end: statement.span.start };
            // An escaped newline ends no line.
            if before.is_none() || scope.source.written(between).replace("\\\n", "").contains('\n') {
                self.lines += 1;
                self.line = self.lines;
            }
            before = Some(statement.span.end);
            self.statement(state, scope, statement);
        }
        self.line = outer;
    }

    /// Adds the functions that existed before the text.
    fn known_functions(&mut self, state: &mut State, scope: &Scope, start: &Start) {
        for (name, body) in &start.functions {
            let source =
                Rc::new(Source { text: body.as_str().into(), place: Some(Span::default()), file: None });
            let number = self.functions.len();
            let function = Rc::new(Function { body: Body::Text(body.as_str().into()), source, number });
            let scope = scope.clone();
            let span = Span::default();
            // These functions are walked only when called.
            let definition = Definition {
                function: Rc::clone(&function),
                state: state.clone(),
                scope,
                span,
                line: 0,
                called: true,
            };
            self.functions.push(definition);
            state.functions.insert(name.as_str().into(), vec![Some(function)]);
        }
    }

    /// Adds a `Gap` at a span of the scope's text.
    pub(crate) fn gap(&mut self, scope: &Scope, role: Role, why: Why, written: &str, span: Span) {
        let script = scope.source.file.clone();
        self.items.gap(Gap { role, why, written: cut(written), script, span: scope.span(span) });
    }

    /// Enters a nesting level. Returns false at the limit; the caller must not call `leave` then.
    pub(crate) fn enter(&mut self) -> bool {
        if self.depth >= DEPTH_MAX {
            return false;
        }
        self.depth += 1;
        true
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns true if the budget is not exhausted. Records the span at which it runs out.
    pub(crate) fn goes_on(&mut self, scope: &Scope, span: Span) -> bool {
        if !self.work.is_over() && !self.items.is_full() {
            return true;
        }
        self.over.get_or_insert(scope.span(span));
        false
    }

    /// Copies the shell state for a branch or a subshell.
    pub(crate) fn fork(&mut self, state: &State) -> State {
        self.work.spend(2);
        state.clone()
    }

    /// Walks a command once for each combination of its variables' values.
    pub(crate) fn readings(&mut self, state: &mut State, mut read: impl FnMut(&mut Self, &mut State)) {
        let outer = std::mem::take(&mut self.choices);
        let before = self.fork(state);
        read(self, state);
        while !self.work.is_over() && self.choices.next() {
            let mut again = self.fork(&before);
            read(self, &mut again);
            self.joins(state, again);
        }
        self.choices = outer;
    }

    /// Joins an alternative state into the state.
    pub(crate) fn joins(&mut self, state: &mut State, other: State) {
        let one = std::mem::replace(state, other.clone());
        *state = join(one, other, &mut self.work);
    }

    /// Returns the position of the last command found.
    pub(crate) fn last_command(&self) -> Option<usize> {
        self.items.last_command()
    }

    /// Returns the number of items found so far.
    pub(crate) fn item_count(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn item(&mut self, item: Item) {
        self.items.push(item);
    }
}
