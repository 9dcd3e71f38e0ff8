//! The vocabularies of effects: kinds, locations, roles and reasons. Each has a word for rules and a meaning for people.
//! It must not know effects or calls.

use serde::{Deserialize, Serialize};

use crate::word::{UnknownWord, from_word};

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
    /// The way in which a path leaves the workspace, although as written it is inside; field `fx.escape`.
    Escape {
        #[default] Symlink "symlink" "a symlink on the way to the file leads out of the workspace",
        HardLink "hard_link" "the file has another name: outside of the workspace, a secret, or a file that programs obey",
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
        Contained "contained" "something that a contained command wrote and nobody has read",
        Unreadable "unreadable" "a question that the machine did not answer",
        Language "language" "code in a language that castellan does not read",
        Flag "flag" "an option that castellan does not know",
        Dynamic "dynamic" "a value that is only known at run time",
    }
}
