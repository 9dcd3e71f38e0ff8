//! [`State`]: the known state of the shell at one point of the text: variables, functions, directory, descriptors.
//! Branches work on cheap copies, which are joined afterwards. This module must not know how values are expanded.

mod descriptors;
mod files;
mod join;
mod past;
mod table;
mod variables;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use castellan_event::Why;
pub(crate) use descriptors::{Descriptor, Process};
pub(crate) use files::Held;
pub(crate) use join::join;
pub(crate) use table::Table;
pub(crate) use variables::{Attributes, DIRECTORIES, Key, Value, Variable};

use crate::scope::Source;
use crate::start::Start;
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::Statement;

/// The shell state at one point of the text.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) variables: Table<Rc<Variable>>,
    /// The reason that a variable missing from the table may have a value; `None`: the variable is unset.
    pub(crate) absent: Option<Why>,
    /// The home directory at the start of the text.
    pub(crate) home: Option<Rc<str>>,
    /// Possible functions for each name; a `None` entry means possibly no function.
    pub(crate) functions: Table<Vec<Option<Rc<Function>>>>,
    /// Possible alias bodies for each name; a `None` entry means possibly no alias.
    pub(crate) aliases: Table<Vec<Option<Text>>>,
    /// Programs that `hash -p` may have assigned to a name; a `None` entry means possibly none.
    pub(crate) hashed: Table<Vec<Option<Text>>>,
    /// Possible working directories; a `None` entry means any directory.
    pub(crate) directories: Vec<Option<Rc<str>>>,
    /// Possible working directories if the last `cd` had failed.
    pub(crate) directories_before: Option<Vec<Option<Rc<str>>>>,
    pub(crate) stack: Rc<Vec<Option<Rc<str>>>>,
    /// `$1`, `$2`, ...; `None` if even the count is unknown.
    pub(crate) positionals: Option<Rc<Vec<Text>>>,
    pub(crate) name: Rc<Text>,
    pub(crate) descriptors: Rc<BTreeMap<u32, Descriptor>>,
    pub(crate) options: Options,
    /// Per active function call: the variables as they were before `local`.
    pub(crate) hidden: Rc<Vec<Table<Option<Rc<Variable>>>>>,
    /// Per output collector: the possible collected texts; innermost collector last.
    pub(crate) collected: Rc<Vec<Vec<Text>>>,
    pub(crate) traps: Rc<Vec<Trap>>,
    /// Values of variables since a trap that runs between commands was set; nothing without such a trap.
    pub(crate) passing: Option<Rc<BTreeMap<Rc<str>, Vec<Value>>>>,
    past: Rc<RefCell<past::Past>>,
    /// Written files, by absolute path.
    pub(crate) files: Table<Held>,
    /// True if the last command succeeded; `None` if unknown.
    pub(crate) status: Option<bool>,
    /// True if nothing after this point runs, because of `exit`, `return` or `break`.
    pub(crate) ended: bool,
    /// Units of work spent on changes of the state; the walker charges them to its budget.
    pub(crate) spent: u64,
}

