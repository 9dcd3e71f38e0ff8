//! [`Reading`]: what a program text would do, as a list of [`Act`]s. Must not know how acts are found, nor what paths
//! mean.

use std::borrow::Cow;
use std::ops::Range;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::Arg;
use serde::{Deserialize, Serialize};

use crate::language::Language;

/// How a program is started, as far as it is known.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Start {
    /// The program's own file, when it has one: `__file__`, `__filename`.
    pub file: Option<String>,
    /// Arguments without interpreter and program; `None` if unknown. An argument that splits may be several or none.
    pub args: Option<Vec<Arg>>,
    /// The directory in which the program starts.
    pub cwd: Option<String>,
    /// The user's home directory.
    pub home: Option<String>,
    /// Environment variables that are known.
    pub env: Vec<(String, Arg)>,
}

/// What a program text would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The acts, in the order in which the run found them. This is the program's order where it has one.
    pub acts: Vec<Act>,
    /// Modules that the program loads by name, each once. The reading trusts these names. A file of the same name
    /// beside the program would be loaded instead.
    pub modules: Vec<String>,
}

/// One act of a program text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Act {
    /// The bytes of the text that cause the act. For decoded text: the bytes of the place that runs it.
    pub span: Range<usize>,
    /// The kind of the act.
    pub what: What,
}

/// The kind of an [`Act`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum What {
    /// The program does this itself.
    Effect {
        /// The kind of effect.
        kind: EffectKind,
        /// The operand.
        on: Operand,
        /// The effect includes subdirectories.
        recursive: bool,
    },
    /// The program runs another program with these arguments, without a shell.
    Command {
        /// The program and its arguments.
        argv: Vec<Arg>,
        /// The working directory, if it is not that of the program itself.
        cwd: Option<Arg>,
        /// Variables that replace or extend the program's own.
        env: Vec<(String, Arg)>,
        /// The standard input, when the program sets it.
        stdin: Option<Arg>,
    },
    /// The program runs text in a shell.
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
    /// The program runs a file of a language: `runpy.run_path`, `require('./x')`. The path may lack the extension.
    Script {
        /// The language.
        language: Language,
        /// The file.
        path: Arg,
    },
    /// The program loads a module that no table has: the first of `files` that exists, seen from the program's own
    /// directory (from the working directory if the program has no file). If none exists, nothing is known of the
    /// module.
    Module {
        /// The module's name.
        name: String,
        /// Relative paths.
        files: Vec<String>,
    },
    /// The program runs SQL in a database.
    Sql {
        /// The database: `sqlite`, `postgres`, `mysql`; empty if unknown.
        system: Cow<'static, str>,
        /// The statements.
        text: Arg,
    },
    /// The program changes its working directory. Relative paths of later acts start from it.
    Directory(Arg),
    /// The program sets an environment variable for itself and its child processes.
    Variable {
        /// The name, if it is known.
        name: Arg,
        /// The value.
        value: Arg,
    },
    /// A part was not understood.
    Hole {
        /// The role of this part.
        role: Role,
        /// The reason.
        why: Why,
        /// The text of this part, shortened.
        written: String,
    },
    /// The program sends a request that may change something. It also has an effect for the transport.
    Request {
        /// The method of HTTP.
        method: Arg,
        /// The address; `None` if it is unknown.
        url: Option<Arg>,
        /// What is sent: values as JSON, and headers.
        body: Arg,
    },
    /// The program calls a member of a service's library.
    Call {
        /// The member with the way to it: `boto3.client.rds.delete_db_instance`.
        name: String,
        /// The address of the service, if it is given.
        url: Option<Arg>,
    },
}

/// The operand of an effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// Nothing that the text names.
    Nothing,
    /// A path.
    Path(Arg),
    /// A file that is written, or a directory that receives a file of the source's name.
    Into {
        /// The path.
        path: Arg,
        /// The file that is copied or moved.
        source: Arg,
    },
    /// A new link to another path.
    Link {
        /// The link.
        path: Arg,
        /// The target.
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
    /// A part of a system, such as `sqlite`.
    System {
        /// The system.
        system: Cow<'static, str>,
        /// The operation.
        verb: Cow<'static, str>,
    },
}
