//! Builtins of the shell and their effect on the shell state. This module must not know programs.

mod declaring;
mod directories;
mod reading;
mod running;
mod setting;
mod zsh;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::run::Call;
use crate::scope::Scope;
use crate::state::State;
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::{Leave, Walker};

pub(crate) use setting::DOTGLOB;

pub(crate) use declaring::Declared;
pub(crate) use zsh::set_option;

/// The implementation of a builtin.
pub(crate) type Builtin = fn(&mut Walker<'_>, &mut State, &Scope, Call);

/// Wraps a walker method as a table entry. The method itself would be bound to one lifetime of the walker's files.
macro_rules! method {
    ($name:ident) => {
        |walker, state, scope, call| walker.$name(state, scope, call)
    };
}

/// Builtins by name.
const BUILTINS: &[(&str, Builtin)] = &[
    (".", method!(source)),
    (":", method!(succeeds)),
    ("alias", method!(alias_builtin)),
    ("autoload", method!(autoload)),
    ("break", |walker, state, scope, call| walker.leaving_builtin(state, scope, &call, Leave::Loop)),
    ("builtin", method!(builtin)),
    ("cd", method!(cd)),
    ("chdir", method!(cd)),
    ("command", method!(command_builtin)),
    ("compgen", method!(compgen)),
    ("continue", |walker, state, scope, call| walker.leaving_builtin(state, scope, &call, Leave::Loop)),
    ("declare", method!(declare_builtin)),
    ("dirs", method!(unchanging)),
    ("emulate", method!(emulate)),
    ("eval", method!(eval)),
    ("exec", method!(exec)),
    ("exit", |walker, state, scope, call| walker.leaving_builtin(state, scope, &call, Leave::Shell)),
    ("export", method!(declare_builtin)),
    ("false", method!(fails)),
    ("fc", method!(fc)),
    ("float", method!(declare_builtin)),
    ("functions", method!(functions)),
    ("getln", method!(sets_any)),
    ("getopts", method!(getopts)),
    ("hash", method!(hash)),
    ("integer", method!(declare_builtin)),
    ("let", method!(let_builtin)),
    ("local", method!(declare_builtin)),
    ("logout", |walker, state, scope, call| walker.leaving_builtin(state, scope, &call, Leave::Shell)),
    ("mapfile", method!(mapfile)),
    ("nameref", method!(declare_builtin)),
    ("popd", method!(popd)),
    ("print", method!(print)),
    ("printf", method!(printf)),
    ("pushd", method!(pushd)),
    ("pwd", method!(pwd)),
    ("read", method!(read)),
    ("readarray", method!(mapfile)),
    ("readonly", method!(declare_builtin)),
    ("return", |walker, state, scope, call| walker.leaving_builtin(state, scope, &call, Leave::Function)),
    ("set", method!(set_builtin)),
    ("setopt", method!(setopt)),
    ("shift", method!(shift)),
    ("shopt", method!(shopt)),
    ("source", method!(source)),
    ("sysread", method!(sets_any)),
    ("trap", method!(trap)),
    ("true", method!(succeeds)),
    ("typeset", method!(declare_builtin)),
    ("unalias", method!(unalias)),
    ("unset", method!(unset_builtin)),
    ("unsetopt", method!(setopt)),
    ("wait", method!(unchanging)),
    ("zparseopts", method!(sets_any)),
    ("zpty", method!(zpty)),
    ("zregexparse", method!(zregexparse)),
    ("zstat", method!(sets_any)),
    ("zstyle", method!(zstyle)),
];

/// Returns the builtin of this name, if it changes the shell state. Other builtins are handled like programs.
pub(crate) fn find(name: &str) -> Option<Builtin> {
    BUILTINS.iter().find(|(one, _)| *one == name).map(|(_, builtin)| *builtin)
}

/// Builtins with variable names as operands, and the option before the name; `None`: every operand is a name.
const NAMING: &[(&str, Option<&str>)] = &[
    ("[", Some("-v")),
    ("declare", None),
    ("export", None),
    ("local", None),
    ("mapfile", None),
    ("printf", Some("-v")),
    ("read", None),
    ("readarray", None),
    ("readonly", None),
    ("test", Some("-v")),
    ("typeset", None),
    ("unset", None),
    ("wait", Some("-p")),
];

/// Builtins whose arguments zsh or ksh evaluates.
const EVALUATING: &[&str] = &[
    "[", "break", "continue", "exit", "float", "integer", "let", "print", "printf", "repeat", "return",
    "shift", "test", "typeset", "unset", "read", "local", "declare", "export", "readonly",
];

/// Builtins that set a variable which an argument names.
const SETTING: &[&str] = &[
    "declare",
    "export",
    "float",
    "getln",
    "getopts",
    "integer",
    "local",
    "mapfile",
    "nameref",
    "print",
    "printf",
    "read",
    "readarray",
    "readonly",
    "set",
    "strftime",
    "stat",
    "sysread",
    "typeset",
    "vared",
    "zformat",
    "zparseopts",
    "zstat",
];

/// Reports whether an argument names a table whose elements are definitions: `functions[f]`, `r=BASH_ALIASES`.
fn names_table(state: &State, arg: &Arg) -> bool {
    let text = arg.written();
    let is_element = text.split_once('[').is_some_and(|(name, _)| state.is_table(name));
    let is_target = text.split_once('=').is_some_and(|(_, name)| state.is_table(name));
    is_element || is_target || (state.options.shell == Shell::Zsh && text.as_ref() == "functions")
}

/// Returns true if a builtin prints variables, aliases or options. Unknown arguments may request that.
pub(crate) fn lists(name: &str, arguments: &[Arg]) -> bool {
    let Some(known) = arguments.iter().map(Arg::as_str).collect::<Option<Vec<&str>>>() else {
        return LISTING.contains(&name);
    };
    let option = |letters: &[char]| {
        known.iter().any(|one| one.strip_prefix('-').is_some_and(|rest| rest.contains(letters)))
    };
    match name {
        "alias" => known.is_empty() || known.iter().any(|one| !one.contains('=')),
        "cd" => known.contains(&"-"),
        "declare" | "export" | "local" | "readonly" | "typeset" => {
            option(&['p', 'f', 'F']) || known.iter().all(|one| one.starts_with(['-', '+']))
        }
        "hash" => known.is_empty() || option(&['l', 't']),
        "popd" | "pushd" => true,
        "set" => matches!(known.as_slice(), [] | ["-o" | "+o"]),
        "shopt" => option(&['p']) || !option(&['s', 'u']) || known.len() < 2,
        "trap" => known.is_empty() || option(&['p', 'l', 'P']),
        _ => false,
    }
}

const LISTING: &[&str] = &[
    "alias", "cd", "declare", "export", "hash", "local", "popd", "pushd", "readonly", "set", "shopt", "trap",
    "typeset",
];

impl Walker<'_> {
    /// Reports commands in array indices. An index is arithmetic, and bash runs its substitutions even if they were
    /// quoted: `test -v 'a[$(rm x)]'`.
    ///
    /// zsh and ksh evaluate the arguments of most builtins: `exit`, `[ x -eq 1 ]`, `printf %d`.
    pub(crate) fn indices(&mut self, state: &State, scope: &Scope, call: &Call, name: &str) {
        let args = call.arguments();
        if SETTING.contains(&name) {
            let table = args.iter().find(|arg| names_table(state, arg));
            table
                .into_iter()
                .for_each(|arg| self.gap(scope, Role::Code, Why::Dynamic, &arg.written(), call.span));
        }
        if matches!(state.options.shell, Shell::Zsh | Shell::Ksh) && EVALUATING.contains(&name) {
            let texts = args.iter().map(Text::from).collect();
            return self.reached(state, scope, texts, call.span);
        }
        let Some((_, option)) = NAMING.iter().find(|(one, _)| *one == name) else { return };
        let is_named = |at: usize| {
            option.is_none_or(|option| {
                at.checked_sub(1)
                    .and_then(|before| args.get(before))
                    .is_some_and(|arg| arg.as_str() == Some(option))
            })
        };
        for (_, arg) in args.iter().enumerate().filter(|(at, _)| is_named(*at)) {
            let name = match arg.as_str() {
                Some(text) => Text::known(text.split('=').next().unwrap_or(text)),
                None => Text::from(arg),
            };
            if name.written().contains('[') {
                self.reached(state, scope, vec![name], call.span);
            }
        }
    }

    fn succeeds(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        state.status = Some(true);
    }

    fn fails(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        state.status = Some(false);
    }

    fn unchanging(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        self.unknown_output(state, scope, &call, Why::Substitution);
        state.status = None;
    }

    fn leaving_builtin(&mut self, state: &mut State, scope: &Scope, call: &Call, kind: Leave) {
        self.emit(state, scope, call);
        let every = kind == Leave::Loop && !call.arguments().is_empty();
        self.leaves(kind, state, every);
    }
}
