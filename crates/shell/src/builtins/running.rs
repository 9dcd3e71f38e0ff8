//! `eval`, `source`, `trap`, `command`, `builtin`, `exec`: builtins that run other code.

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::found::{Origin, Wrapped};
use crate::run::{Call, looked_up};
use crate::scope::Scope;
use crate::state::{Descriptor, State, Trap};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::{Leave, Walker};
use castellan_programs::base_name;

/// Traps that run between commands.
const BETWEEN: &[&str] = &["DEBUG", "ERR", "RETURN", "ZERR", "debug", "err", "return"];

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
        let is_between = signals.iter().any(|signal| match signal.as_str() {
            Some(name) => BETWEEN.contains(&name),
            None => true,
        });
        if is_between {
            state.passing.get_or_insert_default();
        }
        let source = std::rc::Rc::clone(&scope.source);
        self.add_trap(state, Trap { code: Text::from(code), span: call.span, source, is_between });
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
        if at >= call.argv.len() {
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
        self.peeled(state, scope, &call, at, false);
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
