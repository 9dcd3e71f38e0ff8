//! `export`, `declare`, `local`, `readonly`, `typeset`, `unset`, with expanded words. This module must not know words.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::found::Origin;
use crate::literals::is_name;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Function, Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::Span;
use crate::walk::Walker;

/// An operand of a declaration.
#[derive(Debug, Clone)]
pub(crate) enum Declared {
    /// An option or a name.
    Word(Arg),
    /// `NAME=value`
    Assigned {
        name: String,
        /// `Some(None)`: the key is unknown.
        key: Option<Option<Key>>,
        append: bool,
        value: Value,
    },
}

impl Declared {
    /// Converts a word that became an assignment only after expansion.
    pub(crate) fn of_arg(arg: &Arg) -> Declared {
        let assigned = arg.prefix().split_once('=').and_then(|(left, _)| {
            let append = left.ends_with('+');
            let name = left.strip_suffix('+').unwrap_or(left);
            let value = arg.strip_prefix(left)?.strip_prefix("=")?;
            // The key of `a[key]=value` is not parsed.
            let (name, key) = match name.split_once('[') {
                Some((array, _)) => (array, Some(None)),
                None => (name, None),
            };
            is_name(name).then(|| Declared::Assigned {
                name: name.to_owned(),
                key,
                append,
                value: Value::Scalar(Text::from(&value)),
            })
        });
        assigned.unwrap_or_else(|| Declared::Word(arg.clone()))
    }
}

/// The options of a declaration.
#[derive(Debug, Default, Clone, Copy)]
struct Options {
    export: Option<bool>,
    reference: Option<bool>,
    lower: bool,
    upper: bool,
    integer: bool,
    array: bool,
    keyed: bool,
    readonly: bool,
    functions: bool,
    global: bool,
    /// The name is that of a type, whose declarations it begins: `enum x=(a b)`, `typeset -T x=(...)` of ksh.
    types: bool,
    prints: bool,
    ties: bool,
    /// An attribute that is not modelled changes each value.
    changes: bool,
}

