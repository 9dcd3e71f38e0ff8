//! The result of a walk: every command that a shell text would run, in order, with the known parts of its arguments.
//! This module must not know what a program does with the arguments.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::tree::{RedirectKind, Span};

/// Everything found in one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// In order of execution; the branches of a condition follow each other.
    pub items: Vec<Item>,
    /// Final contents of files that the text writes, by absolute path; one entry per possible content.
    pub written: Vec<(Rc<str>, Arg)>,
    /// True if the text or a text that it runs contains `&`, even if the background part contains no command.
    pub background: bool,
}

/// An item found in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A command.
    Command(Run),
    /// A variable passed to the commands after it: by `export`, or by an assignment to an exported variable.
    Set(Set),
    /// A code file that is run, before the items of the file. For a program, before its command.
    Script(Script),
    /// An Opaque part.
    Hole(Gap),
}

/// A code file that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The path that the walk requested.
    pub path: Rc<str>,
    /// True if the text itself wrote the contents; false if the walk requested the contents.
    pub is_made: bool,
    /// The span of the command that runs the file.
    pub span: Span,
}

/// A command that would run, without its wrappers. The same source yields several entries when the command would run
/// with different known arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The name and arguments. Empty for redirects without a command.
    pub argv: Vec<Arg>,
    /// Variables added to the environment of the command.
    pub env: Vec<(String, Arg)>,
    /// The redirects of the command and of the groups around it, outermost first.
    pub redirects: Vec<Rc<FoundRedirect>>,
    /// The wrappers around the command, outermost first.
    pub wrappers: Rc<Vec<Rc<Wrapped>>>,
    /// The origin of the command in the call's text.
    pub origin: Origin,
    /// The file that contains the command, as the path that the walk requested; `None` for the call's own text.
    pub script: Option<Rc<str>>,
    /// The span in the outermost text. Commands from decoded text have the span of the encoded source.
    pub span: Span,
    /// The command as a user would type it.
    pub line: String,
    /// The working directory, absolute; symlinks are not resolved. `None` if unknown.
    pub cwd: Option<String>,
    /// The remote targets, outermost first, such as `ssh host` or `docker exec box`; empty for local commands.
    pub remote: Rc<Vec<String>>,
    /// Position in [`Found::items`] of the command whose output this command reads.
    pub pipe_from: Option<usize>,
    /// The standard input of the command.
    pub stdin: Stdin,
    /// Contents of files among the arguments that the text wrote earlier, by absolute path, and of descriptors
    /// connected to a text (`<( )`). A file with several possible contents has several entries.
    pub made: Vec<(Rc<str>, Arg)>,
    /// True if the command runs in the background.
    pub background: bool,
}

/// The standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// The call's own standard input, which is empty.
    Inherited,
    /// This text, as far as it is known: a heredoc, a here-string, or the computed output of a command.
    Text(Arg),
    /// A file.
    File(Arg),
}

/// A redirect with an expanded target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRedirect {
    /// The descriptor; `None` for the default descriptor.
    pub fd: Option<u32>,
    /// The kind of redirect.
    pub kind: RedirectKind,
    /// The file; for [`RedirectKind::HereString`] and [`RedirectKind::Heredoc`] the text.
    pub target: Arg,
}

/// A wrapper removed from a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// The name of the wrapper.
    pub name: String,
    /// The wrapper's own arguments, its name first.
    pub argv: Vec<Arg>,
    /// True if the wrapper changes neither the user nor the privileges of the command.
    pub neutral: bool,
}

/// An assignment to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// The name of the variable.
    pub name: String,
    /// The value of the variable.
    pub value: Arg,
    /// True if later commands receive the variable.
    pub exported: bool,
    /// The file that contains the assignment.
    pub script: Option<Rc<str>>,
    /// The span of the assignment.
    pub span: Span,
}

/// An Opaque part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The role of the part.
    pub role: Role,
    /// The reason.
    pub why: Why,
    /// The source of the part, cut to a few hundred bytes.
    pub written: String,
    /// The file that contains the part.
    pub script: Option<Rc<str>>,
    /// The span of the part.
    pub span: Span,
}

/// The origin of a command in a call's text; field `cmd.origin`. The innermost origin applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The text itself.
    Text,
    /// `$( )`, backquotes, `<( )`.
    Substitution,
    /// The body of a function, at its call. For a function without a call, at its definition.
    Function,
    /// `trap`
    Trap,
    /// The body of an alias.
    Alias,
    /// The code argument of `eval` or `bash -c`, or an option of a program that takes shell text.
    Argument,
    /// Standard input of a shell: a heredoc or a pipe.
    Stdin,
    /// A file that a shell runs or sources.
    Script,
    /// A program in another language.
    Code,
    /// A command passed to another command: `xargs`, `find -exec`.
    Wrapped,
}

impl Origin {
    /// The word that rules compare with.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Text => "text",
            Origin::Substitution => "substitution",
            Origin::Function => "function",
            Origin::Trap => "trap",
            Origin::Alias => "alias",
            Origin::Argument => "argument",
            Origin::Stdin => "stdin",
            Origin::Script => "script",
            Origin::Code => "code",
            Origin::Wrapped => "wrapped",
        }
    }
}
