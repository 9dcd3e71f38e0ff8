//! [`Facts`]: what a call would do, as far as it was understood: commands and effects. It must not know how they were found.

use std::collections::BTreeSet;

/// The commands and effects of one call. A part that was not understood is an [`Effect`] too, of kind `opaque`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Every simple command in the call's shell text, in the order of the text.
    pub commands: Vec<Command>,
    /// What the commands, or the tool itself, do.
    pub effects: Vec<Effect>,
    /// What the files with code that the call writes would do when they are run. None of it is done now.
    pub written: Written,
    /// The files whose code runs, as far as their paths are known; each once, by their paths.
    pub scripts: Vec<ScriptFile>,
    /// Files in which something was not understood and that are the project's own: they lie in the workspace, and the session has neither
    /// put them there nor changed them. As they stand in [`Effect::script_path`].
    pub own_scripts: BTreeSet<String>,
    /// Work trees of which version control changes files that nobody names, by their roots.
    pub changed_trees: BTreeSet<String>,
    /// A `&` puts something into the background, also something in which no command is found: `X=1 &`.
    pub background: bool,
}

/// What files with code would do when they are run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Every simple command in them.
    pub commands: Vec<Command>,
    /// What they do; [`Effect::command`] is a position among these commands.
    pub effects: Vec<Effect>,
}

/// A file whose code runs in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFile {
    /// Where it lies, symlinks resolved.
    pub path: String,
    /// SHA-256, hex, of what it held when it was read; `None` where something else runs, which the call itself puts there.
    pub sha256: Option<String>,
    /// The call itself writes it, or may do so.
    pub is_written: bool,
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
    /// Every spelling of these flags that the program's model knows: with `-r` of `rm`, `--recursive` too.
    pub flag_spellings: Vec<String>,
    /// The arguments that are no flags.
    pub operands: Vec<String>,
    /// The subcommand, such as `push` of `git push`.
    pub subcommand: Option<String>,
    /// The command as written.
    pub line: String,
    /// The bytes of the call's shell text that it stands in: the first, and the one after the last. What was made of decoded
    /// text stands where that came from.
    pub span: Option<(u32, u32)>,
    /// The wrappers around it, outermost first, such as `sudo`.
    pub wrappers: Vec<String>,
    /// The wrappers change neither who runs the command nor what it may do: `nice`, not `sudo`.
    pub wrappers_are_neutral: bool,
    /// The shell does not wait for it.
    pub background: bool,
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
    /// What it does.
    pub kind: EffectKind,
    /// The path, symlinks resolved. A pattern (`*.rs`) stands in it as written.
    pub path: Option<String>,
    /// The path as written.
    pub path_raw: Option<String>,
    /// A symlink lies on the way to the path as it is written, or `/proc` leads there. The last name of what is deleted or renamed may be
    /// one without that.
    pub is_linked: bool,
    /// Bytes at the start of the path that name the home of a user in which it lies.
    pub home_bytes: Option<usize>,
    /// The most sensitive thing that the path is.
    pub scope: Option<Scope>,
    /// Where the path lies; equal to `scope` where it is nothing sensitive.
    pub place: Option<Scope>,
    /// What of the session's guard it may change, or may give to a program that is not known.
    pub guard: Option<Guard>,
    /// How the file at the path came there.
    pub file_origin: Option<FileOrigin>,
    /// The host.
    pub host: Option<String>,
    /// What kind of machine the host is.
    pub host_class: Option<HostClass>,
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
    /// Of an install: the package's name as its registry compares names, without version, extras and alias.
    pub package: Option<String>,
    /// Of an opaque part: what it stands for.
    pub role: Option<Role>,
    /// Of an opaque part: why it was not understood.
    pub why: Option<Why>,
    /// The script file that it comes from.
    pub script_path: Option<String>,
    /// That file's SHA-256, hex.
    pub script_sha256: Option<String>,
}

impl Effect {
    /// Whether it stands for a part that was not understood.
    pub fn is_opaque(&self) -> bool {
        self.kind == EffectKind::Opaque
    }

    /// The path as it is seen from the home of a user in which it lies: `/` is the home itself.
    pub fn home_path(&self) -> Option<&str> {
        let below = self.path.as_deref()?.get(self.home_bytes?..)?;
        Some(if below.is_empty() { "/" } else { below })
    }
}

