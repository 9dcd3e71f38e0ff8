//! What a language's libraries do, as data: modules, the types of what they give, and their functions. `build.rs` makes the
//! tables of `models/*.toml`. It must not know how programs are read.

use castellan_event::{EffectKind, Why};

use crate::language::Language;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// All that is known of a language's libraries.
#[derive(Debug)]
pub(crate) struct Table {
    /// The module whose members need no import.
    pub(crate) global: &'static str,
    pub(crate) modules: &'static [Space],
    /// Every name of a module, in order, and which one it is.
    pub(crate) modules_by_name: &'static [(&'static str, usize)],
    pub(crate) types: &'static [Space],
    /// The same of types.
    pub(crate) types_by_name: &'static [(&'static str, usize)],
    /// Modules without access to files, processes and the network.
    pub(crate) inert: &'static [&'static str],
    /// Members by which anything can be reached from anything.
    pub(crate) escapes: &'static [&'static str],
    /// Methods that say what they do even if it is not known of what they are.
    pub(crate) methods: Space,
    /// Endings of files that are modules.
    pub(crate) files: &'static [&'static str],
}

/// A module, or a type: what stands below one name.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) names: &'static [&'static str],
    pub(crate) entries: &'static [Entry],
    /// Every name of an entry, in order, and which one it is.
    pub(crate) by_name: &'static [(&'static str, usize)],
    /// Members that do nothing, in order; `*` for all the others.
    pub(crate) inert: &'static [&'static str],
}

/// A function or value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) names: &'static [&'static str],
    /// `None`: it is a value, and no function.
    pub(crate) parameters: Option<&'static [Parameter]>,
    /// Effects on nothing that an argument names.
    pub(crate) does: &'static [Does],
    /// The type of what it gives.
    pub(crate) gives: &'static str,
    /// Why what it gives is not known.
    pub(crate) why: Option<Why>,
    /// How its value is computed; a name of `compute.rs`.
    pub(crate) computes: &'static str,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    /// Its names, with `/` between them.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) parts: &'static [Part],
    /// Without the argument it is this one.
    pub(crate) default: Option<&'static str>,
}

/// Which arguments are a parameter's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// What the method belongs to.
    Receiver,
    One,
    Rest,
    /// Only one with its name.
    Named,
}

/// An effect, and the path that it is on; what `*` ends is not known further.
#[derive(Debug)]
pub(crate) struct Does {
    pub(crate) kind: EffectKind,
    pub(crate) path: &'static str,
    pub(crate) system: &'static str,
    pub(crate) verb: &'static str,
}

/// What is done with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Read,
    /// A path, or a URL that is fetched.
    ReadOrUrl,
    Write,
    /// A file that is written, or a directory into which what is read goes.
    Into,
    Delete,
    Execute,
    Permission,
    /// The path that is made to lead to [`Part::To`].
    Link,
    To,
    /// It goes down into directories.
    Tree,
    /// It goes down into directories if this is true.
    IsTree,
    /// A path that is opened in the [`Part::Mode`].
    Open,
    Mode,
    /// A host, or host and port, that is connected to; a path for a local socket.
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
    /// The program.
    Program,
    /// Its arguments, or a list of them.
    Arguments,
    /// Its arguments, of which the first is its name for itself.
    Named,
    /// That name, which says what some programs do.
    Called,
    Shell,
    /// A shell reads the text if this is true.
    IsShell,
    /// The file of the program, whose name is then no more than what it is told that it is called; of the shell, if one reads
    /// the text.
    Instead,
    Cwd,
    Env,
    Stdin,
    /// The file that standard input is.
    StdinFile,
    /// Code of this language.
    Code,
    /// A file with code of this language, or the code if [`Part::IsCode`].
    Worker,
    /// The text itself is the code if this is true.
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
    /// It becomes code or objects in a way that the text does not tell.
    Opaque,
    /// What is sent.
    Body,
    /// It may be anything; nothing is done with it.
    Any,
    /// A function, or the name of one, that is called later with anything.
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

    /// Whether a module, or the package that it is in, does nothing.
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

    /// The entry of a member of a type: its own, or that of all others, `*`.
    pub(crate) fn member(&self, name: &str) -> Option<&'static Entry> {
        self.entry(name).or_else(|| self.entry("*").filter(|_| !self.inert.contains(&name)))
    }

    pub(crate) fn is_inert(&self, member: &str) -> bool {
        self.has_inert(member) || self.has_inert("*")
    }

    /// Whether it is said of this very member that it does nothing.
    pub(crate) fn has_inert(&self, member: &str) -> bool {
        self.inert.binary_search(&member).is_ok()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Whether anything in it does something, or nothing is known of it.
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
    /// Whether an argument of this name is its.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name.split('/').any(|one| one == name)
    }

    /// Whether what it is given becomes code in a way that is not followed.
    pub(crate) fn is_opaque(&self) -> bool {
        self.parts.contains(&Part::Opaque)
    }
}

impl Entry {
    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Whether it is a method of what it is called on.
    pub(crate) fn takes_receiver(&self) -> bool {
        self.parameters().iter().any(|parameter| parameter.takes == Takes::Receiver)
    }

    /// Whether a shell reads what it is given.
    pub(crate) fn takes_shell_text(&self) -> bool {
        self.parameters().iter().any(|parameter| parameter.parts.contains(&Part::Shell))
    }

    /// Whether calling it does something.
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
