//! [`Facts`]: the commands and effects of a call, as far as castellan understood it. It must not know their analysis.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::word::{UnknownWord, from_word};

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
    /// The project's own files that have an Opaque part, spelled like [`Effect::script_path`]. Such a file is in the
    /// workspace, and the session has neither created nor changed it.
    pub own_scripts: BTreeSet<String>,
    /// Roots of the work trees in which version control changes files that the call does not name.
    pub changed_trees: BTreeSet<String>,
    /// A `&` starts something in the background, even without a command: `X=1 &`.
    pub background: bool,
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

/// An effect of a command or tool on the world. `None` is an absent field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Position in [`Facts::commands`] of the command with this effect; `None` for an effect of the tool itself.
    pub command: Option<usize>,
    /// Position in the call's files of the file that the tool itself acts on.
    pub file: Option<usize>,
    /// The kind of the effect.
    pub kind: EffectKind,
    /// The path, symlinks resolved. A pattern (`*.rs`) is in it as written.
    pub path: Option<String>,
    /// The path as written.
    pub path_raw: Option<String>,
    /// The path as written passes a symlink, or `/proc` resolves to it. A symlink as the last name of a deleted or
    /// renamed path is excepted.
    pub is_linked: bool,
    /// Number of bytes at the start of the path that name the user's home around it.
    pub home_bytes: Option<usize>,
    /// The most sensitive class of the path.
    pub scope: Option<Scope>,
    /// The location of the path; equal to `scope` if the path has no sensitive class.
    pub place: Option<Scope>,
    /// The part of the session's guard that the effect may change, or may pass to an unknown program.
    pub guard: Option<Guard>,
    /// The origin of the file at the path.
    pub file_origin: Option<FileOrigin>,
    /// The host.
    pub host: Option<String>,
    /// The kind of machine.
    pub host_class: Option<HostClass>,
    /// The URL.
    pub url: Option<String>,
    /// The effect includes directories below the path.
    pub recursive: Option<bool>,
    /// The program neither asks nor stops at problems.
    pub force: Option<bool>,
    /// The system that is changed, such as `postgres` or `aws`.
    pub system: Option<String>,
    /// The action on that system.
    pub verb: Option<String>,
    /// The object of that action.
    pub target: Option<String>,
    /// Of an install: the package's name as its registry compares names, without version, extras and alias.
    pub package: Option<String>,
    /// Of an opaque part: the role of the missing value.
    pub role: Option<Role>,
    /// Of an opaque part: why it was not understood.
    pub why: Option<Why>,
    /// The script file with the command.
    pub script_path: Option<String>,
    /// That file's SHA-256, hex.
    pub script_sha256: Option<String>,
}

impl Effect {
    /// Reports whether the effect describes an Opaque part.
    pub fn is_opaque(&self) -> bool {
        self.kind == EffectKind::Opaque
    }

    /// Returns the path relative to the user's home around it: `/` is the home itself.
    pub fn home_path(&self) -> Option<&str> {
        let below = self.path.as_deref()?.get(self.home_bytes?..)?;
        Some(if below.is_empty() { "/" } else { below })
    }
}

