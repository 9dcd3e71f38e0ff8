//! The walk follows a text as a shell would run it, with values instead of processes. The walk takes every branch and
//! joins the resulting states. This module must not know what a program does.
//!
//! Two deliberate simplifications:
//! - A plain `cd x` is assumed to succeed. Only the code after its `||` runs in the previous directory.
//! - Code after `exit` or `return` is still walked, in case the walk was wrong about the end of the shell. Such code
//!   does not change the state elsewhere.

mod assigning;
mod compound;
mod emit;
mod flow;
mod prompts;
mod redirects;
mod simple;
mod zsh;

use std::collections::BTreeMap;
use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::choices::Choices;
use crate::files::Files;
use crate::found::{Found, Gap, Item, Origin};
use crate::limits::{DEPTH_MAX, PARSED_PER_WORK, TEXT_BYTES_MAX, WORK_OF_PARSING};
use crate::run::Call;
use crate::scope::{Scope, Source};
use crate::start::Start;
use crate::state::{Body, Descriptor, Function, Process, State, join};
use crate::syntax::{Shell, parse};
use crate::text::{Text, cut};
use crate::tree::{Node, Parsed, Script, Span};
use crate::work::Work;

use emit::Items;

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

/// First descriptor for `<( )`. The numbers count down, as in bash.
const FIRST_DESCRIPTOR: u32 = 63;
/// Last descriptor in that range: `exec {name}<` also uses descriptors from 10 on.
const LAST_DESCRIPTOR: u32 = 32;
/// Further descriptors count up from here, so that no open descriptor is reused. No real text names such numbers.
const FURTHER_DESCRIPTORS: u32 = 1 << 20;

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
    /// The number of the complete line that is being walked. The shell expands the aliases of a line when it reads it.
    pub(crate) line: u64,
    /// Complete lines so far, of all texts.
    lines: u64,
    /// The lines in which aliases were defined last, by name.
    pub(crate) alias_lines: BTreeMap<String, u64>,
    /// Count of walked substitutions: an assignment takes its status from the last substitution in it.
    pub(crate) substituted: usize,
}

/// The progress of the commands of a `>( )`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Not walked until the command that writes to it ends.
    Waiting,
    /// Kept open by `exec`: walked at each write.
    Open,
    /// Already walked.
    Done,
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

/// A construct that can be left early, with the states at those exits.
#[derive(Debug)]
struct Frame {
    kind: Leave,
    left: Vec<State>,
}

