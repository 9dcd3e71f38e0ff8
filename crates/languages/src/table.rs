//! A language's libraries, as data: modules, types and functions. `build.rs` makes the tables from `models/*.toml`.
//! Must not know how programs are read.

use castellan_event::{EffectKind, Why};

use crate::language::Language;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The tables of one language.
#[derive(Debug)]
pub(crate) struct Table {
    /// The module whose members need no import.
    pub(crate) global: &'static str,
    pub(crate) modules: &'static [Space],
    /// Every name of a module, sorted, with the module's index.
    pub(crate) modules_by_name: &'static [(&'static str, usize)],
    pub(crate) types: &'static [Space],
    /// The same for types.
    pub(crate) types_by_name: &'static [(&'static str, usize)],
    /// Modules without access to files, processes and the network.
    pub(crate) inert: &'static [&'static str],
    /// Members that give access to anything.
    pub(crate) escapes: &'static [&'static str],
    /// Methods whose name is enough to know the effect, even if the receiver is unknown.
    pub(crate) methods: Space,
    /// Extensions of module files.
    pub(crate) files: &'static [&'static str],
}

/// A module or a type, with its members.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) names: &'static [&'static str],
    pub(crate) entries: &'static [Entry],
    /// Every name of an entry, sorted, with the entry's index.
    pub(crate) by_name: &'static [(&'static str, usize)],
    /// Members without effects, sorted; `*` for all the others.
    pub(crate) inert: &'static [&'static str],
}

/// A function or value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) names: &'static [&'static str],
    /// `None`: a value, and no function.
    pub(crate) parameters: Option<&'static [Parameter]>,
    /// Effects on nothing that an argument names.
    pub(crate) does: &'static [Does],
    /// The type of the result.
    pub(crate) gives: &'static str,
    /// The reason why the result is unknown.
    pub(crate) why: Option<Why>,
    /// The computation of the result; a name in `compute.rs`.
    pub(crate) computes: &'static str,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its names, separated by `/`.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) parts: &'static [Part],
    /// The value of an absent argument.
    pub(crate) default: Option<&'static str>,
}

/// The arguments that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// The object of the method call.
    Receiver,
    One,
    Rest,
    /// Only an argument with this name.
    Named,
}

/// An effect and its path; a path that ends in `*` is unknown from there on.
#[derive(Debug)]
pub(crate) struct Does {
    pub(crate) kind: EffectKind,
    pub(crate) path: &'static str,
    pub(crate) system: &'static str,
    pub(crate) verb: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Read,
    /// A path, or a URL that is fetched.
    ReadOrUrl,
    Write,
    /// A file that is written, or a directory that receives the file which is read.
    Into,
    Delete,
    Execute,
    Permission,
    /// A new link to [`Part::To`].
    Link,
    To,
    /// Includes subdirectories.
    Tree,
    /// Includes subdirectories if this argument is true.
    IsTree,
    /// A path that is opened in the [`Part::Mode`].
    Open,
    Mode,
    /// A host, or host and port, to connect to; a path for a local socket.
    Connect,
    Port,
    Listen,
    Download,
    Upload,
    /// A URL that is used by the [`Part::Method`].
    Request,
    Method,
    /// The program and its arguments in one list; text alone is the program.
    Argv,
    Program,
    /// Its arguments, or a list of them.
    Arguments,
    /// Its arguments; the first is `argv[0]`.
    Named,
    /// `argv[0]`, which selects the behaviour of some programs.
    Called,
    Shell,
    /// A shell reads the text if this argument is true.
    IsShell,
    /// The file of the program; `argv[0]` is then only a name. The file of the shell, if a shell reads the text.
    Instead,
    Cwd,
    Env,
    Stdin,
    /// The file that becomes standard input.
    StdinFile,
    /// Code of this language.
    Code,
    /// A file with code of this language, or the code itself if [`Part::IsCode`].
    Worker,
    /// The text itself is the code if this argument is true.
    IsCode,
    /// A file with code of this language.
    Script,
    /// A module's name.
    Module,
    Sql(&'static str),
    Signal,
    Directory,
    Name,
    Value,
    /// Loads code that is no text.
    Native,
    /// Becomes code or objects in a way that the text does not show.
    Opaque,
    /// The data that is sent.
    Body,
    /// Any value; it has no effect.
    Any,
    /// A function, or its name; the library calls it later with unknown arguments.
    Callback,
}

impl Table {
    pub(crate) fn of(language: Language) -> &'static Table {
        match language {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::Php => &PHP,
            Language::Lua => &LUA,
            Language::Perl => &PERL,
            Language::Ruby => &RUBY,
            Language::PowerShell => &POWERSHELL,
            Language::Batch => &BATCH,
            Language::AppleScript => &APPLESCRIPT,
        }
    }

