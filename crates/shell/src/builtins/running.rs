//! `eval`, `source`, `trap`, `command`, `builtin`, `exec`: builtins that run other code.

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::found::{Origin, Wrapped};
use crate::run::{Call, looked_up};
use crate::scope::Scope;
use crate::state::{Descriptor, State, Trap, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::Span;
use crate::walk::{Leave, Walker};
use castellan_programs::base_name;

/// Traps that run between commands.
const BETWEEN: &[&str] = &["DEBUG", "ERR", "RETURN", "ZERR", "debug", "err", "return"];

/// Builtins that set or unset the variables among their arguments.
const SETTING: &[&str] = &["read", "printf -v", "mapfile", "let ", "((", "for ", "getopts", "unset"];

/// Builtins that run code whose text may set any variable.
const RUNNING: &[&str] = &["eval", "source", ". "];

/// Returns the names of variables that code sets: `x=1`, and every name in code with a builtin that sets some.
fn set_names(code: &str) -> Vec<&str> {
    let sets_others = SETTING.iter().any(|builtin| code.contains(builtin));
    let is_name = |one: char| one == '_' || one.is_ascii_alphanumeric();
    let mut names = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(is_name) {
        let (before, from) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let (name, after) =
            from.split_at_checked(from.find(|one| !is_name(one)).unwrap_or(from.len())).unwrap_or((from, ""));
        let is_value = before.ends_with(['$', '{']);
        if crate::literals::is_name(name)
            && !is_value
            && (sets_others || after.starts_with(['=', '[']) || after.starts_with("+="))
        {
            names.push(name);
        }
        rest = after;
    }
    names
}

/// Returns true for a signal name: `trap` with only a signal resets it.
fn is_signal(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_digit() || one.is_ascii_uppercase() || one == '+')
}