impl Walker<'_> {
    pub(super) fn declare_builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let builtin = call.argv.first().and_then(Arg::as_str).unwrap_or_default().to_owned();
        let declared: Vec<Declared> = call.arguments().iter().map(Declared::of_arg).collect();
        self.declare(state, scope, &builtin, &declared, call.span);
    }

    /// Applies a declaration. A quoted operand may be an array: `declare -a 'a=(x y)'`.
    pub(crate) fn declare(
        &mut self,
        state: &mut State,
        scope: &Scope,
        builtin: &str,
        declared: &[Declared],
        span: Span,
    ) {
        // Outside of functions, `local` is an error. What runs the whole text may be a function.
        let is_outside = builtin == "local" && state.hidden.is_empty() && state.options.shell != Shell::Zsh;
        let before = is_outside.then(|| self.fork(state));
        let mut options = Options::default();
        match builtin {
            "export" => options.export = Some(true),
            "readonly" => options.readonly = true,
            "integer" => options.integer = true,
            "float" => options.changes = true,
            "enum" => options.types = true,
            "nameref" => options.reference = Some(true),
            _ => {}
        }
        for one in declared {
            self.work.spend(4 + std::mem::take(&mut state.spent));
            if !self.goes_on(scope, span) {
                break;
            }
            match one {
                Declared::Word(arg) => match arg.as_str() {
                    // The options of a function are those before it again when it ends.
                    Some("-") if builtin == "local" => state.options.is_local = true,
                    Some(text) if text.len() > 1 && text.starts_with(['-', '+']) => {
                        options.read(state.options.shell, builtin, text)
                    }
                    Some(name) if is_name(name) => {
                        self.declare_one(state, scope, builtin, options, name, None, span);
                    }
                    Some(_) => {}
                    // The variable is unknown, so any variable may change.
                    None => state.forget_all(Why::Dynamic),
                },
                Declared::Assigned { name, value: Value::Scalar(text), .. }
                    if text.written().starts_with('(') && is_array(state, options, name) =>
                {
                    self.declare_one(state, scope, builtin, options, name, None, span);
                    let mut code = Text::known(format!("{name}="));
                    code.push(text);
                    self.run_text(state, scope, &code, Origin::Argument, span);
                }
                Declared::Assigned { name, key, append, value } => {
                    let assigned = Some((key.clone(), *append, value.clone()));
                    self.declare_one(state, scope, builtin, options, name, assigned, span);
                }
            }
        }
        state.status = Some(true);
        if let Some(mut before) = before {
            before.status = Some(false);
            self.joins(state, before);
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is a different thing, and nothing else holds them together"
    )]
    #[expect(clippy::option_option, reason = "no key and one that is not known are different things")]
    fn declare_one(
        &mut self,
        state: &mut State,
        scope: &Scope,
        builtin: &str,
        options: Options,
        name: &str,
        assigned: Option<(Option<Option<Key>>, bool, Value)>,
        span: Span,
    ) {
        // zsh: `typeset -T` ties a text to an array. `select` evaluates its line for an integer `REPLY`.
        let is_tied = options.ties && state.options.shell == Shell::Zsh;
        if is_tied || (options.integer && name == "REPLY") {
            self.gap(scope, Role::Code, Why::Unsupported, name, span);
        }
        if options.types {
            state.functions.insert(name.into(), vec![Some(Rc::new(Function::unknown(Why::Unsupported)))]);
        }
        if options.functions {
            state.options.functions_exported |= options.export == Some(true);
            return;
        }
        let inside = !state.hidden.is_empty();
        // zsh: an exported variable is that of the whole shell (zshoptions, GLOBAL_EXPORT).
        let is_exported = options.export == Some(true) && state.options.shell == Shell::Zsh;
        let options = Options { global: options.global || is_exported, ..options };
        let local = builtin == "local" || (matches!(builtin, "declare" | "typeset") && !options.global);
        if local && inside {
            state.hide(name);
        } else if assigned.is_none() && options.export == Some(true) && state.variable(name).is_none() {
            let absent = state.absent();
            state.set(name, absent);
        }
        if let Some((_, _, Value::Scalar(text))) = &assigned
            && (options.integer || options.reference == Some(true))
        {
            self.evaluated(state, scope, text, span);
        }
        if options.reference == Some(true) {
            return refer(state, name, assigned.map(|(_, _, value)| value));
        }
        state.change(name, |variable| {
            let attributes = &mut variable.attributes;
            attributes.reference &= options.reference != Some(false);
            if options.lower || options.upper {
                attributes.lower = options.lower;
                attributes.upper = options.upper;
            }
            attributes.integer |= options.integer;
            attributes.changes |= options.changes;
            attributes.keyed |= options.keyed;
            variable.exported = options.export.unwrap_or(variable.exported);
        });
        match assigned {
            Some((key, append, value)) => {
                self.evaluated_for(state, scope, name, &value, span);
                if key.is_some() {
                    // The key may be that of a definition.
                    if state.is_table(name) {
                        self.gap(scope, Role::Code, Why::Dynamic, name, span);
                    }
                    state.remember(name, &value);
                }
                self.assign_value(state, name, key, append, value);
            }
            None if options.array || options.keyed => {
                // The environment contains no arrays.
                if matches!(self.pick(state, name), Value::Unset | Value::Unknown(Why::Variable)) {
                    state.set(name, Value::array([]));
                }
            }
            None => {}
        }
        if options.readonly {
            state.change(name, |variable| variable.attributes.readonly = true);
        }
        self.run_by_shell(state, scope, name, span);
        self.report_set(state, scope, name, span);
    }

    pub(super) fn unset_builtin(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let mut functions = false;
        let mut reference = false;
        for arg in call.arguments() {
            match arg.as_str() {
                Some("-f") => functions = true,
                Some("-v") => functions = false,
                Some("-n") => reference = true,
                Some(name) if functions => state.functions.remove(name),
                Some(name) => match name.split_once('[') {
                    Some((table, key)) if state.is_table(table) => {
                        let key = key.trim_end_matches(']').trim_matches(['"', '\'']);
                        undefine(state, table, key);
                    }
                    Some((array, key)) => self.unset_element(state, array, key.trim_end_matches(']')),
                    None => self.unset_one(state, name, reference),
                },
                None => state.forget_all(Why::Dynamic),
            }
        }
        state.status = Some(true);
    }

    fn unset_element(&mut self, state: &mut State, array: &str, key: &str) {
        let keyed = state.variable(array).is_some_and(|variable| variable.attributes.keyed);
        let key = if keyed { Some(Key::Name(key.to_owned())) } else { key.parse().ok().map(Key::Number) };
        let value = match (self.pick(state, array), key) {
            (Value::Array(elements), Some(key)) if key >= Key::Number(0) && !state.has_zsh_arrays() => {
                let mut left = (*elements).clone();
                left.remove(&key);
                Value::Array(Rc::new(left))
            }
            (Value::Unset, _) => return,
            _ => Value::Unknown(Why::Expansion),
        };
        state.set(array, value);
    }

    fn unset_one(&mut self, state: &mut State, name: &str, reference: bool) {
        // Without a variable of this name, `unset` removes the function.
        if state.functions.contains(name) && state.variable(name).is_none() {
            state.functions.remove(name);
            return;
        }
        let meant = if reference { Some(name.into()) } else { state.meant(name) };
        match meant {
            Some(name) => state.unset(&name),
            None => state.forget_all(Why::Dynamic),
        }
    }
}

