//! [`State`]: what is known of the shell at one point of the text: variables, functions, directory, descriptors. Branches
//! work on copies, which are cheap, and are joined again. It must not know how any of it is expanded.

mod files;
mod join;
mod table;
mod variables;

use std::collections::BTreeMap;
use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Arg;

use crate::limits::{COPIED_PER_WORK, ENTRIES_PER_WORK};
use crate::scope::Source;
use crate::start::{Dialect, Start};
use crate::text::Text;
use crate::tree::{Script, Statement};

pub(crate) use files::Held;
pub(crate) use join::join;
pub(crate) use table::Table;
pub(crate) use variables::{Attributes, Key, Value, Variable};

/// The shell at one point of the text.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) variables: Table<Rc<Variable>>,
    /// Why a variable that is not in the table may have a value; `None`: it is not set.
    pub(crate) absent: Option<Why>,
    /// The home that the text began with.
    pub(crate) home: Option<Rc<str>>,
    /// The functions that a name may stand for; `None` among them: perhaps none.
    pub(crate) functions: Table<Vec<Option<Rc<Function>>>>,
    /// What a name may be an alias of; `None` among them: perhaps none.
    pub(crate) aliases: Table<Vec<Option<Text>>>,
    /// The programs that `hash -p` may have given a name; `None` among them: perhaps none.
    pub(crate) hashed: Table<Vec<Option<Text>>>,
    /// The directories that it may be in; `None` among them: any.
    pub(crate) directories: Vec<Option<Rc<str>>>,
    /// Where it would be if the last `cd` had failed.
    pub(crate) directories_before: Option<Vec<Option<Rc<str>>>>,
    pub(crate) stack: Rc<Vec<Option<Rc<str>>>>,
    /// `$1`, `$2`, ...; `None` when not even their number is known.
    pub(crate) positionals: Option<Rc<Vec<Text>>>,
    pub(crate) name: Rc<Text>,
    pub(crate) descriptors: Rc<BTreeMap<u32, Descriptor>>,
    pub(crate) options: Options,
    /// For each function that is being called, the variables as they were before `local`.
    pub(crate) hidden: Rc<Vec<Table<Option<Rc<Variable>>>>>,
    /// What was written to each place that collects output, innermost last: the texts that it may be.
    pub(crate) collected: Rc<Vec<Vec<Text>>>,
    pub(crate) traps: Rc<Vec<Trap>>,
    /// Files that were written, by their absolute paths.
    pub(crate) files: Table<Held>,
    /// Whether the last command succeeded.
    pub(crate) status: Option<bool>,
    /// Nothing after this runs: `exit`, `return`, `break` came before.
    pub(crate) ended: bool,
    /// Units of work that changing it has cost, for whoever walks to pay.
    pub(crate) spent: u64,
}

/// Options of the shell that change how text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) dialect: Dialect,
    /// `set -f`
    pub(crate) literal_patterns: bool,
    /// `dotglob`: patterns stand for hidden names, too. Perhaps, where branches differ.
    pub(crate) hidden_names: bool,
    /// `set +B`
    pub(crate) literal_braces: bool,
    /// Aliases are expanded; `None`: perhaps.
    pub(crate) aliases: Option<bool>,
    /// `set -a`
    pub(crate) export_all: bool,
    /// `export -f` was used: shells that are started know the functions.
    pub(crate) functions_exported: bool,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) body: Body,
    pub(crate) source: Rc<Source>,
    /// Which one it is, among those of the walk.
    pub(crate) number: usize,
}

impl Function {
    /// One of which nothing is known.
    fn unknown(why: Why) -> Function {
        let source = Rc::new(Source { text: "".into(), place: None, file: None });
        Function { body: Body::Unknown(why), source, number: usize::MAX }
    }

    fn is_unknown(self: &Rc<Function>) -> bool {
        matches!(self.body, Body::Unknown(_))
    }
}

/// What a function runs.
#[derive(Debug)]
pub(crate) enum Body {
    /// It is not known.
    Unknown(Why),
    /// A part of the text.
    Statement(Box<Statement>),
    /// One that was known before the text began.
    Text(Rc<str>),
}

/// Commands that run when a signal arrives, or at the end.
#[derive(Debug, Clone)]
pub(crate) struct Trap {
    pub(crate) code: Text,
    pub(crate) span: crate::tree::Span,
    pub(crate) source: Rc<Source>,
}

impl PartialEq for Trap {
    fn eq(&self, other: &Trap) -> bool {
        self.span == other.span && Rc::ptr_eq(&self.source, &other.source) && self.code == other.code
    }
}

