//! [`Facts`]: the commands and effects of a call, as far as castellan understood it. It must not know their analysis.

use std::collections::BTreeSet;

use crate::effect::Effect;

/// The commands and effects of one call. An Opaque part is an [`Effect`] too, of kind `opaque`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Every simple command in the call's shell text, in the order of the text.
    pub commands: Vec<Command>,
    /// Effects of the commands, or of the tool itself.
    pub effects: Vec<Effect>,
    /// Commands and effects of the code that the call writes to files. None of it runs now.
    pub written: Written,
    /// The files whose code runs, as far as their paths are known. Each path occurs once.
    pub scripts: Vec<ScriptFile>,
    /// The project's own files that have an Opaque part, spelled like [`crate::ScriptId::path`]. Such a file is in the
    /// workspace, and the session has neither created nor changed it.
    pub own_scripts: BTreeSet<String>,
    /// The workspace's files that have an Opaque part and that sessions, or version control, created or changed. Their
    /// bytes come from the network in no known way. Spelled like `own_scripts`.
    pub session_scripts: BTreeSet<String>,
    /// Files that the session wrote, that a tool of the call may load, and that castellan did not read. The workspace
    /// itself if there are too many.
    pub unread: BTreeSet<String>,
    /// Roots of the work trees in which version control changes files that the call does not name.
    pub changed_trees: BTreeSet<String>,
    /// Files that hold what the call read from a secret, by paths that show nothing of it.
    pub secret_copies: BTreeSet<String>,
    /// Copies of files that contained commands wrote.
    pub contained_copies: ContainedCopies,
    /// The call opens a tunnel: later calls may reach another machine under an address of this one.
    pub opens_tunnel: bool,
    /// A `&` starts something in the background, even without a command: `X=1 &`.
    pub background: bool,
}

/// Copies that a call makes of files that contained commands wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainedCopies {
    /// Files, directories and patterns that the call reads, and that are or hold such files.
    pub from: BTreeSet<String>,
    /// Files, directories and patterns that the call writes. Empty if `from` is empty.
    pub into: BTreeSet<String>,
}

/// Commands and effects of files with code, when the files are run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Every simple command in the files.
    pub commands: Vec<Command>,
    /// Their effects; [`Effect::command`] is a position among these commands.
    pub effects: Vec<Effect>,
}

/// A file whose code runs in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFile {
    /// The path, symlinks resolved.
    pub path: String,
    /// SHA-256, hex, of the contents when the file was read; `None` if the call itself puts other code there.
    pub sha256: Option<String>,
    /// The call writes the file, or may write it.
    pub is_written: bool,
}

/// One simple command without its wrappers. `None` is an absent field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The program's name without its directory.
    pub name: Option<String>,
    /// The program's file.
    pub path: Option<String>,
    /// Every argument as the program gets it.
    pub args: Vec<String>,
    /// The flags among them, clusters taken apart.
    pub flags: Vec<String>,
    /// Every spelling of these flags that the program's model knows: with `-r` of `rm`, `--recursive` too.
    pub flag_spellings: Vec<String>,
    /// The arguments that are no flags.
    pub operands: Vec<String>,
    /// The subcommand, such as `push` of `git push`.
    pub subcommand: Option<String>,
    /// The command as written.
    pub line: String,
    /// The command's byte range in the call's shell text, end exclusive; for decoded text, that of the encoded text.
    pub span: Option<(u32, u32)>,
    /// The wrappers around it, outermost first, such as `sudo`.
    pub wrappers: Vec<String>,
    /// The wrappers change neither the user nor the rights of the command: `nice`, not `sudo`.
    pub wrappers_are_neutral: bool,
    /// The shell does not wait for the command.
    pub background: bool,
    /// The kind of text that holds the command, such as `text`, `substitution`, `script`.
    pub origin: String,
    /// The name of the command whose output this command reads.
    pub pipe_from: Option<String>,
    /// Environment variables that are set for the command, `NAME=value`.
    pub env: Vec<String>,
    /// The machine or container that runs the command; `None` if it runs here.
    pub remote: Option<String>,
}
