//! The walk: a text is followed as a shell would run it, with values instead of processes. Every branch is taken, and what is
//! known after it is what all of them agree on. It must not know what a program does.
//!
//! Two simplifications, both on purpose. A plain `cd x` is taken to succeed; only what stands after its `||` runs where the
//! shell was before. And code after `exit` or `return` is still walked, so that it is found where the walk was wrong about
//! what ends the shell; it changes nothing of what is known elsewhere.

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
use crate::limits::{DEPTH_MAX, TEXT_BYTES_MAX, WORK_OF_PARSING, WORK_PER_STEP};
use crate::parse::parse_within;
use crate::run::Call;
use crate::scope::{Scope, Source};
use crate::start::Start;
use crate::state::{Body, Descriptor, Function, Process, State, join};
use crate::text::{Text, cut};
use crate::tree::{Script, Span};
use crate::work::Work;

pub(crate) use redirects::opened;

use emit::Items;

/// Every command that a text would run. What files hold is not known.
pub fn commands(text: &str, start: &Start) -> Found {
    let mut work = Work::of_text(text.len().min(TEXT_BYTES_MAX));
    commands_within(text, start, &mut work, Files::new(&mut |_| Err(Why::File)))
}

/// The same with the files with code that it runs, and where several texts share their work; what is over it is a gap.
pub fn commands_within(text: &str, start: &Start, work: &mut Work, files: Files<'_>) -> Found {
    let mut walker = Walker::new(std::mem::take(work), files, start);
    let state = walker.all(text, start);
    *work = walker.work;
    walker.items.found(state.written())
}

/// What a program runs that another program starts, without a shell: itself, and what its wrappers and arguments say.
/// `input`: its standard input, where that is known.
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

/// Descriptors of `<( )` count down from here, as bash's do.
const FIRST_DESCRIPTOR: u32 = 63;
/// And this is the last of them: those from 10 on are also given by `exec {name}<`.
const LAST_DESCRIPTOR: u32 = 32;
/// Further ones count up from here, so that none that is open is given again. No text names numbers like these.
const FURTHER_DESCRIPTORS: u32 = 1 << 20;

/// The walk through one text.
#[derive(Debug)]
pub(crate) struct Walker<'f> {
    pub(crate) files: Files<'f>,
    pub(crate) work: Work,
    pub(crate) choices: Choices,
    /// Startup files that the environment names before the text begins: they are nothing of the text's.
    pub(crate) startup_files: Vec<String>,
    /// Virtual environments that the text makes, by the files that activate them.
    pub(crate) environments: BTreeMap<String, Rc<str>>,
    items: Items,
    depth: usize,
    descriptor: u32,
    pub(crate) processes: Vec<(Rc<Process>, Reading)>,
    functions: Vec<Definition>,
    /// Functions that are being called.
    active: Vec<usize>,
    frames: Vec<Frame>,
    /// Where the work ran out.
    over: Option<Span>,
    /// An expansion of the command that is being read may fail (`${!x}`, `${x?}`): then the command does not run.
    pub(crate) may_fail: bool,
    /// Substitutions that were walked: an assignment takes its status from the last one in it.
    pub(crate) substituted: usize,
}

/// How far the commands of a `>( )` are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Until the command ends that writes to it.
    Waiting,
    /// `exec` keeps it open: whenever something is written.
    Open,
    /// They were walked.
    Done,
}

/// A function's definition.
#[derive(Debug)]
struct Definition {
    function: Rc<Function>,
    /// The shell and the place where it was defined.
    state: State,
    scope: Scope,
    span: Span,
    called: bool,
}

/// Something that can be left early, with the states in which it was left.
#[derive(Debug)]
struct Frame {
    kind: Leave,
    left: Vec<State>,
}