    pub(crate) fn module(&self, name: &str) -> Option<&'static Space> {
        find(self.modules_by_name, self.modules, name)
    }

    pub(crate) fn kind(&self, name: &str) -> Option<&'static Space> {
        find(self.types_by_name, self.types, name)
    }

    /// Reports whether a module, or its package, has no effects.
    pub(crate) fn is_inert(&self, module: &str) -> bool {
        let mut name = module;
        loop {
            if self.inert.binary_search(&name).is_ok() {
                return true;
            }
            match name.rsplit_once(['.', '/']) {
                Some((package, _)) => name = package,
                None => return false,
            }
        }
    }
}

fn find<T>(by_name: &[(&str, usize)], all: &'static [T], name: &str) -> Option<&'static T> {
    let place = by_name.binary_search_by_key(&name, |(own, _)| *own).ok()?;
    all.get(by_name.get(place)?.1)
}

impl Space {
    pub(crate) fn entry(&self, name: &str) -> Option<&'static Entry> {
        find(self.by_name, self.entries, name)
    }

    /// Returns the entry of a type's member: its own, or the common entry `*`.
    pub(crate) fn member(&self, name: &str) -> Option<&'static Entry> {
        self.entry(name).or_else(|| self.entry("*").filter(|_| !self.inert.contains(&name)))
    }

    pub(crate) fn is_inert(&self, member: &str) -> bool {
        self.has_inert(member) || self.has_inert("*")
    }

    /// Reports whether the table lists this very member as inert.
    pub(crate) fn has_inert(&self, member: &str) -> bool {
        self.inert.binary_search(&member).is_ok()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Reports whether a member has effects, or nothing is known of the members.
    pub(crate) fn is_capable(&self) -> bool {
        let is_unknown = self.entries.is_empty() && self.inert.is_empty();
        is_unknown || self.entries.iter().any(Entry::is_capable)
    }
}

/// Computations that run code or reach other values.
const CAPABLE: &[&str] = &[
    "member",
    "set-member",
    "names",
    "code",
    "function",
    "load",
    "modules",
    "call",
    "include",
    "extract",
    "expression",
    "pattern-replace",
    "call-inner",
    "call-method",
    "load-code",
    "lost",
    "protected-call",
    "protected-call-with",
    "new-inner",
    "listed",
    "opened",
    "called",
    "searched",
    "vim-code",
];

impl Parameter {
    /// Reports whether the parameter has this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name.split('/').any(|one| one == name)
    }

    /// Reports whether the argument becomes code that is not followed.
    pub(crate) fn is_opaque(&self) -> bool {
        self.parts.contains(&Part::Opaque)
    }
}

impl Entry {
    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Reports whether it is a method of its receiver.
    pub(crate) fn takes_receiver(&self) -> bool {
        self.parameters().iter().any(|parameter| parameter.takes == Takes::Receiver)
    }

    /// Reports whether a shell reads an argument.
    pub(crate) fn takes_shell_text(&self) -> bool {
        self.parameters().iter().any(|parameter| parameter.parts.contains(&Part::Shell))
    }

    /// Reports whether a call has effects.
    pub(crate) fn is_capable(&self) -> bool {
        let acts = |parameter: &Parameter| parameter.parts.iter().any(|part| *part != Part::Any);
        !self.does.is_empty()
            || CAPABLE.contains(&self.computes)
            || self.parameters.is_some_and(|parameters| parameters.iter().any(acts))
    }

    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.parameters.unwrap_or_default()
    }
}
