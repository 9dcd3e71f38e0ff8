//! What is found in shell text: every command that it would run, in the order in which it would run them, with arguments as
//! far as they are known. It must not know what a program does with them.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::tree::{RedirectKind, Span};

/// Everything that was found in one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// In the order in which it would run; the branches of a condition one after the other.
    pub items: Vec<Item>,
    /// What the files hold in the end that the text writes, by their absolute paths; a file that may hold one of several texts
    /// stands there several times.
    pub written: Vec<(Rc<str>, Arg)>,
    /// A `&` puts something into the background, in the text or in one that it runs; also where nothing is found in it.
    pub background: bool,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A command.
    Command(Run),
    /// A variable that is given to the commands after it (`export`, or the assignment of one that already was).
    Set(Set),
    /// A file with code that is run, before what it runs; a program, before its command.
    Script(Script),
    /// A part that was not understood.
    Hole(Gap),
}

/// A file with code that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The file, as the walk asked for it.
    pub path: Rc<str>,
    /// What it holds was written by the text itself; otherwise it was asked for.
    pub is_made: bool,
    /// Where the command stands that runs it.
    pub span: Span,
}

/// A command that would run, wrappers taken off. The same text stands here several times where it would run with different
/// arguments that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its name and arguments. Empty for redirects without a command.
    pub argv: Vec<Arg>,
    /// What is added to its environment.
    pub env: Vec<(String, Arg)>,
    /// Its redirects, and those of the groups around it, outermost first.
    pub redirects: Vec<Rc<FoundRedirect>>,
    /// The wrappers around it, outermost first.
    pub wrappers: Rc<Vec<Rc<Wrapped>>>,
    /// Where in the call's text it was found.
    pub origin: Origin,
    /// The file that it stands in, as the walk asked for it; `None` for the call's own text.
    pub script: Option<Rc<str>>,
    /// Where it stands in the outermost text; what was made of decoded text stands where that came from.
    pub span: Span,
    /// The command as it would be typed.
    pub line: String,
    /// The directory that it runs in, absolute; symlinks are not resolved. `None` when it is not known.
    pub cwd: Option<String>,
    /// Where it runs, outermost first, such as `ssh host` or `docker exec box`; empty for here.
    pub remote: Rc<Vec<String>>,
    /// Position in [`Found::items`] of the command whose output it reads.
    pub pipe_from: Option<usize>,
    /// What it reads from standard input.
    pub stdin: Stdin,
    /// What files among its arguments hold that the text itself wrote before, by their absolute paths, and descriptors that lead
    /// to a text (`<( )`). A file that may hold one of several texts stands there several times.
    pub made: Vec<(Rc<str>, Arg)>,
    /// It runs in the background.
    pub background: bool,
}

/// What a command reads from standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// What the call's own standard input gives: nothing.
    Inherited,
    /// This text, as far as it is known: a heredoc, a here-string, the output of a command that is computed.
    Text(Arg),
    /// A file.
    File(Arg),
}

/// A redirect, its target expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRedirect {
    /// The descriptor; `None` for the usual one.
    pub fd: Option<u32>,
    /// What it does.
    pub kind: RedirectKind,
    /// The file; for [`RedirectKind::HereString`] and [`RedirectKind::Heredoc`] the text.
    pub target: Arg,
}

/// A wrapper that was taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// Its name.
    pub name: String,
    /// Its own part of the arguments, its name first.
    pub argv: Vec<Arg>,
    /// It changes nothing about who runs the command and what that may do.
    pub neutral: bool,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Arg,
    /// It is given to the commands after it.
    pub exported: bool,
    /// The file that it stands in.
    pub script: Option<Rc<str>>,
    /// Where it stands.
    pub span: Span,
}

/// A part that was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What it stands for.
    pub role: Role,
    /// Why.
    pub why: Why,
    /// What stands there, cut to a few hundred bytes.
    pub written: String,
    /// The file that it stands in.
    pub script: Option<Rc<str>>,
    /// Where.
    pub span: Span,
}

/// Where in a call's text a command was found; field `cmd.origin`. The innermost counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The text itself.
    Text,
    /// `$( )`, backquotes, `<( )`.
    Substitution,
    /// The body of a function, at its call; or at its definition when nothing calls it.
    Function,
    /// `trap`
    Trap,
    /// The body of an alias.
    Alias,
    /// `eval`, `bash -c`, an option of a program that takes shell text.
    Argument,
    /// Standard input of a shell: a heredoc, a pipe.
    Stdin,
    /// A file that a shell runs or reads.
    Script,
    /// A program in another language.
    Code,
    /// A command that another one is given: `xargs`, `find -exec`.
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
