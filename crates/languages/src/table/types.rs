//! The types of the tables. The build script shares this file: it writes the models of `models/*.toml` as values of these
//! types into images.

use castellan_event::{EffectKind, Why};
use serde::{Deserialize, Deserializer, Serialize};

/// The tables of one language.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Table {
    /// The module whose members need no import.
    pub(crate) global: &'static str,
    #[serde(deserialize_with = "list")]
    pub(crate) modules: &'static [Space],
    /// Every name of a module, sorted, with the module's index.
    #[serde(deserialize_with = "list")]
    pub(crate) modules_by_name: &'static [(&'static str, usize)],
    #[serde(deserialize_with = "list")]
    pub(crate) types: &'static [Space],
    /// The same for types.
    #[serde(deserialize_with = "list")]
    pub(crate) types_by_name: &'static [(&'static str, usize)],
    /// Modules without access to files, processes and the network.
    #[serde(deserialize_with = "list")]
    pub(crate) inert: &'static [&'static str],
    /// Members that give access to anything.
    #[serde(deserialize_with = "list")]
    pub(crate) escapes: &'static [&'static str],
    /// Methods whose name is enough to know the effect, even if the receiver is unknown.
    pub(crate) methods: Space,
    /// Extensions of module files.
    #[serde(deserialize_with = "list")]
    pub(crate) files: &'static [&'static str],
}

/// A module or a type, with its members.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(crate) struct Space {
    #[serde(deserialize_with = "list")]
    pub(crate) names: &'static [&'static str],
    #[serde(deserialize_with = "list")]
    pub(crate) entries: &'static [Entry],
    /// Every name of an entry, sorted, with the entry's index.
    #[serde(deserialize_with = "list")]
    pub(crate) by_name: &'static [(&'static str, usize)],
    /// Members without effects, sorted; `*` for all the others.
    #[serde(deserialize_with = "list")]
    pub(crate) inert: &'static [&'static str],
}

/// A function or value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(deserialize_with = "list")]
    pub(crate) names: &'static [&'static str],
    /// `None`: a value, and no function.
    #[serde(deserialize_with = "list_if_any")]
    pub(crate) parameters: Option<&'static [Parameter]>,
    /// Effects on nothing that an argument names.
    #[serde(deserialize_with = "list")]
    pub(crate) does: &'static [Does],
    /// The type of the result.
    pub(crate) gives: &'static str,
    /// The reason why the result is unknown.
    pub(crate) why: Option<Why>,
    /// The computation of the result; a name in `compute.rs`.
    pub(crate) computes: &'static str,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Parameter {
    /// Its names, separated by `/`.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    #[serde(deserialize_with = "list")]
    pub(crate) parts: &'static [Part],
    /// The value of an absent argument.
    #[serde(borrow)]
    pub(crate) default: Option<&'static str>,
}

/// The arguments that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Takes {
    /// The object of the method call.
    Receiver,
    One,
    Rest,
    /// Only an argument with this name.
    Named,
}

/// An effect and its path; a path that ends in `*` is unknown from there on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Does {
    pub(crate) kind: EffectKind,
    pub(crate) path: &'static str,
    pub(crate) system: &'static str,
    pub(crate) verb: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// Reads a list that is kept for good: each image is read once.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<&'static [T], D::Error> {
    Ok(Vec::deserialize(from)?.leak())
}

fn list_if_any<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<&'static [T]>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(from)?.map(|list| &*list.leak()))
}
