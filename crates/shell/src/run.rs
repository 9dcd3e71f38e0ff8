//! Running: resolves a command to a function, builtin or program, and walks the code that it runs in turn. This module
//! must not know the effect of a program on files or machines.

mod environments;
mod find;
mod inner;
mod lists;
mod options;
mod output;
mod scripts;
mod shells;
mod startup;
mod texts;

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Inner, Piece, base_name, invoke};

use crate::builtins;
use crate::found::{FoundRedirect, Origin, Wrapped};
use crate::limits::{ARGUMENTS_MAX, ENTRIES_PER_WORK, WRAPPERS_MAX};
use crate::scope::Scope;
use crate::shells::shells;
use crate::state::State;
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Script, Span};
use crate::walk::{Leave, Walker};

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
        self.changes_files(state, scope, &call, base);
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
        let call = self.with_options_of_environment(state, scope, call, program);
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

/// Returns the name of a program in an unknown directory, which is found by the same lookup: `$(which rm)`, `=rm` of
/// zsh.
pub(crate) fn looked_up(arg: &Arg) -> Option<&str> {
    let [Piece::Unknown { why: Why::Unresolved, .. }, Piece::Text(tail)] = arg.pieces() else { return None };
    tail.strip_prefix('/').filter(|name| !name.contains('/'))
}