/// The kind of construct that is left early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// A loop: `break`, `continue`.
    Loop,
    /// A function or a sourced text: `return`.
    Function,
    /// A shell: `exit`.
    Shell,
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

    /// Parses text as the current shell; adds a `Gap` for each part that the parser did not understand.
    pub(crate) fn parsed(&mut self, scope: &Scope, shell: Shell, text: &str) -> Script {
        let parsed = self.tree(shell, text);
        self.holes(scope, &parsed, |_| true);
        parsed.script
    }

    /// Walks the text of a scope once for each shell that reads it differently, and joins the states.
    pub(crate) fn each_shell(
        &mut self,
        state: &mut State,
        scope: &Scope,
        shells: &[Shell],
        mut walk: impl FnMut(&mut Self, &mut State, &Script),
    ) {
        let text = Rc::clone(&scope.source.text);
        let mut readings: Vec<(Shell, Parsed)> = Vec::with_capacity(shells.len());
        for shell in shells {
            let parsed = self.tree(*shell, &text);
            let is_like =
                |(other, read): &(Shell, Parsed)| *read == parsed && acts_alike(*other, *shell, &text);
            if !readings.iter().any(is_like) {
                readings.push((*shell, parsed));
            }
        }
        let is_whole = |parsed: &Parsed| parsed.holes.iter().all(|hole| hole.why != Why::Syntax);
        let any_whole = readings.iter().any(|(_, parsed)| is_whole(parsed));
        let before = (readings.len() > 1).then(|| self.fork(state));
        let outer = state.options.is_other;
        let mut after: Option<State> = None;
        for (shell, parsed) in readings {
            let is_other = any_whole && !is_whole(&parsed);
            self.holes(scope, &parsed, |why| why != Why::Syntax || !is_other);
            state.start_as(shell);
            state.options.is_other = is_other;
            walk(self, state, &parsed.script);
            if let Some(before) = &before {
                let next = self.fork(before);
                let done = std::mem::replace(state, next);
                match &mut after {
                    Some(after) => self.joins(after, done),
                    None => after = Some(done),
                }
            }
        }
        if let Some(after) = after {
            *state = after;
        }
        state.options.is_other = outer;
    }

    fn tree(&mut self, shell: Shell, text: &str) -> Parsed {
        let units = usize::try_from(self.work.left()).unwrap_or(usize::MAX);
        let (parsed, parsed_units) = parse(text, shell, units.saturating_mul(PARSED_PER_WORK));
        self.work.spend(WORK_OF_PARSING + (parsed_units / PARSED_PER_WORK) as u64);
        self.items.background |= parsed.background;
        parsed
    }

    /// Adds a `Gap` for each hole of a tree whose reason `reports` accepts. An error of syntax at the end of the text is
    /// reported where the walk reaches it: after `exec` or `exit`, the shell does not read on.
    fn holes(&mut self, scope: &Scope, parsed: &Parsed, reports: impl Fn(Why) -> bool) {
        let last = match parsed.script.statements.last().map(|statement| &statement.node) {
            Some(Node::Hole(hole)) if hole.why == Why::Syntax => Some(*hole),
            Some(_) | None => None,
        };
        for hole in parsed.holes.iter().filter(|hole| Some(**hole) != last && reports(hole.why)) {
            let written = scope.source.written(hole.span).to_owned();
            self.gap(scope, Role::Code, hole.why, &written, hole.span);
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

    /// Walks a construct that can be left early, and joins the states of its exits. Returns true if there were any.
    pub(crate) fn leaving(
        &mut self,
        kind: Leave,
        state: &mut State,
        walk: impl FnOnce(&mut Self, &mut State),
    ) -> bool {
        self.frames.push(Frame { kind, left: Vec::new() });
        walk(self, state);
        let Some(frame) = self.frames.pop() else { return false };
        let was_left = !frame.left.is_empty();
        for left in frame.left {
            self.joins(state, left);
        }
        was_left
    }

    /// Walks one round of a loop. After an early exit the round may have been the last; adds that state to `ends`.
    pub(crate) fn round(
        &mut self,
        state: &mut State,
        ends: &mut Option<State>,
        walk: impl FnOnce(&mut Self, &mut State),
    ) {
        if !self.leaving(Leave::Loop, state, walk) {
            return;
        }
        let end = self.fork(state);
        match ends {
            Some(ends) => self.joins(ends, end),
            None => *ends = Some(end),
        }
    }

    /// Joins the early exits of a loop whose rounds were walked one by one.
    pub(crate) fn end_rounds(&mut self, state: &mut State, ends: Option<State>) {
        if let Some(ends) = ends {
            self.joins(state, ends);
        }
    }

    /// `exit`, `return`, `break`: later code does not run. `every`: possibly all enclosing loops end (`break 2`).
    pub(crate) fn left(&mut self, kind: Leave, state: &mut State, every: bool) {
        let floor = match kind {
            Leave::Loop | Leave::Function => {
                self.frames.iter().rposition(|frame| frame.kind == Leave::Shell).unwrap_or(0)
            }
            Leave::Shell => 0,
        };
        let Some(at) = self.frames.iter().rposition(|frame| frame.kind == kind) else { return };
        if at < floor || state.ended {
            return;
        }
        self.work.spend(8);
        let mut copy = state.clone();
        copy.status = None;
        let outer = if every { floor } else { at };
        for frame in self.frames.iter_mut().take(at + 1).skip(outer) {
            if frame.kind == kind {
                frame.left.push(copy.clone());
            }
        }
        state.ended = true;
    }

    pub(crate) fn next_descriptor(&mut self) -> u32 {
        let number = self.descriptor;
        self.descriptor = match number {
            LAST_DESCRIPTOR => FURTHER_DESCRIPTORS,
            number if number < FURTHER_DESCRIPTORS => number - 1,
            number => number.saturating_add(1),
        };
        number
    }

    /// Writes text to standard output.
    pub(crate) fn deliver(&mut self, state: &mut State, scope: &Scope, text: &Text) {
        if text.pieces().is_empty() {
            return;
        }
        self.work.spend_bytes(text.len());
        match state.descriptor(1) {
            Descriptor::Collected(at) => state.collect(at, text),
            Descriptor::Process(process) => {
                state.collect(process.collected, text);
                let reading = self.processes.get(process.number).map(|(_, reading)| *reading);
                if matches!(reading, Some(Reading::Open)) {
                    self.read_by(state, scope, &process);
                }
            }
            Descriptor::Written(path) => state.written_to(&path, text),
            Descriptor::Inherited | Descriptor::Input(_) | Descriptor::File(_) | Descriptor::Unknown => {}
        }
    }

    /// Walks the commands of a `>( )` with their collected input.
    fn read_by(&mut self, state: &State, scope: &Scope, process: &Rc<Process>) {
        if !self.enter() {
            let (span, source) = (process.body.span, Rc::clone(&process.source));
            let written = source.written(span).to_owned();
            self.gap(&Scope { source, ..scope.clone() }, Role::Code, Why::Nesting, &written, span);
            return;
        }
        for text in state.collected_at(process.collected) {
            let text = if text.pieces().is_empty() { Text::unknown(Why::Input, "") } else { text };
            let mut inner = self.fork(state);
            inner.set_descriptor(0, Descriptor::Input(Rc::new(text)));
            inner.set_descriptor(1, Descriptor::Inherited);
            let mut scope = scope.with_origin(Origin::Substitution);
            scope.source = Rc::clone(&process.source);
            scope.redirects = Rc::default();
            self.shell(&mut inner, &scope, &process.body);
        }
        self.leave();
    }

    /// Walks the `>( )` of a command that has ended. `stay`: `exec` keeps them open.
    pub(crate) fn end_processes(&mut self, from: usize, stay: bool, state: &State, scope: &Scope) {
        for at in from..self.processes.len() {
            let Some((process, reading)) = self.processes.get_mut(at) else { continue };
            if *reading != Reading::Waiting {
                continue;
            }
            *reading = if stay { Reading::Open } else { Reading::Done };
            let process = Rc::clone(process);
            if !stay {
                self.read_by(state, scope, &process);
            }
        }
    }

    /// Walks, at the end of the text, each `>( )` that `exec` kept open and that received no known input.
    fn open_processes(&mut self, state: &State, scope: &Scope) {
        let open: Vec<Rc<Process>> = self
            .processes
            .iter()
            .filter(|(_, reading)| *reading == Reading::Open)
            .map(|(process, _)| Rc::clone(process))
            .collect();
        for process in open {
            let written = state.collected_at(process.collected);
            if written.iter().all(|text| text.pieces().is_empty()) {
                self.read_by(state, scope, &process);
            }
        }
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

/// Reports whether two shells that read a text equally also run it equally.
///
/// * zsh has its own rules for values, patterns and `=` at the beginning of a word.
/// * dash has no braces, but escapes in `echo`. Assignments before `:` last.
fn acts_alike(one: Shell, other: Shell, text: &str) -> bool {
    let is_zsh = [one, other].contains(&Shell::Zsh) && one != other;
    let is_posix = [one, other].contains(&Shell::Posix) && one != other;
    let has_braces = || text.contains('{') && (text.contains(',') || text.contains(".."));
    let has_escapes = || text.contains('\\') && text.contains("echo");
    let has_tilde = || {
        text.contains('~') && text.contains(['=', '+', '-']) || text.contains("${@") || text.contains("${*")
    };
    let lasts = || text.contains('=') && [":", "eval", "exec", "."].iter().any(|name| has_word(text, name));
    !(is_zsh && text.contains(['$', '`', '=', '*', '?', '[', '(', '~']))
        && !(is_posix && (has_braces() || has_escapes() || has_tilde() || lasts()))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split([' ', '\t', '\n', ';', '&', '|', '(']).any(|one| one == word)
}