/// Declares an enum in one table: each variant has a word for rules and a meaning for people.
macro_rules! vocabulary {
    ($(#[$about:meta])* $name:ident { $($(#[$default:meta])? $variant:ident $word:literal $meaning:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        pub enum $name {
            $(#[doc = $meaning] #[serde(rename = $word)] $(#[$default])? $variant,)+
        }

        impl $name {
            /// Every value, in the order of the table.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Returns the words of the values.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// Returns the word that rules compare with.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// Returns one line for people.
            pub const fn meaning(self) -> &'static str {
                match self { $($name::$variant => $meaning,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<$name, UnknownWord> {
                from_word($name::ALL, $name::as_str, word)
            }
        }
    };
}

vocabulary! {
    /// The kind of an effect; field `fx.kind`.
    EffectKind {
        Read "read" "reads a file, or lists a directory",
        Write "write" "creates a file or changes its contents",
        Delete "delete" "removes a path",
        Link "link" "makes a path a link to another path, its target",
        Permission "permission" "changes the mode, owner or access list of a path",
        Execute "execute" "runs a file that castellan has no model of: a script, an unknown program",
        Interactive "interactive" "opens a prompt that takes commands",
        Connect "connect" "connects to a host",
        Upload "upload" "sends data to a host",
        Download "download" "fetches data from a host",
        Listen "listen" "accepts connections",
        Elevate "elevate" "gains the rights of another user",
        Install "install" "installs a package, whose code may run",
        Publish "publish" "publishes a package, an image or a release",
        Query "query" "asks a system and changes nothing there",
        Mutate "mutate" "changes the state of a system: a repository, database, cluster, cloud",
        Destroy "destroy" "destroys something for good: history, uncommitted work, tables, volumes",
        Signal "signal" "ends or stops a process",
        Service "service" "starts, stops, enables or disables a service",
        Schedule "schedule" "has something run later",
        Detach "detach" "leaves something running out of sight",
        Inject "inject" "types or writes into another running program",
        Spawn "spawn" "starts another agent",
        Environment "environment" "sets an environment variable that changes what programs do",
        Mcp "mcp" "calls a tool of an MCP server",
        #[default] Opaque "opaque" "a part that was not understood",
    }
}

vocabulary! {
    /// The class or location of a path; fields `fx.scope` and `fx.place`. The most sensitive first.
    Scope {
        Castellan "castellan" "castellan's own files and sockets",
        Secret "secret" "keys, tokens, passwords, .env files",
        Agent "agent" "configuration of a coding agent",
        Startup "startup" "files that a shell reads before it runs anything",
        Hijack "hijack" "files and directories from which other programs take code or commands",
        Vcs "vcs" "metadata of version control, such as .git",
        Root "root" "the root of the file system",
        Device "device" "a device, or a file of the kernel",
        Network "network" "a network mount",
        Workspace "workspace" "the workspace",
        Temporary "temporary" "directories for temporary files",
        Home "home" "the user's home directory",
        System "system" "files of the operating system",
        #[default] Outside "outside" "anywhere else",
    }
}

vocabulary! {
    /// The part of a session's guard that an effect may reach; field `fx.guard`. The effect reaches the part by its
    /// path, by a pattern that may match its path, or by a directory above it.
    Guard {
        Castellan "castellan" "castellan's own files and programs",
        #[default] Hooks "hooks" "the settings of an agent that register castellan's hooks, or can switch them off",
    }
}

vocabulary! {
    /// The origin of a file; field `fx.file_origin`. For a file that the call writes: its origin after the call.
    FileOrigin {
        Downloaded "downloaded" "the session downloaded it, or made it from a download",
        Written "written" "the session wrote it",
        #[default] Repository "repository" "in the workspace, and not written by the session",
    }
}

vocabulary! {
    /// The time of an effect that does not happen now; field `fx.when`.
    When {
        #[default] Written "written" "when somebody runs the code file that the call writes",
    }
}

vocabulary! {
    /// The kind of machine of a host; field `fx.host_class`. The most sensitive first.
    HostClass {
        Metadata "metadata" "a cloud's metadata service, which hands out credentials",
        Loopback "loopback" "this machine",
        Private "private" "a private network",
        #[default] Unknown "unknown" "unknown: programs read it differently, or there is no host",
        Public "public" "anything else",
    }
}

vocabulary! {
    /// The role of an opaque part; field `fx.role`.
    Role {
        Program "program" "the program that runs",
        Target "target" "the target of a dangerous action",
        Code "code" "code that runs",
        #[default] Operand "operand" "an argument of a harmless action",
        Tool "tool" "an unknown tool",
    }
}

vocabulary! {
    /// The reason why a part was not understood; field `fx.why`.
    Why {
        #[default] Unsupported "unsupported" "a construct that castellan does not model",
        Syntax "syntax" "text that does not parse",
        Nesting "nesting" "nested deeper than the limit",
        Size "size" "longer than the limit",
        Budget "budget" "more work than the limit",
        Encoding "encoding" "bytes that are not text",
        Variable "variable" "a variable with an unknown value",
        Parameter "parameter" "a positional or special parameter with an unknown value",
        Substitution "substitution" "the output of a command",
        Arithmetic "arithmetic" "the result of arithmetic",
        Expansion "expansion" "an expansion that castellan does not compute",
        Glob "glob" "a pattern for file names",
        Input "input" "input at run time: standard input, a prompt, a pipe",
        Network "network" "data from the network",
        File "file" "the contents of a file",
        Missing "missing" "a missing file of the project",
        Secret "secret" "a secret",
        Unresolved "unresolved" "a program that was not found",
        Shadowed "shadowed" "a program that the agent may have installed itself",
        Changing "changing" "something that another command may be changing",
        Unreadable "unreadable" "a question that the machine did not answer",
        Language "language" "code in a language that castellan does not read",
        Flag "flag" "an option that castellan does not know",
        Dynamic "dynamic" "a value that is only known at run time",
    }
}