/// Makes a variable a reference. Sets the reference itself, not its target.
fn refer(state: &mut State, name: &str, value: Option<Value>) {
    state.change(name, |variable| {
        variable.attributes.reference = true;
        match value {
            Some(value) => variable.values = vec![value],
            None if variable.values == [Value::Unknown(Why::Variable)] => {
                variable.values = vec![Value::Unset]
            }
            None => {}
        }
    });
}

/// `unset 'functions[f]'` removes the function.
fn undefine(state: &mut State, table: &str, key: &str) {
    match table {
        "functions" => state.functions.remove(key),
        "aliases" | "BASH_ALIASES" => state.aliases.remove(key),
        "commands" | "BASH_CMDS" => state.hashed.remove(key),
        _ => {}
    }
}

/// Reports whether `name=(...)` in quotes is an array.
fn is_array(state: &State, options: Options, name: &str) -> bool {
    let is_known = |value: &Value| matches!(value, Value::Array(_));
    let was_array = || state.variable(name).is_some_and(|variable| variable.values.iter().any(is_known));
    options.array || options.keyed || was_array()
}

impl Options {
    fn read(&mut self, shell: Shell, builtin: &str, text: &str) {
        let on = text.starts_with('-');
        for letter in text.chars().skip(1) {
            match letter {
                'x' => self.export = Some(on),
                // `export -n` removes the export; `declare -n` makes a reference.
                'n' if builtin == "export" => self.export = Some(false),
                'n' => self.reference = Some(on),
                'l' => self.lower = on,
                'u' => self.upper = on,
                'i' => self.integer = on,
                'a' => self.array = on,
                'A' => self.keyed = on,
                'r' => self.readonly = on,
                'T' if shell == Shell::Zsh => self.ties = on,
                // `-F` of zsh and ksh makes numbers with a fraction.
                'F' if matches!(shell, Shell::Zsh | Shell::Ksh) => self.changes = on,
                'T' if shell == Shell::Ksh => self.types = on,
                'f' | 'F' => self.functions = on,
                'g' => self.global = on,
                'p' => self.prints = on,
                // Case, width, base, uniqueness.
                'c' | 'Z' | 'L' | 'R' | 'U' | 'E' | 'T' | '0'..='9' => self.changes = on,
                _ => {}
            }
        }
    }
}