/// What is left early.
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
            substituted: 0,
        }
    }

    /// Walks a whole text; returns the shell as it is in the end.
    fn all(&mut self, text: &str, start: &Start) -> State {
        let scope = Scope::of(text);
        let mut state = State::new(start);
        if let Some(input) = &start.input {
            state.set_descriptor(0, Descriptor::Input(Rc::new(Text::from(input))));
        }
        self.known_functions(&mut state, &scope, start);
        let parsed = self.parsed(&scope, text);
        self.shell(&mut state, &scope, &parsed);
        self.open_processes(&state, &scope);
        self.uncalled();
        self.tell_over(parsed.span);
        state
    }

    /// Says that there was more than the work or the list of items allowed.
    fn tell_over(&mut self, whole: Span) {
        let is_over = self.work.is_over() || self.items.is_full();
        if let Some(span) = self.over.or(is_over.then_some(whole)) {
            let (why, written) = (Why::Budget, String::new());
            self.items.gap(Gap { role: Role::Code, why, written, script: None, span });
        }
    }

    /// Walks commands as a shell of their own, its traps at the end.
    pub(crate) fn shell(&mut self, state: &mut State, scope: &Scope, script: &Script) {
        self.leaving(Leave::Shell, state, |walker, state| {
            walker.script(state, scope, script);
        });
        let traps = std::mem::take(&mut state.traps);
        for trap in traps.iter() {
            let mut inner = scope.clone();
            inner.source = Rc::clone(&trap.source);
            self.run_text(state, &inner, &trap.code, Origin::Trap, trap.span);
        }
    }

    /// Functions that were there before the text.
    fn known_functions(&mut self, state: &mut State, scope: &Scope, start: &Start) {
        for (name, body) in &start.functions {
            let source =
                Rc::new(Source { text: body.as_str().into(), place: Some(Span::default()), file: None });
            let number = self.functions.len();
            let function = Rc::new(Function { body: Body::Text(body.as_str().into()), source, number });
            let scope = scope.clone();
            let span = Span::default();
            // Nobody asks what they do unless they are called.
            let definition = Definition {
                function: Rc::clone(&function),
                state: state.clone(),
                scope,
                span,
                called: true,
            };
            self.functions.push(definition);
            state.functions.insert(name.as_str().into(), vec![Some(function)]);
        }
    }

    /// Parses text; what of it is not understood is a gap.
    pub(crate) fn parsed(&mut self, scope: &Scope, text: &str) -> Script {
        let steps_max = usize::try_from(self.work.left() / WORK_PER_STEP).unwrap_or(usize::MAX);
        let (parsed, steps) = parse_within(text, steps_max);
        self.work.spend(WORK_OF_PARSING + (steps as u64).saturating_mul(WORK_PER_STEP));
        self.items.background |= parsed.background;
        for hole in &parsed.holes {
            let written = text.get(hole.span.start as usize..hole.span.end as usize).unwrap_or_default();
            self.gap(scope, Role::Code, hole.why, written, hole.span);
        }
        parsed.script
    }

    /// A gap at a place of the scope's text.
    pub(crate) fn gap(&mut self, scope: &Scope, role: Role, why: Why, written: &str, span: Span) {
        let script = scope.source.file.clone();
        self.items.gap(Gap { role, why, written: cut(written), script, span: scope.span(span) });
    }

    /// Goes one level deeper. False when that is too deep; then nothing is to be left.
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

    /// Whether there is work left. Where it runs out is remembered.
    pub(crate) fn goes_on(&mut self, scope: &Scope, span: Span) -> bool {
        if !self.work.is_over() && !self.items.is_full() {
            return true;
        }
        self.over.get_or_insert(scope.span(span));
        false
    }

    /// A copy of the shell for a branch or a subshell.
    pub(crate) fn fork(&mut self, state: &State) -> State {
        self.work.spend(2);
        state.clone()
    }

    /// Reads a command in every way that its variables allow.
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

    /// Joins another way into the state.
    pub(crate) fn joins(&mut self, state: &mut State, other: State) {
        let one = std::mem::replace(state, other.clone());
        *state = join(one, other, &mut self.work);
    }

    /// Walks something that can be left early; the states in which it was left are joined at its end. Whether it was left.
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

    /// Walks one round of a loop. Where it was left early, it may have been the last one: that is how the loop may end.
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

    /// The end of a loop whose rounds were walked one by one.
    pub(crate) fn end_rounds(&mut self, state: &mut State, ends: Option<State>) {
        if let Some(ends) = ends {
            self.joins(state, ends);
        }
    }

    /// `exit`, `return`, `break`: what follows does not run. `every`: perhaps all loops around it end (`break 2`).
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

    /// Writes to standard output.
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

    /// Walks the commands of a `>( )` with what was written to it.
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

    /// At the end: those that `exec` kept open and that nothing known was written to.
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

    /// The last command that was found.
    pub(crate) fn last_command(&self) -> Option<usize> {
        self.items.last_command()
    }

    /// Items found so far.
    pub(crate) fn item_count(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn item(&mut self, item: Item) {
        self.items.push(item);
    }
}