/// Declares an enum whose variants have a word for rules and a meaning for people, in one table.
macro_rules! vocabulary {
    ($(#[$about:meta])* $name:ident { $($(#[$default:meta])? $variant:ident $word:literal $meaning:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum $name {
            $(#[doc = $meaning] $(#[$default])? $variant,)+
        }

        impl $name {
            /// Every value, in the order of the table.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Their words.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The word that rules compare with.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// One line for people.
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
                $name::ALL.iter().copied().find(|one| one.as_str() == word).ok_or(UnknownWord)
            }
        }
    };
}

/// A word that is none of a vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord;

vocabulary! {
    /// What an effect does; field `fx.kind`.
    EffectKind {
        Read "read" "reads a file, or lists a directory",
        Write "write" "creates a file or changes what it holds",
        Delete "delete" "removes a path",
        Link "link" "makes a path lead to another one, its target",
        Permission "permission" "changes the mode, owner or access list of a path",
        Execute "execute" "runs a file that castellan has no model of: a script, an unknown program",
        Interactive "interactive" "opens a prompt that takes commands",
        Connect "connect" "connects to a host",
        Upload "upload" "sends data to a host",
        Download "download" "fetches data from a host",
        Listen "listen" "accepts connections",
        Elevate "elevate" "gains the rights of another user",
        Install "install" "installs a package, whose code may run",
        Publish "publish" "makes something public: a package, an image, a release",
        Query "query" "asks a system and changes nothing there",
        Mutate "mutate" "changes the state of a system: a repository, database, cluster, cloud",
        Destroy "destroy" "destroys what cannot be brought back: history, uncommitted work, tables, volumes",
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
    /// What a path is, or where it lies; fields `fx.scope` and `fx.place`. The most sensitive first.
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
        System "system" "what belongs to the operating system",
        #[default] Outside "outside" "anywhere else",
    }
}

vocabulary! {
    /// What of the guard of a session an effect may reach: by the path that it names, by a pattern that may stand for such a path, or
    /// below a directory; field `fx.guard`.
    Guard {
        Castellan "castellan" "castellan's own files and programs",
        #[default] Hooks "hooks" "the settings of an agent that register castellan's hooks, or can switch them off",
    }
}

vocabulary! {
    /// How a file came to where it is; field `fx.file_origin`. Of what is written: how it will have come there.
    FileOrigin {
        Downloaded "downloaded" "the session fetched it from the network, or made it of something that it fetched",
        Written "written" "the session wrote it",
        #[default] Repository "repository" "it lies in the workspace, and the session did not write it",
    }
}

vocabulary! {
    /// When something is done that is not done now; field `fx.when`.
    When {
        #[default] Written "written" "when a file with code is run that the call writes",
    }
}

vocabulary! {
    /// What kind of machine a host is; field `fx.host_class`. The most sensitive first.
    HostClass {
        Metadata "metadata" "a cloud's metadata service, which hands out credentials",
        Loopback "loopback" "this machine",
        Private "private" "a private network",
        #[default] Unknown "unknown" "not known: what programs read differently, or no host",
        Public "public" "anything else",
    }
}

vocabulary! {
    /// What an opaque part stands for; field `fx.role`.
    Role {
        Program "program" "which program runs",
        Target "target" "what something dangerous is done to",
        Code "code" "code that runs",
        #[default] Operand "operand" "an argument of something harmless",
        Tool "tool" "a tool that is not known",
    }
}

vocabulary! {
    /// Why a part was not understood; field `fx.why`.
    Why {
        #[default] Unsupported "unsupported" "a construct that castellan does not model",
        Syntax "syntax" "text that does not parse",
        Nesting "nesting" "nested deeper than the limit",
        Size "size" "longer than the limit",
        Budget "budget" "more work than the limit",
        Encoding "encoding" "bytes that are no text",
        Variable "variable" "a variable whose value is not known",
        Parameter "parameter" "a positional or special parameter whose value is not known",
        Substitution "substitution" "the output of a command",
        Arithmetic "arithmetic" "the result of arithmetic",
        Expansion "expansion" "an expansion that is not computed",
        Glob "glob" "a pattern that stands for the files that match it",
        Input "input" "what is read while it runs: standard input, a prompt, a pipe",
        Network "network" "what comes from the network",
        File "file" "what a file holds",
        Missing "missing" "a file of the project that is not there",
        Secret "secret" "what a secret holds",
        Unresolved "unresolved" "a program that was not found",
        Shadowed "shadowed" "a program that the agent itself may have put there",
        Changing "changing" "what another command may be changing",
        Unreadable "unreadable" "what the world did not answer",
        Language "language" "code in a language that castellan does not read",
        Flag "flag" "an option that the program's model does not know",
        Dynamic "dynamic" "decided while it runs",
    }
}
