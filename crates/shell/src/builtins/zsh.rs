//! Builtins that only zsh and ksh have, or that mean more there: `setopt`, `emulate`, `autoload`, `zstyle`,
//! `print -P`. This module must not know words.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use super::DOTGLOB;
use crate::found::Origin;
use crate::outputs;
use crate::run::Call;
use crate::scope::{Scope, Source};
use crate::state::{Body, Function, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;

/// Options whose effect on words is not modelled: with one, braces and arrays have unknown values.
const UNMODELLED: &[&str] =
    &["octalzeroes", "rcexpandparam", "braceccl", "globsubst", "globassign", "histsubstpattern"];

impl Walker<'_> {
    /// `setopt`, `unsetopt`: an unknown name may be any option.
    pub(super) fn setopt(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let on = call.argv.first().and_then(Arg::as_str) != Some("unsetopt");
        for arg in call.arguments() {
            match arg.as_str() {
                Some(name) if !name.starts_with(['-', '+']) => set_option(state, name, on),
                // Letters, and patterns of names.
                Some(_) | None => {
                    state.options.hidden_names = true;
                    state.options.splits = true;
                    state.options.is_unmodelled = true;
                }
            }
        }
        state.status = None;
    }

    /// `print -P` expands its arguments like a prompt.
    pub(super) fn print(&mut self, state: &mut State, scope: &Scope, call: Call) {
        if state.options.shell == Shell::Zsh && call.arguments().iter().any(|arg| has_letter(arg, 'P')) {
            for arg in call.arguments() {
                self.prompt(state, scope, &Text::from(arg), call.span);
            }
        }
        let at = call.arguments().iter().position(|arg| arg.as_str() == Some("-v"));
        let is_joined = |arg: &Arg| has_letter(arg, 'v') && arg.as_str() != Some("-v");
        if state.options.shell == Shell::Zsh && call.arguments().iter().any(is_joined) {
            state.forget_all(Why::Dynamic);
        }
        let Some(at) = at else { return self.program(state, scope, call, "print") };
        self.emit(state, scope, &call);
        // `print -v NAME` assigns its output.
        let name = call.arguments().get(at + 1).and_then(Arg::as_str);
        let mut others = call.arguments().to_vec();
        others.drain(at..(at + 2).min(others.len()));
        let value = match outputs::computed("print", &others, None, state) {
            outputs::Made::Text(text) => Value::Scalar(text.without_last_newlines()),
            outputs::Made::Unknown(why) => Value::Unknown(why),
        };
        match name {
            Some(name) => state.set(name, value),
            None => state.forget_all(Why::Dynamic),
        }
        state.status = Some(true);
    }

    /// A builtin of a module of zsh that sets variables which its arguments name.
    pub(super) fn sets_any(&mut self, state: &mut State, scope: &Scope, call: Call) {
        if state.options.shell == Shell::Zsh {
            self.emit(state, scope, &call);
            state.forget_all(Why::Dynamic);
            state.status = None;
        } else {
            let name = call.argv.first().and_then(Arg::as_str).unwrap_or_default().to_owned();
            self.program(state, scope, call, &name);
        }
    }

    /// `zregexparse` runs the actions in its arguments: `{code}`.
    pub(super) fn zregexparse(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let actions = call.arguments().iter().filter(|arg| arg.prefix().starts_with(['{', '-']));
        for action in actions {
            self.run_text(state, scope, &Text::from(action), Origin::Argument, call.span);
        }
        state.forget_most(Why::Dynamic);
        state.status = None;
    }

    /// `emulate SHELL`, and `emulate SHELL -c CODE`, where the options last as long as the code.
    pub(super) fn emulate(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let code = call.arguments().iter().position(|arg| has_letter(arg, 'c'));
        let before = state.options;
        if let Some(shell) = call.arguments().iter().find(|arg| !arg.prefix().starts_with('-')) {
            let is_zsh = shell.as_str() == Some("zsh");
            state.options.splits = !is_zsh;
            state.options.ksh_arrays = !is_zsh;
            // Other options take the values that the shell has by itself, or those of `-o`.
            state.options.literal_equals = false;
            state.options.is_unmodelled |= call.arguments().iter().any(|arg| has_letter(arg, 'o'));
            state.options.splits |= state.options.is_unmodelled;
        }
        if let Some(code) = code.and_then(|at| call.arguments().get(at + 1)) {
            self.run_text(state, scope, &Text::from(code), Origin::Argument, call.span);
            state.options = before;
        }
        state.status = None;
    }

    /// `autoload NAME`: a function whose body is a file of `fpath`.
    pub(super) fn autoload(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        if call.arguments().iter().any(|arg| has_letter(arg, 'X')) {
            // The function that runs now gets its body from a file.
            self.gap(scope, Role::Code, Why::File, "autoload -X", call.span);
        }
        let names = call.arguments().iter().filter(|arg| !arg.prefix().starts_with(['-', '+']));
        for path in names.filter_map(Arg::as_str) {
            // It takes the place of a loaded one only at a call.
            let function = self.of_path(state, scope, path);
            let name = path.rsplit('/').next().unwrap_or(path);
            let function = function.unwrap_or_else(|| Rc::new(Function::unknown(Why::File)));
            state.functions.insert(name.into(), vec![Some(function)]);
        }
        state.status = None;
    }

    /// `functions -u NAME` is `autoload NAME`; `functions -c OLD NEW` copies a function.
    pub(super) fn functions(&mut self, state: &mut State, scope: &Scope, call: Call) {
        let args = call.arguments();
        if state.options.shell != Shell::Zsh {
            return self.program(state, scope, call, "functions");
        }
        if args.iter().any(|arg| has_letter(arg, 'u')) {
            return self.autoload(state, scope, call);
        }
        self.emit(state, scope, &call);
        if let [Some("-c"), Some(old), Some(new)] = args.iter().map(Arg::as_str).collect::<Vec<_>>()[..]
            && let Some(function) = state.functions.get(old).cloned()
        {
            state.functions.insert(new.into(), function);
        }
        self.unknown_output(state, scope, &call, Why::Substitution);
        state.status = None;
    }

    /// `zpty NAME COMMAND` runs a command in a terminal of its own.
    pub(super) fn zpty(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let args = call.arguments().iter().skip_while(|arg| arg.prefix().starts_with('-'));
        let mut code = Text::default();
        for arg in args.skip(1) {
            code.push(&Text::from(arg));
            code.push_str(" ");
        }
        let mut later = self.fork(state);
        self.run_text(&mut later, scope, &code, Origin::Argument, call.span);
        state.status = None;
    }

    /// Returns the function in the first directory of `fpath` (zsh) or `FPATH` with a file of this name.
    pub(crate) fn of_path(&mut self, state: &State, scope: &Scope, name: &str) -> Option<Rc<Function>> {
        let texts = ["fpath", "FPATH"].into_iter().filter_map(|name| state.variable(name));
        let mut directories = Vec::new();
        for value in texts.flat_map(|variable| &variable.values) {
            match value {
                Value::Array(elements) => directories.extend(elements.values().cloned()),
                Value::Scalar(text) => {
                    directories
                        .extend(text.as_str().into_iter().flat_map(|text| text.split(':')).map(Text::known));
                }
                Value::Unset | Value::Unknown(_) => {}
            }
        }
        let (name, directories) = match name.rsplit_once('/') {
            Some((directory, name)) => (name, vec![Text::known(directory)]),
            None => (name, directories),
        };
        for directory in directories {
            let path = format!("{}/{name}", directory.as_str()?);
            let Some(mut text) = self.file_text(state, &path) else { continue };
            let defines = [format!("function {name}"), format!("{name}("), format!("{name} (")];
            if defines.iter().any(|begin| text.contains(begin)) {
                // The file defines the function, which the shell then calls.
                text.push_str(&format!("\n{name} \"$@\""));
            }
            let text: Rc<str> = text.into();
            let source =
                Source { text: Rc::clone(&text), place: scope.source.place, file: Some(path.into()) };
            let (body, source, number) = (Body::Text(text), Rc::new(source), usize::MAX);
            return Some(Rc::new(Function { body, source, number }));
        }
        None
    }

    /// `zstyle -e PATTERN STYLE CODE` runs the code when the style is looked up; `zstyle -s ... NAME` sets a variable.
    pub(super) fn zstyle(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let args = call.arguments();
        match args.first().and_then(Arg::as_str) {
            Some("-e") => {
                for code in args.iter().skip(3) {
                    let mut later = self.fork(state);
                    self.run_text(&mut later, scope, &Text::from(code), Origin::Argument, call.span);
                }
            }
            Some("-s" | "-a" | "-b" | "-g") => {
                for name in args.iter().skip(1).filter_map(Arg::as_str) {
                    state.set(name, Value::Unknown(Why::Dynamic));
                }
            }
            Some(_) | None => {}
        }
        state.status = None;
    }

    /// `compgen -W WORDS` expands the words.
    pub(super) fn compgen(&mut self, state: &mut State, scope: &Scope, call: Call) {
        let args = call.arguments();
        for (option, value) in args.iter().zip(args.iter().skip(1)) {
            match option.as_str() {
                Some("-W") => self.prompt(state, scope, &Text::from(value), call.span),
                Some("-C") => {
                    // The command also gets its own name, the word and the word before it.
                    let mut code = Text::from(value);
                    code.push_str(" compgen \"$COMP_WORD\" ''");
                    let mut inner = self.fork(state);
                    inner.set("COMP_WORD", Value::Unknown(Why::Dynamic));
                    self.run_text(&mut inner, scope, &code, Origin::Argument, call.span);
                }
                Some(_) | None => {}
            }
        }
        self.program(state, scope, call, "compgen");
    }

    /// `set -A NAME VALUES` of zsh and ksh. Returns false if the arguments are others.
    pub(super) fn sets_array(&mut self, state: &mut State, call: &Call) -> bool {
        let args = call.arguments();
        let Some(first) = args.first().and_then(Arg::as_str) else { return false };
        let Some(attached) = first.strip_prefix(['-', '+']).and_then(|first| first.strip_prefix('A')) else {
            return false;
        };
        let (name, after) = match attached {
            "" => (args.get(1).and_then(Arg::as_str), 2),
            name => (Some(name), 1),
        };
        let Some(name) = name else { return false };
        let values = args.get(after..).unwrap_or_default();
        let values = match values.split_first() {
            Some((first, rest)) if matches!(first.as_str(), Some("-" | "--")) => rest,
            Some(_) | None => values,
        };
        // `+A` sets the first elements, and keeps the others.
        let is_known = !values.iter().any(Arg::splits) && first.starts_with('-');
        let value = Value::array(values.iter().map(Text::from));
        state.set(name, if is_known { value } else { Value::Unknown(Why::Expansion) });
        true
    }

    /// An unknown function of a hook that zsh calls after each `cd`: `chpwd`, and those that `chpwd_functions` names.
    pub(super) fn after_cd(&mut self, state: &mut State, scope: &Scope, call: &Call) {
        if state.options.shell != Shell::Zsh {
            return;
        }
        let mut names = vec!["chpwd".to_owned()];
        match self.pick(state, "chpwd_functions") {
            Value::Array(all) => {
                names.extend(all.values().filter_map(|text| text.as_str().map(str::to_owned)))
            }
            Value::Scalar(_) | Value::Unset => {}
            Value::Unknown(Why::Variable) => {}
            Value::Unknown(why) => self.gap(scope, Role::Code, why, "chpwd_functions", call.span),
        }
        for name in names {
            for function in state.functions.get(&name).cloned().into_iter().flatten().flatten() {
                self.call_function(
                    state,
                    scope,
                    &function,
                    &Call::new(Vec::new(), call.span),
                    Some(Vec::new()),
                );
            }
        }
    }
}

/// Sets an option of zsh. Case and underscores in its name mean nothing, and `no` before it the opposite.
pub(crate) fn set_option(state: &mut State, name: &str, on: bool) {
    let name = name.replace('_', "").to_ascii_lowercase();
    let (name, on) = match name.strip_prefix("no") {
        Some(rest) => (rest, !on),
        None => (name.as_str(), on),
    };
    let options = &mut state.options;
    match name {
        "globdots" | DOTGLOB => options.hidden_names = on,
        "shwordsplit" => options.splits = on,
        "ksharrays" => options.ksh_arrays = on,
        "caseglob" => options.any_case = !on,
        "magicequalsubst" => options.magic_equals = on,
        "equals" => options.literal_equals = !on,
        "ignorebraces" => options.set_braces(!on),
        "extendedglob" => options.extended_patterns = on,
        "glob" => options.literal_patterns = !on,
        name if UNMODELLED.contains(&name) => options.is_unmodelled = on,
        _ => {}
    }
}

fn has_letter(arg: &Arg, letter: char) -> bool {
    arg.as_str().is_some_and(|text| text.starts_with('-') && text.contains(letter))
}