/// Shell options that affect parsing and expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// The shell that runs the text.
    pub(crate) shell: Shell,
    /// Another shell that may run the text reads it whole. So the text is meant for that one, and where this one finds
    /// an error of syntax, it stops.
    pub(crate) is_other: bool,
    /// zsh splits values at blanks: `setopt shwordsplit`.
    pub(crate) splits: bool,
    /// A started zsh splits values: `zsh -y`.
    pub(crate) starts_splitting: bool,
    /// Arrays of zsh begin at 0, and an array without an index is its first element: `setopt ksharrays`.
    pub(crate) ksh_arrays: bool,
    /// An option of zsh is set whose effect on braces and arrays is not modelled.
    pub(crate) is_unmodelled: bool,
    /// `^`, `#` and `~` are operators of patterns: `setopt extendedglob`.
    pub(crate) extended_patterns: bool,
    /// `=` at the beginning of a word is text: `unsetopt equals`.
    pub(crate) literal_equals: bool,
    /// A shell started now expands no braces: `bash +B`.
    pub(crate) starts_literal: bool,
    /// Patterns match names in another case: `shopt -s nocaseglob`.
    pub(crate) any_case: bool,
    /// zsh expands `~` after `=` in arguments: `setopt magicequalsubst`.
    pub(crate) magic_equals: bool,
    /// `shopt -s lastpipe`
    pub(crate) last_pipe: bool,
    /// `local -`: the options last as long as the function.
    pub(crate) is_local: bool,
    /// `set -f`
    pub(crate) literal_patterns: bool,
    /// `dotglob`: patterns also match hidden names. True if set in at least one branch.
    pub(crate) hidden_names: bool,
    /// `set +B`
    pub(crate) literal_braces: bool,
    /// The text switched braces off: it may have failed to.
    pub(crate) perhaps_braces: bool,
    /// True if aliases are expanded; `None` if unknown.
    pub(crate) aliases: Option<bool>,
    /// `set -a`
    pub(crate) export_all: bool,
    /// True after `export -f`: child shells know the functions.
    pub(crate) functions_exported: bool,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) body: Body,
    pub(crate) source: Rc<Source>,
    /// Index among the functions of the walk.
    pub(crate) number: usize,
}

impl Function {
    /// Returns a function about which nothing is known.
    pub(crate) fn unknown(why: Why) -> Function {
        let source = Rc::new(Source { text: "".into(), place: None, file: None });
        Function { body: Body::Unknown(why), source, number: usize::MAX }
    }

    /// Returns the text of the body.
    pub(crate) fn written(&self) -> &str {
        match &self.body {
            Body::Unknown(_) => "",
            Body::Statement(body) => self.source.written(body.span),
            Body::Text(text) => text,
        }
    }

    pub(crate) fn is_unknown(self: &Rc<Function>) -> bool {
        matches!(self.body, Body::Unknown(_))
    }
}

/// The body of a function.
#[derive(Debug)]
pub(crate) enum Body {
    /// The body is unknown.
    Unknown(Why),
    /// A statement of the text.
    Statement(Box<Statement>),
    /// A body known before the text began.
    Text(Rc<str>),
}

/// Commands that run on a signal or at the end.
#[derive(Debug, Clone)]
pub(crate) struct Trap {
    pub(crate) code: Text,
    pub(crate) span: crate::tree::Span,
    pub(crate) source: Rc<Source>,
    /// Runs between commands (`DEBUG`, `ERR`, `RETURN`), with the values of then.
    pub(crate) is_between: bool,
}

impl PartialEq for Trap {
    fn eq(&self, other: &Trap) -> bool {
        self.span == other.span && Rc::ptr_eq(&self.source, &other.source) && self.code == other.code
    }
}

impl Options {
    /// Switches braces on, or perhaps off: a command that does so may fail.
    pub(crate) fn set_braces(&mut self, on: bool) {
        self.literal_braces = !on;
        self.perhaps_braces |= !on;
    }

    /// Returns the options with which a shell starts.
    fn of(shell: Shell, has_aliases: bool) -> Options {
        Options {
            shell,
            is_other: false,
            splits: shell != Shell::Zsh,
            starts_splitting: false,
            ksh_arrays: false,
            is_unmodelled: false,
            extended_patterns: false,
            literal_equals: false,
            starts_literal: false,
            any_case: false,
            magic_equals: false,
            last_pipe: matches!(shell, Shell::Zsh | Shell::Ksh),
            is_local: false,
            literal_patterns: false,
            hidden_names: false,
            literal_braces: shell == Shell::Posix,
            perhaps_braces: false,
            aliases: match (shell, !has_aliases) {
                // `zsh -c` parses all of its text before it defines an alias.
                (Shell::Bash | Shell::Zsh, true) => None,
                (Shell::Bash | Shell::Zsh, false) | (Shell::Posix | Shell::Ksh, _) => Some(true),
            },
            export_all: false,
            functions_exported: false,
        }
    }
}

