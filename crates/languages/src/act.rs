//! [`Reading`]: what a program text would do, as a list of [`Act`]s. It must not know how they were found, nor what paths
//! mean.

use std::ops::Range;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::Arg;

use crate::language::Language;

/// How a program is started, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The program's own file, when it has one: `__file__`, `__filename__`.
    pub file: Option<String>,
    /// Its arguments, without the interpreter and the program; `None`: not known. One that splits may be any number of them.
    pub args: Option<Vec<Arg>>,
    /// The directory that it starts in.
    pub cwd: Option<String>,
    /// The user's home.
    pub home: Option<String>,
    /// Environment variables that are known.
    pub env: Vec<(String, Arg)>,
}

/// What a program text would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// What it does, in the order in which it was found: that of the run where it has one.
    pub acts: Vec<Act>,
    /// Modules that it loads and that are taken for what their names say, each once. A file of that name beside the program
    /// would be loaded in their place.
    pub modules: Vec<String>,
}

/// One thing that a program text does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Act {
    /// The bytes of the text that say it. What was made of decoded text stands where that is run.
    pub span: Range<usize>,
    /// What it does.
    pub what: What,
}

/// What an [`Act`] does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum What {
    /// It does this itself.
    Effect {
        /// What.
        kind: EffectKind,
        /// What it does it to.
        on: Operand,
        /// It goes down into directories.
        recursive: bool,
    },
    /// It runs a program with these arguments; no shell reads them.
    Command {
        /// The program and its arguments.
        argv: Vec<Arg>,
        /// Where, when not where the program itself is.
        cwd: Option<Arg>,
        /// Variables that it is given; they replace or add to the program's own.
        env: Vec<(String, Arg)>,
        /// What it reads from standard input, when that is given.
        stdin: Option<Arg>,
    },
    /// It has a shell read and run text.
    Shell {
        /// The text.
        text: Arg,
        /// As for [`What::Command`].
        cwd: Option<Arg>,
        /// As for [`What::Command`].
        env: Vec<(String, Arg)>,
        /// As for [`What::Command`].
        stdin: Option<Arg>,
    },
    /// It runs a file of a language: `runpy.run_path`, `require('./x')`. A name without its ending may be meant.
    Script {
        /// The language.
        language: Language,
        /// The file.
        path: Arg,
    },
    /// It loads a module that no table knows. It is one of `files`, the first that exists, from the program's own directory (from
    /// the working directory if it has no file); else nothing is known of it.
    Module {
        /// Its name.
        name: String,
        /// Relative paths.
        files: Vec<String>,
    },
    /// It has a database read and run SQL.
    Sql {
        /// Which: `sqlite`, `postgres`, `mysql`; empty when it is not known.
        system: &'static str,
        /// The statements.
        text: Arg,
    },
    /// It changes its working directory: relative paths of later acts are below it.
    Directory(Arg),
    /// It sets an environment variable for itself and what it starts.
    Variable {
        /// Its name, if that is known.
        name: Arg,
        /// Its value.
        value: Arg,
    },
    /// A part was not understood.
    Hole {
        /// What it stands for.
        role: Role,
        /// Why not.
        why: Why,
        /// What stands there, shortened.
        written: String,
    },
}

/// What an effect is done to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Nothing that the text names.
    Nothing,
    /// A path.
    Path(Arg),
    /// A file that is written, or a directory into which a file of this name goes.
    Into {
        /// The path.
        path: Arg,
        /// The file that is copied or moved.
        source: Arg,
    },
    /// A path that is made to lead to another.
    Link {
        /// The path that is made.
        path: Arg,
        /// Where it leads.
        to: Arg,
    },
    /// A host.
    Host {
        /// Its name or address.
        host: Arg,
        /// The port.
        port: Option<Arg>,
    },
    /// A URL.
    Url(Arg),
    /// A process.
    Process(Arg),
    /// Something of a system, such as `sqlite`.
    System {
        /// The system.
        system: &'static str,
        /// What is done there.
        verb: &'static str,
    },
}
