//! [`Facts`]: what a call would do, as far as it was understood: commands and effects. It must not know how they were found.

/// The commands and effects of one call. A part that was not understood is an [`Effect`] too, of kind `opaque`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Every simple command in the call's shell text, in the order of the text.
    pub commands: Vec<Command>,
    /// What the commands, or the tool itself, do.
    pub effects: Vec<Effect>,
}

/// One simple command, wrappers taken off. What is `None` is an absent field.
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
    /// The arguments that are no flags.
    pub operands: Vec<String>,
    /// The subcommand, such as `push` of `git push`.
    pub subcommand: Option<String>,
    /// The command as written.
    pub line: String,
    /// The wrappers around it, outermost first, such as `sudo`.
    pub wrappers: Vec<String>,
    /// The wrappers change neither who runs the command nor what it may do: `nice`, not `sudo`.
    pub wrappers_are_neutral: bool,
    /// Where in the call it was found, such as `text`, `substitution`, `script`.
    pub origin: String,
    /// The name of the command whose output it reads.
    pub pipe_from: Option<String>,
    /// Environment variables that it is given, `NAME=value`.
    pub env: Vec<String>,
    /// Where it runs, when not on this machine or in a container.
    pub remote: Option<String>,
}

/// What a command or tool does to the world. What is `None` is an absent field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Position in [`Facts::commands`] of the command that does it; `None` when the tool itself does.
    pub command: Option<usize>,
    /// Position among the call's files of the one that the tool itself does it to.
    pub file: Option<usize>,
    /// `read`, `write`, `delete`, `connect`, ..., or `opaque`.
    pub kind: String,
    /// The path, symlinks resolved.
    pub path: Option<String>,
    /// The path as written.
    pub path_raw: Option<String>,
    /// Where the path lies, such as `workspace`, `home`, `system`.
    pub scope: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The URL.
    pub url: Option<String>,
    /// It goes down into directories.
    pub recursive: Option<bool>,
    /// It does not ask and does not stop.
    pub force: Option<bool>,
    /// The system that it changes, such as `postgres` or `aws`.
    pub system: Option<String>,
    /// What it does there.
    pub verb: Option<String>,
    /// What it does it to.
    pub target: Option<String>,
    /// Of an opaque part: what it stands for (program, target, code, operand, tool).
    pub role: Option<String>,
    /// Of an opaque part: why it was not understood.
    pub why: Option<String>,
    /// The script file that it comes from.
    pub script_path: Option<String>,
    /// That file's SHA-256, hex.
    pub script_sha256: Option<String>,
}

impl Effect {
    /// The kind of what was not understood.
    pub const OPAQUE: &'static str = "opaque";

    /// Whether it stands for a part that was not understood.
    pub fn is_opaque(&self) -> bool {
        self.kind == Self::OPAQUE
    }
}