impl State {
    pub(crate) fn new(start: &Start) -> State {
        let mut variables: Table<Rc<Variable>> = Table::default();
        let mut set = |name: &str, value: &str, exported: bool| {
            let mut variable = Variable::of(Value::Scalar(Text::known(value)));
            variable.exported = exported;
            variables.insert(name.into(), Rc::new(variable));
        };
        if let Some(home) = &start.home {
            set("HOME", home, true);
        }
        for (name, value) in &start.env {
            set(name, value, true);
        }
        // A shell sets these variables itself and ignores its environment for them.
        set("IFS", " \t\n", false);
        set("OPTIND", "1", false);
        if let Some(cwd) = &start.cwd {
            set("PWD", cwd, true);
        }
        let mut aliases = Table::default();
        for (name, body) in &start.aliases {
            aliases.insert(name.as_str().into(), vec![Some(Text::known(body.as_str()))]);
        }
        let shell = start.shells.first().copied().unwrap_or(Shell::Bash);
        State {
            variables,
            absent: (!start.complete_env).then_some(Why::Variable),
            home: start.home.as_deref().map(Rc::from),
            functions: Table::default(),
            aliases,
            hashed: Table::default(),
            directories: vec![start.cwd.as_deref().map(Rc::from)],
            directories_before: None,
            stack: Rc::default(),
            positionals: Some(Rc::default()),
            name: Rc::new(Text::known(match shell {
                Shell::Bash => "bash",
                Shell::Zsh => "zsh",
                Shell::Posix => "sh",
                Shell::Ksh => "ksh",
            })),
            descriptors: Rc::default(),
            options: Options::of(shell, !start.aliases.is_empty()),
            hidden: Rc::default(),
            collected: Rc::default(),
            traps: Rc::default(),
            passing: None,
            past: Rc::default(),
            files: Table::default(),
            status: Some(true),
            ended: false,
            spent: 0,
        }
    }

    /// Makes it the state of another shell. The same shell keeps its options.
    pub(crate) fn start_as(&mut self, shell: Shell) {
        if self.options.shell != shell {
            self.options.shell = shell;
            self.options.splits = shell != Shell::Zsh || self.options.starts_splitting;
            self.options.last_pipe = self.has_zsh_arrays() || shell == Shell::Ksh;
            self.options.literal_braces = shell == Shell::Posix || self.options.starts_literal;
        }
    }

    /// Reports whether arrays begin at 1 and are their elements without an index.
    pub(crate) fn has_zsh_arrays(&self) -> bool {
        self.options.shell == Shell::Zsh && !self.options.ksh_arrays
    }

    /// Returns true if names, arguments and descriptors have the same meaning in both states.
    pub(crate) fn means_the_same(&self, other: &State) -> bool {
        let positionals = match (&self.positionals, &other.positionals) {
            (Some(one), Some(other)) => Rc::ptr_eq(one, other) || one == other,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let descriptors = Rc::ptr_eq(&self.descriptors, &other.descriptors)
            || self.descriptors.len() == other.descriptors.len()
                && self.descriptors.iter().zip(other.descriptors.iter()).all(|(one, other)| {
                    let unknown = matches!((one.1, other.1), (Descriptor::Unknown, Descriptor::Unknown));
                    one.0 == other.0 && (unknown || one.1.same(other.1))
                });
        positionals
            && descriptors
            && self.options == other.options
            && self.aliases.alike(&other.aliases, PartialEq::eq)
            && self.hashed.alike(&other.hashed, PartialEq::eq)
            && self.functions.alike(&other.functions, |one, other| join::same_functions(one, other))
    }

    /// Returns the value of `PWD` for the current directories.
    pub(crate) fn directory_value(&self) -> Value {
        match self.directories.as_slice() {
            [Some(directory)] => Value::Scalar(Text::known(&**directory)),
            _ => Value::Unknown(Why::Dynamic),
        }
    }
}
