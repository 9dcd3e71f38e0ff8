//! Running: resolves a command to a function, builtin or program, and walks the code that it runs in turn. This module
//! must not know the effect of a program on files or machines.

mod environments;
mod find;
mod lists;
mod scripts;
mod shells;
mod startup;
mod texts;

use castellan_programs::base_name;
use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Inner, Invocation, Piece, Quoting, Wrapper, invoke};

use crate::builtins;
use crate::found::{FoundRedirect, Origin, Wrapped};
use crate::limits::{ARGUMENTS_MAX, ENTRIES_PER_WORK, WORK_OF_SED, WRAPPERS_MAX};
use crate::literals::is_name;
use crate::outputs;
use crate::scope::Scope;
use crate::shells::{SH, shells};
use crate::start::Start;
use crate::state::{Descriptor, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Script, Span};
use crate::walk::{Leave, Walker};

/// Dangerous programs whose names are unambiguous: no other program has a subcommand with such a name.
const TELLING: &[&str] = &[
    "/bin/bash",
    "/bin/rm",
    "/bin/sh",
    "bash",
    "chmod",
    "chown",
    "curl",
    "dd",
    "mkfs",
    "rm",
    "sh",
    "shred",
    "sudo",
    "wget",
];

/// Prefix and suffix of variables of which bash makes functions: since 2014, before, on macOS.
const FUNCTION_VARIABLES: &[(&str, &str)] =
    &[("BASH_FUNC_", "%%"), ("BASH_FUNC_", "()"), ("__BASH_FUNC<", ">()")];

/// A command with expanded words.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) argv: Vec<Arg>,
    /// Variables added to the environment; the state already contains them.
    pub(crate) env: Vec<(String, Arg)>,
    pub(crate) redirects: Vec<Rc<FoundRedirect>>,
    /// The span in the scope's text.
    pub(crate) span: Span,
}

impl Call {
    pub(crate) fn new(argv: Vec<Arg>, span: Span) -> Call {
        Call { argv, env: Vec::new(), redirects: Vec::new(), span }
    }

    /// Returns a call of another command with the same environment, redirects and span.
    pub(crate) fn with(&self, argv: Vec<Arg>) -> Call {
        Call { argv, ..self.clone() }
    }

    /// Returns the arguments without the name.
    pub(crate) fn arguments(&self) -> &[Arg] {
        self.argv.get(1..).unwrap_or_default()
    }
}

