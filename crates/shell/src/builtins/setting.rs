//! `set`, `shift`, `shopt`, `alias`, `unalias`, `hash`, `let`, `fc`: builtins that change the shell itself.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::limits::ENTRIES_PER_WORK;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::DIRECTORIES;
use crate::state::{Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;
use crate::walk::past::PARAMETERS;

/// The bash option for patterns that match hidden names.
pub(crate) const DOTGLOB: &str = "dotglob";

/// Reserved words. An alias of this name changes the form of the commands after it.
const RESERVED: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "end", "esac", "fi", "for", "foreach",
    "function", "if", "in", "repeat", "select", "then", "time", "until", "while", "{", "}",
];

impl Walker<'_> {
    pub(super) fn set_builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        if matches!(state.options.shell, Shell::Zsh | Shell::Ksh) && self.sets_array(state, &call) {
            state.status = Some(true);
            return;
        }
        let arguments = call.arguments();
        let mut at = 0;
        let mut sets = false;
        while let Some(arg) = arguments.get(at) {
            let Some(text) = arg.as_str() else {
                sets = true;
                break;
            };
            match text {
                "--" => {
                    at += 1;
                    sets = true;
                    break;
                }
                "-" => {
                    at += 1;
                    sets = at < arguments.len();
                    break;
                }
                text if text.len() > 1 && text.starts_with(['-', '+']) => {
                    at += 1;
                    let on = text.starts_with('-');
                    for letter in text.chars().skip(1) {
                        match letter {
                            'f' => state.options.literal_patterns = on,
                            'B' => state.options.set_braces(on),
                            'a' => state.options.export_all = on,
                            'y' if state.options.shell == Shell::Zsh => state.options.splits |= on,
                            'H' if on => self.expands_history(scope, &call),
                            // Assignments after the command are its environment.
                            'k' if on => self.gap(scope, Role::Code, Why::Unsupported, "-k", call.span),
                            'o' => {
                                match arguments.get(at).and_then(Arg::as_str) {
                                    Some("noglob") => state.options.literal_patterns = on,
                                    Some("braceexpand") => state.options.set_braces(on),
                                    Some("allexport") => state.options.export_all = on,
                                    Some("posix") if on => state.options.aliases = None,
                                    Some("histexpand") if on => self.expands_history(scope, &call),
                                    Some(name) if state.options.shell == Shell::Zsh => {
                                        super::set_option(state, name, on);
                                    }
                                    Some(_) | None => {}
                                }
                                at += 1;
                            }
                            _ => {}
                        }
                    }
                }
                _ => {
                    sets = true;
                    break;
                }
            }
        }
        if sets {
            let values = arguments.get(at..).unwrap_or_default();
            let certain = !values.iter().any(Arg::splits);
            if state.hidden.is_empty() {
                state.remember(PARAMETERS, &Value::array(values.iter().map(Text::from)));
            }
            state.positionals = certain.then(|| Rc::new(values.iter().map(Text::from).collect()));
        }
        state.status = Some(true);
    }

    /// Reports that `!!` now expands to another line, from the history or from a file.
    fn expands_history(&mut self, scope: &Scope, call: &Call) {
        self.gap(scope, Role::Code, Why::Unsupported, "histexpand", call.span);
    }

    /// `fc -l` prints the history; every other form runs lines of it.
    pub(super) fn fc(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let option = |arg: &Arg| arg.as_str().is_some_and(|text| text.starts_with('-') && text.contains('l'));
        if !call.arguments().iter().any(option) {
            self.gap(scope, Role::Code, Why::Dynamic, "fc", call.span);
            state.forget_most(Why::Dynamic);
        }
        self.unknown_output(state, scope, &call, Why::Substitution);
        state.status = None;
    }

    pub(super) fn shift(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        // zsh also takes names of arrays.
        let names =
            call.arguments().iter().filter_map(Arg::as_str).filter(|name| crate::literals::is_name(name));
        for name in names.filter(|_| state.options.shell == Shell::Zsh).collect::<Vec<_>>() {
            state.set(name, Value::Unknown(Why::Expansion));
        }
        let count = match call.arguments() {
            [] => Some(1),
            [one] => one.as_str().and_then(|text| text.parse::<usize>().ok()),
            _ => None,
        };
        let copied = state.positionals.as_ref().map_or(0, |values| values.len());
        self.work.spend(copied as u64 / ENTRIES_PER_WORK);
        state.positionals = match (&state.positionals, count) {
            (Some(values), Some(count)) if count <= values.len() => {
                Some(Rc::new(values.iter().skip(count).cloned().collect()))
            }
            (Some(values), Some(_)) => Some(Rc::clone(values)),
            _ => None,
        };
        state.status = None;
    }

    pub(super) fn shopt(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let mut on = None;
        for arg in call.arguments() {
            match arg.as_str() {
                Some(letters) if letters.starts_with('-') => {
                    on = letters
                        .contains('s')
                        .then_some(true)
                        .or(letters.contains('u').then_some(false))
                        .or(on);
                }
                // `-o`: the options of `set`.
                Some("noglob") => state.options.literal_patterns &= on != Some(false),
                Some("braceexpand") => state.options.set_braces(on == Some(true)),
                Some("nocaseglob") => state.options.any_case = on == Some(true),
                Some("lastpipe") => state.options.last_pipe = on == Some(true),
                // Off, it is still on in the rest of the line.
                Some("expand_aliases" | "posix") => {
                    state.options.aliases = match on {
                        Some(true) => on,
                        Some(false) => None,
                        None => state.options.aliases,
                    };
                }
                Some("interactive_comments") if on == Some(false) => {
                    self.gap(scope, Role::Code, Why::Unsupported, "interactive_comments", call.span);
                }
                Some("nocasematch" | "xpg_echo") => state.options.is_unmodelled = true,
                Some(DOTGLOB) => state.options.hidden_names = on.unwrap_or(state.options.hidden_names),
                Some(_) => {}
                None => {
                    state.options.aliases = None;
                    state.options.hidden_names |= on != Some(false);
                }
            }
        }
        state.status = None;
    }

    pub(super) fn alias_builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let elsewhere = call.arguments().iter().any(|arg| matches!(arg.as_str(), Some("-g" | "-s")));
        if elsewhere && state.options.shell == Shell::Zsh {
            // Such an alias expands anywhere in a command, or selects a program for a file suffix.
            self.gap(scope, Role::Code, Why::Unsupported, "alias", call.span);
        }
        for arg in call.arguments() {
            let Some((name, _)) = arg.prefix().split_once('=') else { continue };
            if state.options.aliases != Some(false) && RESERVED.contains(&name) {
                // Its commands have the form that the word begins only after the alias.
                self.gap(scope, Role::Code, Why::Unsupported, &arg.written(), call.span);
            }
            let body = arg.as_str().and_then(|text| text.split_once('='));
            match body {
                Some((_, body)) => {
                    self.alias_lines.insert(name.to_owned(), self.line);
                    // The rest of the line still has the alias before.
                    let mut bodies = vec![Some(Text::known(body))];
                    let before = state.aliases.get(name).into_iter().flatten();
                    bodies.extend(before.take(1).cloned());
                    state.aliases.insert(name.into(), bodies);
                }
                None => {
                    let why = arg.why().unwrap_or_default();
                    self.gap(scope, Role::Code, why, &arg.written(), call.span);
                }
            }
        }
        state.status = Some(true);
    }

    pub(super) fn unalias(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        for arg in call.arguments() {
            match arg.as_str() {
                Some("-a") => state.aliases = crate::state::Table::default(),
                // The rest of the line still has the alias, and the command may fail.
                Some(name) => {
                    let mut bodies = vec![None];
                    bodies.extend(
                        state.aliases.get(name).into_iter().flatten().flatten().take(1).cloned().map(Some),
                    );
                    state.aliases.insert(name.into(), bodies);
                }
                None => {}
            }
        }
        state.status = None;
    }

    pub(super) fn hash(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let (option, rest) = match call.arguments().split_first() {
            Some((option, rest)) => (option.as_str(), rest),
            None => (None, &[][..]),
        };
        // zsh: `hash NAME=PATH`.
        if state.options.shell == Shell::Zsh {
            let pairs = call.arguments().iter().filter_map(|arg| {
                let (name, _) = arg.prefix().split_once('=')?;
                Some((name, arg.strip_prefix(name)?.strip_prefix("=")?))
            });
            for (name, path) in pairs {
                let path = path.strip_prefix("=").unwrap_or(path);
                if option == Some("-d") {
                    let key = Key::Name(name.to_owned());
                    self.set_element(state, DIRECTORIES, key, Text::from(&path), false);
                } else {
                    state.hashed.insert(name.into(), vec![Some(Text::from(&path))]);
                }
            }
        }
        let letters = option.filter(|option| option.starts_with('-')).unwrap_or_default();
        if letters.contains('r') {
            state.hashed = crate::state::Table::default();
        }
        match letters.split_once('p') {
            Some((_, "")) => {
                if let Some((path, names)) = rest.split_first() {
                    remember_path(state, &Text::from(path), names);
                }
            }
            Some((_, path)) => remember_path(state, &Text::known(path), rest),
            None if letters.contains('d') => {
                rest.iter().filter_map(Arg::as_str).for_each(|name| state.hashed.remove(name));
            }
            None => {}
        }
        state.status = Some(true);
    }

    pub(super) fn let_builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        for arg in call.arguments() {
            let mut trial = self.fork(state);
            match arg.as_str().and_then(|text| self.number(&mut trial, scope, text)) {
                Some(_) => *state = trial,
                None => self.forget_assigned(state, arg),
            }
        }
        state.status = None;
    }

    fn forget_assigned(&mut self, state: &mut State, arg: &Arg) {
        match arg.prefix().split(|one: char| !one.is_ascii_alphanumeric() && one != '_').next() {
            Some(name) if crate::literals::is_name(name) => {
                state.set(name, Value::Unknown(Why::Arithmetic));
            }
            Some(_) | None => state.forget_all(Why::Arithmetic),
        }
    }
}

/// `hash -p PATH NAME...`
fn remember_path(state: &mut State, path: &Text, names: &[Arg]) {
    for name in names.iter().filter_map(Arg::as_str) {
        state.hashed.insert(name.into(), vec![Some(path.clone())]);
    }
}