/// Where a descriptor leads.
#[derive(Debug, Clone)]
pub(crate) enum Descriptor {
    /// What the shell was started with.
    Inherited,
    /// Text that is read: a heredoc, a pipe, `<( )`. What was read is gone.
    Input(Rc<Text>),
    /// Output that is collected, at this position of [`State::collected`].
    Collected(usize),
    /// Commands that read what is written: `>( )`.
    Process(Rc<Process>),
    /// A file that is read, or one whose path is not known.
    File(Rc<Arg>),
    /// A file that is written, by its absolute path.
    Written(Rc<str>),
    /// Closed, or not known.
    Unknown,
}

/// `>( )`: commands, and where what is written to them is collected.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) body: Script,
    pub(crate) source: Rc<Source>,
    pub(crate) collected: usize,
    /// Which one it is, among those of the walk.
    pub(crate) number: usize,
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
        // A shell sets these itself, whatever its environment says.
        set("IFS", " \t\n", false);
        set("OPTIND", "1", false);
        if let Some(cwd) = &start.cwd {
            set("PWD", cwd, true);
        }
        let mut aliases = Table::default();
        for (name, body) in &start.aliases {
            aliases.insert(name.as_str().into(), vec![Some(Text::known(body.as_str()))]);
        }
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
            name: Rc::new(Text::known(match start.dialect {
                Dialect::Bash => "bash",
                Dialect::Zsh => "zsh",
                Dialect::Posix => "sh",
            })),
            descriptors: Rc::default(),
            options: Options {
                dialect: start.dialect,
                literal_patterns: false,
                hidden_names: false,
                literal_braces: false,
                aliases: match (start.dialect, start.aliases.is_empty()) {
                    (Dialect::Bash, true) => None,
                    (Dialect::Bash, false) | (Dialect::Zsh | Dialect::Posix, _) => Some(true),
                },
                export_all: false,
                functions_exported: false,
            },
            hidden: Rc::default(),
            collected: Rc::default(),
            traps: Rc::default(),
            files: Table::default(),
            status: Some(true),
            ended: false,
            spent: 0,
        }
    }

    /// Where a descriptor leads.
    pub(crate) fn descriptor(&self, number: u32) -> Descriptor {
        match self.descriptors.get(&number) {
            Some(found) => found.clone(),
            None if number <= 2 => Descriptor::Inherited,
            None => Descriptor::Unknown,
        }
    }

    pub(crate) fn set_descriptor(&mut self, number: u32, descriptor: Descriptor) {
        self.spent += self.descriptors.len() as u64 / ENTRIES_PER_WORK;
        Rc::make_mut(&mut self.descriptors).insert(number, descriptor);
    }

    /// Adds to the output that is collected at a position.
    pub(crate) fn collect(&mut self, at: usize, text: &Text) {
        self.spent += self.collected.len() as u64 / ENTRIES_PER_WORK;
        if let Some(texts) = Rc::make_mut(&mut self.collected).get_mut(at) {
            for collected in texts {
                self.spent += collected.len() as u64 / COPIED_PER_WORK;
                collected.push(text);
            }
        }
    }

    /// Whether names, arguments and descriptors stand for the same in another shell.
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

    /// What is read from any descriptor is not known any more.
    pub(crate) fn forget_inputs(&mut self) {
        for descriptor in Rc::make_mut(&mut self.descriptors).values_mut() {
            if matches!(descriptor, Descriptor::Input(_)) {
                *descriptor = Descriptor::Unknown;
            }
        }
    }

    /// What was collected is not known any more.
    pub(crate) fn collect_unknown(&mut self) {
        for texts in Rc::make_mut(&mut self.collected) {
            if texts.iter().any(|text| !text.pieces().is_empty()) {
                *texts = vec![Text::unknown(Why::Substitution, "")];
            }
        }
    }

    /// The value of `PWD` that belongs to the directories.
    pub(crate) fn directory_value(&self) -> Value {
        match self.directories.as_slice() {
            [Some(directory)] => Value::Scalar(Text::known(&**directory)),
            _ => Value::Unknown(Why::Dynamic),
        }
    }

    /// Begins to collect, and says at which position.
    pub(crate) fn begin_collecting(&mut self) -> usize {
        let collected = Rc::make_mut(&mut self.collected);
        collected.push(vec![Text::default()]);
        collected.len() - 1
    }

    /// What was collected at a position.
    pub(crate) fn collected_at(&self, at: usize) -> Vec<Text> {
        self.collected.get(at).cloned().unwrap_or_default()
    }
}