impl Walker<'_> {
    /// Runs a command by shell lookup: functions, builtins, programs.
    pub(crate) fn command(&mut self, state: &mut State, scope: &Scope, mut call: Call) {
        self.work.spend(1);
        self.bound_arguments(scope, &mut call);
        let Some(name) = self.name_of(state, scope, &mut call) else { return };
        let functions = if name.contains('/') { None } else { state.functions.get(&name).cloned() };
        let functions = functions.or_else(|| {
            let is_ksh = state.options.shell == Shell::Ksh && state.variable("FPATH").is_some();
            let function = is_ksh.then(|| self.of_path(state, scope, &name)).flatten();
            function.map(|function| vec![Some(function), None])
        });
        let Some(functions) = functions else {
            self.found(state, scope, call, &name);
            return;
        };
        let arguments = || {
            let certain = !call.arguments().iter().any(Arg::splits);
            certain.then(|| call.arguments().iter().map(Text::from).collect::<Vec<Text>>())
        };
        self.show_environment(state, scope, &call);
        let before = self.fork(state);
        for (number, function) in functions.iter().enumerate() {
            let mut inner = self.fork(&before);
            match function {
                Some(function) => {
                    // `autoload` finds the file only at the first call.
                    let is_open = function.is_unknown() && state.options.shell == Shell::Zsh;
                    let loaded = if is_open { self.of_path(&inner, scope, &name) } else { None };
                    let function = loaded.unwrap_or_else(|| Rc::clone(function));
                    self.call_function(&mut inner, scope, &function, &call, arguments());
                }
                None => self.found(&mut inner, scope, call.clone(), &name),
            }
            if number == 0 {
                *state = inner;
            } else {
                self.joins(state, inner);
            }
        }
    }

    /// Runs a builtin or a program.
    pub(crate) fn found(&mut self, state: &mut State, scope: &Scope, mut call: Call, name: &str) {
        if let Some(path) = self.hashed(state, name) {
            if let Some(first) = call.argv.first_mut() {
                *first = path.to_arg();
            }
            if let Some(path) = self.name_of(state, scope, &mut call) {
                self.program(state, scope, call, &path);
            }
            return;
        }
        self.indices(state, scope, &call, name);
        match builtins::find(name) {
            Some(builtin) => {
                let listing = builtins::lists(name, call.arguments()).then(|| call.clone());
                builtin(self, state, scope, call);
                if let Some(call) = listing {
                    self.unknown_output(state, scope, &call, Why::Substitution);
                }
            }
            None => self.program(state, scope, call, name),
        }
    }

    /// Returns the program that `hash -p` assigned to a name, in the current reading of the command.
    fn hashed(&mut self, state: &State, name: &str) -> Option<Text> {
        let paths = state.hashed.get(name)?;
        match self.choices.choose(paths.len()) {
            Some(at) => paths.get(at).cloned().flatten(),
            None => Some(Text::unknown(Why::Budget, name)),
        }
    }

    /// Returns the name of a command. An unknown name is reported as a `Gap` along with the command.
    fn name_of(&mut self, state: &mut State, scope: &Scope, call: &mut Call) -> Option<String> {
        let first = call.argv.first_mut()?;
        if let Some(name) = first.as_str() {
            return Some(name.to_owned());
        }
        if let Some(name) = looked_up(first) {
            let name = name.to_owned();
            *first = Arg::known(name.as_str());
            return Some(name);
        }
        let why = first.why().unwrap_or_default();
        let written = first.written().into_owned();
        self.emit(state, scope, call);
        self.gap(scope, Role::Program, why, &written, call.span);
        self.unknown_output(state, scope, call, Why::Substitution);
        state.status = None;
        None
    }

    /// Runs a command as a program starts it: without functions and builtins of the shell.
    pub(crate) fn started(&mut self, state: &mut State, scope: &Scope, mut call: Call) {
        self.work.spend(1);
        if !self.enter() {
            self.gap(scope, Role::Code, Why::Nesting, "", call.span);
            return;
        }
        self.bound_arguments(scope, &mut call);
        if let Some(name) = self.name_of(state, scope, &mut call) {
            self.program(state, scope, call, &name);
        }
        self.leave();
    }

    /// Replaces the arguments over the limit by one unknown argument. Adds a `Gap`, because they may contain a command.
    fn bound_arguments(&mut self, scope: &Scope, call: &mut Call) {
        if call.argv.len() <= ARGUMENTS_MAX {
            return;
        }
        call.argv.truncate(ARGUMENTS_MAX);
        call.argv.push(Arg::unknown(Why::Budget, "", true));
        self.gap(scope, Role::Code, Why::Budget, "", call.span);
    }

    /// Returns the scope inside another wrapper. Over the limit, reports a `Gap` and returns `None`.
    pub(crate) fn around(&mut self, scope: &Scope, wrapper: Wrapped, call: &Call) -> Option<Scope> {
        if scope.wrappers.len() >= WRAPPERS_MAX {
            self.gap(scope, Role::Code, Why::Nesting, &wrapper.name, call.span);
            return None;
        }
        self.work.spend(wrapper.argv.len() as u64 / ENTRIES_PER_WORK);
        Some(scope.wrapped(wrapper))
    }

    /// Runs a program and the commands that it starts.
    pub(crate) fn program(&mut self, state: &mut State, scope: &Scope, call: Call, name: &str) {
        let base = base_name(name);
        state.status = None;
        if !shells(base).is_empty() {
            self.shell_program(state, scope, &call, base);
            return;
        }
        if matches!(base, "find" | "gfind") {
            return self.find(state, scope, &call);
        }
        let Some(program) = castellan_programs::find(base) else {
            let script = self.own_script(state, scope, &call, name);
            self.emit(state, scope, &call);
            if let Some(script) = script {
                self.run_own_script(state, scope, &call, script);
                return;
            }
            self.perhaps_wrapped(state, scope, &call, base);
            self.output(state, scope, &call, base);
            return;
        };
        // The program model examines every argument.
        let bytes: usize = call.argv.iter().map(Arg::len).sum();
        self.work.spend(2 * call.argv.len() as u64);
        self.work.spend_bytes(bytes.saturating_mul(2));
        match program.name() {
            "xargs" => return self.xargs(state, scope, &call, program),
            "parallel" if base != "sem" => return self.parallel(state, scope, &call, program),
            _ => {}
        }
        let invocation = invoke(program, &call.argv);
        let mut inner = invocation.inner_of_options(&call.argv);
        let here = inner.len();
        inner.extend(invocation.inner_of_operands(&call.argv));
        let runs = inner.iter().any(|one| !matches!(one, Inner::Code { .. }));
        let wrapper = invocation.wrapper();
        if !runs {
            self.emit(state, scope, &call);
            self.output(state, scope, &call, base);
            return;
        }
        if wrapper.is_none() {
            self.emit(state, scope, &call);
        }
        let (options, operands) = inner.split_at(here);
        self.inner(state, scope, &call, &invocation, options, false);
        self.inner(state, scope, &call, &invocation, operands, true);
        if wrapper.is_none() {
            self.output(state, scope, &call, base);
        }
    }

    /// An unknown program may run another program. Reports the first dangerous command among its arguments as well.
    fn perhaps_wrapped(&mut self, state: &State, scope: &Scope, call: &Call, base: &str) {
        let is_telling = |arg: &Arg| arg.as_str().is_some_and(|text| TELLING.contains(&text));
        let Some(at) = call.arguments().iter().position(is_telling) else { return };
        let (own, argv) = call.argv.split_at(at + 1);
        let wrapper = Wrapped { name: base.to_owned(), argv: own.to_vec(), neutral: false };
        let Some(mut around) = self.around(scope, wrapper, call) else { return };
        around.origin = Origin::Wrapped;
        if !self.enter() {
            self.gap(scope, Role::Code, Why::Nesting, base, call.span);
            return;
        }
        let mut inside = self.fork(state);
        self.command(&mut inside, &around, call.with(argv.to_vec()));
        self.leave();
    }

    /// Runs the commands of an invocation. Commands of its options run locally, even if its operands run elsewhere.
    fn inner(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        invocation: &Invocation,
        inner: &[Inner],
        at_place: bool,
    ) {
        if inner.is_empty() {
            return;
        }
        let base = call.argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
        let wrapper = invocation.wrapper();
        let mut around = scope.clone();
        if wrapper.is_none() {
            around.origin = Origin::Wrapped;
        }
        let place = invocation.place().filter(|_| at_place).map(|place| {
            let names = std::iter::once(base).chain(invocation.subcommand.iter().copied());
            format!("{} {}", names.collect::<Vec<_>>().join(" "), place.written())
        });
        let elsewhere = place.is_some();
        if let Some(place) = place {
            let mut remote = (*around.remote).clone();
            remote.push(place);
            around.remote = Rc::new(remote);
        }
        for one in inner {
            if !self.goes_on(scope, call.span) {
                break;
            }
            let own = match one {
                Inner::Command { at, .. } => call.argv.get(..*at).unwrap_or_default().to_vec(),
                Inner::Shell { .. } | Inner::Line { .. } | Inner::Code { .. } => call.argv.clone(),
            };
            let neutral = wrapper == Some(Wrapper::Neutral);
            let wrapped = Wrapped { name: base.to_owned(), argv: own, neutral };
            let Some(scope) = self.around(&around, wrapped, call) else { return };
            let files = state.files.clone();
            self.subshell(state, &scope, |walker, state| {
                if elsewhere {
                    *state = walker.elsewhere(state);
                }
                if let Some(directory) = invocation.directory() {
                    walker.go(state, &Text::from(directory));
                }
                if wrapper == Some(Wrapper::Changing) && matches!(base, "sudo" | "doas" | "su" | "runuser") {
                    walker.as_another_user(state);
                }
                if wrapper.is_none() {
                    state.set_descriptor(1, Descriptor::Inherited);
                }
                walker.inner_one(state, &scope, call, one.clone(), wrapper.is_some());
            });
            // Files written on another machine are not local files.
            if elsewhere {
                state.files = files;
            }
            state.status = None;
        }
    }

    fn inner_one(&mut self, state: &mut State, scope: &Scope, call: &Call, inner: Inner, keeps: bool) {
        match inner {
            Inner::Command { argv, assignments, .. } => {
                let mut next = Call::new(argv, call.span);
                if keeps {
                    next.redirects = call.redirects.clone();
                    next.env = call.env.clone();
                }
                self.assignments(state, scope, &assignments, call.span);
                next.env.extend(assignments);
                self.started(state, scope, next);
            }
            Inner::Shell { text, rest } => {
                let code = Text::from(&text);
                let scope = if keeps { &scope.redirected(call.redirects.clone()) } else { scope };
                if keeps {
                    self.show_environment(state, scope, call);
                }
                self.shell_text(state, scope, SH, &code, &rest, call.span);
            }
            Inner::Line { text } => match text.as_str().map(|text| Quoting::XARGS.words(text)) {
                Some(mut words) => {
                    let assigned: Vec<(String, Arg)> = words
                        .iter()
                        .map_while(|word| {
                            let (name, value) = word.split_once('=')?;
                            is_name(name).then(|| (name.to_owned(), Arg::known(value)))
                        })
                        .collect();
                    words.drain(..assigned.len());
                    let argv: Vec<Arg> = words.into_iter().map(Arg::known).collect();
                    if argv.is_empty() {
                        return;
                    }
                    let mut next = Call::new(argv, call.span);
                    self.assignments(state, scope, &assigned, call.span);
                    next.env = assigned;
                    if keeps {
                        next.redirects = call.redirects.clone();
                    }
                    self.started(state, scope, next);
                }
                None => {
                    let why = text.why().unwrap_or_default();
                    self.gap(scope, Role::Code, why, &text.written(), call.span);
                }
            },
            Inner::Code { .. } => {}
        }
    }

    /// Reports the environment of a function call or of text that a wrapper runs, because neither is a command.
    fn show_environment(&mut self, state: &mut State, scope: &Scope, call: &Call) {
        if !call.env.is_empty() {
            let mut bare = Call::new(Vec::new(), call.span);
            bare.env = call.env.clone();
            self.emit(state, scope, &bare);
        }
    }

    /// Sets the variables that a wrapper passes to its command.
    fn assignments(&mut self, state: &mut State, scope: &Scope, assignments: &[(String, Arg)], span: Span) {
        for (name, value) in assignments {
            state.set(name, Value::Scalar(Text::from(value)));
            state.change(name, |variable| variable.exported = true);
            self.run_by_shell(state, scope, name, span);
            self.exported_function(state, scope, name, value, span);
        }
    }

    /// Defines the function that bash makes of a variable at its start.
    fn exported_function(&mut self, state: &mut State, scope: &Scope, name: &str, value: &Arg, span: Span) {
        let of = |(prefix, suffix): (&str, &str)| name.strip_prefix(prefix)?.strip_suffix(suffix);
        let Some(name) = FUNCTION_VARIABLES.iter().copied().find_map(of) else { return };
        let mut code = Text::known(format!("{name} "));
        code.push(&Text::from(value));
        self.run_text(state, scope, &code, Origin::Argument, span);
        state.options.functions_exported = true;
    }

    /// Returns the state of an unknown machine or container.
    fn elsewhere(&mut self, state: &State) -> State {
        let mut fresh = State::new(&Start::default());
        fresh.collected = Rc::clone(&state.collected);
        fresh.descriptors = Rc::clone(&state.descriptors);
        fresh
    }

    /// Applies the environment of another user. The system configuration decides which variables are kept.
    fn as_another_user(&mut self, state: &mut State) {
        let home = state.variable("HOME").map(|variable| variable.values.clone()).unwrap_or_default();
        state.forget_all(Why::Variable);
        if !home.is_empty() {
            let mut homes = home;
            homes.push(Value::Scalar(Text::known("/root")));
            state.set_values("HOME", homes);
        }
        state.set("IFS", Value::Scalar(Text::known(" \t\n")));
    }

    /// Delivers the output of a program, or an unknown text if the output cannot be computed.
    pub(crate) fn output(&mut self, state: &mut State, scope: &Scope, call: &Call, name: &str) {
        let directory = environments::made(name, call.arguments()).filter(|_| scope.remote.is_empty());
        if let Some(directory) = directory.and_then(|directory| state.absolute(directory)) {
            self.environments.insert(format!("{directory}/bin/activate"), directory);
        }
        let out = state.descriptor(1);
        let wanted =
            matches!(out, Descriptor::Collected(_) | Descriptor::Process(_) | Descriptor::Written(_));
        let tee = outputs::Tee::of(name, &call.argv).filter(|_| scope.remote.is_empty());
        if !wanted && tee.is_none() {
            state.status = if outputs::always_succeeds(name) { Some(true) } else { None };
            return;
        }
        // The call's own standard input is empty.
        let input = match state.descriptor(0) {
            Descriptor::Inherited => None,
            Descriptor::Input(_)
            | Descriptor::Collected(_)
            | Descriptor::Process(_)
            | Descriptor::File(_)
            | Descriptor::Written(_)
            | Descriptor::Unknown => self.input(state),
        };
        if let Some(tee) = tee {
            let text = input.unwrap_or_else(|| Text::unknown(Why::Input, name));
            for path in &tee.paths {
                self.changes_itself(state, scope, &Arg::known(path.as_str()), call.span);
            }
            return self.tee(state, scope, &tee, &text);
        }
        if matches!(name, "sed" | "gsed") {
            self.work.spend(WORK_OF_SED);
        }
        let made = outputs::computed(name, call.arguments(), input.as_ref(), state);
        match made {
            outputs::Made::Text(text) => {
                self.work.spend_bytes(text.len().saturating_mul(4));
                self.deliver(state, scope, &text);
            }
            outputs::Made::Unknown(why) => self.unknown_output(state, scope, call, why),
        }
        state.status = if outputs::always_succeeds(name) { Some(true) } else { None };
    }

    pub(crate) fn unknown_output(&mut self, state: &mut State, scope: &Scope, call: &Call, why: Why) {
        let written = call.argv.iter().map(|arg| arg.written().into_owned()).collect::<Vec<_>>().join(" ");
        self.deliver(state, scope, &Text::unknown(why, written));
    }

    /// `tee FILE >(commands)`: writes the text to each operand and to standard output.
    fn tee(&mut self, state: &mut State, scope: &Scope, tee: &outputs::Tee, text: &Text) {
        self.work.spend_bytes(text.len().saturating_mul(4));
        for path in &tee.paths {
            let leads = state.opened(path).or_else(|| self.opens_file(state, tee.appends, path));
            let Some(leads) = leads else { continue };
            let before = state.descriptor(1);
            state.set_descriptor(1, leads);
            self.deliver(state, scope, text);
            state.set_descriptor(1, before);
        }
        self.deliver(state, scope, text);
        state.status = Some(true);
    }

    /// Walks text in the current shell: `eval`, traps, aliases.
    pub(crate) fn run_text(
        &mut self,
        state: &mut State,
        scope: &Scope,
        code: &Text,
        origin: Origin,
        span: Span,
    ) {
        self.run_script(state, scope, code, (origin, span), |walker, state, scope, script| {
            walker.text_script(state, scope, script);
        });
    }

    /// Parses text of the current shell and passes it to `walk`.
    pub(crate) fn run_script(
        &mut self,
        state: &mut State,
        scope: &Scope,
        text: &Text,
        (origin, span): (Origin, Span),
        walk: impl FnMut(&mut Self, &mut State, &Scope, &Script),
    ) {
        let code = texts::Code { text, shells: None, origin, span, file: None };
        self.walked_text(state, scope, code, walk);
    }

    /// Leaves the shell, a function or a loop.
    pub(crate) fn leaves(&mut self, kind: Leave, state: &mut State, every: bool) {
        self.left(kind, state, every);
    }
}

/// Returns the name of a program in an unknown directory, which is found by the same lookup: `$(which rm)`, `=rm` of zsh.
pub(crate) fn looked_up(arg: &Arg) -> Option<&str> {
    let [Piece::Unknown { why: Why::Unresolved, .. }, Piece::Text(tail)] = arg.pieces() else { return None };
    tail.strip_prefix('/').filter(|name| !name.contains('/'))
}