impl Walker<'_> {
    pub(super) fn eval(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let mut code = Text::default();
        let arguments = call.arguments();
        let skipped = usize::from(arguments.first().and_then(Arg::as_str) == Some("--"));
        for (number, arg) in arguments.iter().skip(skipped).enumerate() {
            if number > 0 {
                code.push_str(" ");
            }
            match looked_up(arg) {
                Some(name) => code.push_str(name),
                None => code.push(&Text::from(arg)),
            }
        }
        let scope = scope.redirected(call.redirects);
        self.run_text(state, &scope, &code, Origin::Argument, call.span);
    }

    pub(super) fn source(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let mut arguments = call.arguments();
        if arguments.first().and_then(Arg::as_str) == Some("--") {
            arguments = arguments.get(1..).unwrap_or_default();
        }
        let Some((file, rest)) = arguments.split_first() else { return };
        // Arguments of `source` apply only inside; without arguments, a `set --` inside is permanent.
        let before = (!rest.is_empty()).then(|| state.positionals.clone());
        match file.as_str().and_then(|path| state.opened(path)) {
            Some(Descriptor::Input(code)) => with_arguments(self, state, rest, |walker, state| {
                walker.leaving(Leave::Function, state, |walker, state| {
                    walker.run_text(state, scope, &code, Origin::Stdin, call.span);
                });
            }),
            Some(_) => {
                self.gap(scope, Role::Code, Why::Input, &file.written(), call.span);
                state.forget_most(Why::Input);
            }
            None => with_arguments(self, state, rest, |walker, state| {
                walker.source_file(state, scope, &call, file);
            }),
        }
        if let Some(before) = before {
            state.positionals = before;
        }
        state.status = None;
    }

    pub(super) fn trap(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let mut arguments = call.arguments();
        while let Some(option) = arguments.first().and_then(Arg::as_str)
            && matches!(option, "--" | "-p" | "-l" | "-P")
        {
            arguments = arguments.get(1..).unwrap_or_default();
        }
        state.status = Some(true);
        let Some((code, signals)) = arguments.split_first() else { return };
        let resets = code.as_str().is_some_and(|text| text == "-" || text.is_empty() || is_signal(text));
        if resets || signals.is_empty() {
            return;
        }
        let signals: Vec<&str> = signals.iter().map(|signal| signal.as_str().unwrap_or("DEBUG")).collect();
        self.set_trap(state, scope, Text::from(code), &signals, call.span);
    }

    /// Sets the code that runs on signals.
    pub(crate) fn set_trap(
        &mut self,
        state: &mut State,
        scope: &Scope,
        code: Text,
        signals: &[&str],
        span: Span,
    ) {
        let is_between = signals.iter().any(|signal| BETWEEN.contains(signal));
        if is_between {
            state.passing.get_or_insert_default();
        }
        // In zsh and ksh, a function has its own `EXIT`.
        let is_shared = state.hidden.is_empty() || matches!(state.options.shell, Shell::Bash | Shell::Posix);
        if !(is_shared && signals.iter().all(|signal| matches!(*signal, "EXIT" | "0"))) {
            self.set_by_trap(state, &code.written());
        }
        let source = std::rc::Rc::clone(&scope.source);
        self.add_trap(state, Trap { code, span, source, is_between });
    }

    /// Variables that the code of a trap sets have any value from now on: the code runs between any two commands.
    fn set_by_trap(&mut self, state: &mut State, code: &str) {
        let mut texts = vec![code.to_owned()];
        for (name, functions) in state.functions.iter() {
            // Without work, the next statement is a gap.
            if !self.work.spend_bytes(code.len()) {
                break;
            }
            if code.contains(&**name) {
                texts.extend(functions.iter().flatten().map(|function| function.written().to_owned()));
            }
        }
        for text in texts {
            self.work.spend_bytes(text.len());
            if RUNNING.iter().any(|builtin| text.contains(builtin)) {
                state.forget_all(Why::Dynamic);
            }
            for name in set_names(&text) {
                if !self.work.spend(1) {
                    return;
                }
                state.set(name, Value::Unknown(Why::Dynamic));
                state.change(name, |variable| variable.attributes.changes = true);
            }
        }
    }

    pub(super) fn command_builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        let mut at = 1;
        let mut asks = false;
        while let Some(text) = call.argv.get(at).and_then(Arg::as_str) {
            match text {
                "-p" => at += 1,
                "-x" if state.options.shell == Shell::Ksh => at += 1,
                "-v" | "-V" | "-pv" | "-pV" => {
                    asks = true;
                    at += 1;
                }
                "--" => {
                    at += 1;
                    break;
                }
                _ => break,
            }
        }
        if asks || at >= call.argv.len() {
            self.emit(state, scope, &call);
            self.output(state, scope, &call, "command");
            state.status = None;
            return;
        }
        self.peeled(state, scope, &call, at, true);
    }

    pub(super) fn builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        let at = 1 + usize::from(call.argv.get(1).and_then(Arg::as_str) == Some("--"));
        // `builtin` of ksh loads and removes builtins.
        if at >= call.argv.len() || state.options.shell == Shell::Ksh {
            self.emit(state, scope, &call);
            return;
        }
        self.peeled(state, scope, &call, at, true);
    }

    pub(super) fn exec(&mut self, state: &mut State, scope: &Scope, call: Call) {
        let mut at = 1;
        while let Some(text) = call.argv.get(at).and_then(Arg::as_str) {
            match text {
                "--" => {
                    at += 1;
                    break;
                }
                "-a" => at += 2,
                "-" if state.options.shell == Shell::Zsh => at += 1,
                text if text.starts_with('-') && text.len() > 1 => {
                    at += 1 + usize::from(text.ends_with('a'));
                }
                _ => break,
            }
        }
        if at >= call.argv.len() {
            self.emit(state, scope, &call);
            state.status = Some(true);
            return;
        }
        // A shell has the options of the shell whose name it is given.
        let is_renamed =
            at > 1 && call.argv.get(at).and_then(Arg::as_str).is_some_and(|name| name.ends_with("zsh"));
        let outer = state.options;
        state.options.starts_splitting |= is_renamed;
        self.peeled(state, scope, &call, at, false);
        state.options.starts_splitting = outer.starts_splitting;
        self.leaves(Leave::Shell, state, false);
    }

    /// Runs the command after a wrapper builtin. Ignores functions.
    fn peeled(&mut self, state: &mut State, scope: &Scope, call: &Call, at: usize, builtins: bool) {
        let (own, rest) = call.argv.split_at_checked(at).unwrap_or((&call.argv, &[]));
        let name = own.first().map(|name| name.written().into_owned()).unwrap_or_default();
        let wrapper = Wrapped { name: base_name(&name).to_owned(), argv: own.to_vec(), neutral: true };
        let Some(scope) = self.around(scope, wrapper, call) else { return };
        if !self.enter() {
            self.gap(&scope, Role::Code, Why::Nesting, "", call.span);
            return;
        }
        let next = call.with(rest.to_vec());
        match next.argv.first().and_then(Arg::as_str).map(str::to_owned).filter(|_| builtins) {
            Some(name) => self.found(state, &scope, next, &name),
            None => self.started(state, &scope, next),
        }
        self.leave();
    }
}

/// Runs `read` with its own positional parameters. Without arguments, a `set --` inside is permanent.
fn with_arguments(
    walker: &mut Walker<'_>,
    state: &mut State,
    arguments: &[Arg],
    read: impl FnOnce(&mut Walker<'_>, &mut State),
) {
    if arguments.is_empty() {
        return read(walker, state);
    }
    let certain = !arguments.iter().any(Arg::splits);
    let own = certain.then(|| std::rc::Rc::new(arguments.iter().map(Text::from).collect()));
    let before = std::mem::replace(&mut state.positionals, own);
    read(walker, state);
    state.positionals = before;
}
