//! Commands inside of a program: wrappers, options and operands that are commands. This module must not know the
//! shell's syntax.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Inner, Invocation, Quoting, Trait, Wrapper, base_name};

use super::Call;
use crate::found::{Origin, Wrapped};
use crate::literals::is_name;
use crate::scope::Scope;
use crate::shells::SH;
use crate::start::Start;
use crate::state::{Descriptor, State, Value};
use crate::text::Text;
use crate::tree::Span;
use crate::walk::Walker;

/// Prefix and suffix of variables of which bash makes functions: since 2014, before, on macOS.
const FUNCTION_VARIABLES: &[(&str, &str)] =
    &[("BASH_FUNC_", "%%"), ("BASH_FUNC_", "()"), ("__BASH_FUNC<", ">()")];

impl Walker<'_> {
    /// An unknown program may run another program. Reports the first dangerous command among its arguments as well.
    pub(super) fn perhaps_wrapped(&mut self, state: &State, scope: &Scope, call: &Call, base: &str) {
        let is_telling = |arg: &Arg| arg.as_str().is_some_and(|text| Trait::UnambiguousDanger.is_of(text));
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
    pub(super) fn inner(
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
                // A program passes its own data to the command of an option: `tar --to-command=sh`.
                if Trait::FeedsCommands.is_of(invocation.program.name()) {
                    state.set_descriptor(0, Descriptor::Input(Rc::new(Text::unknown(Why::File, base))));
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
    pub(super) fn show_environment(&mut self, state: &mut State, scope: &Scope, call: &Call) {
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
}
