//! The shapes of a program's model: its option grammar, what its operands are for, and what it does. The tables themselves
//! are made of `models/*.toml` when the crate is built.

use castellan_event::EffectKind;

/// A program or one of its subcommands.
#[derive(Debug)]
pub struct Program {
    /// Its names; the first is the usual one.
    pub names: &'static [&'static str],
    /// How it reads its arguments.
    pub style: Style,
    /// The shell does it itself; no file is looked up.
    pub builtin: bool,
    /// What it does without an option that says so: `rg` goes down into directories.
    pub always: &'static [Attribute],
    /// Each subcommand is a program of its own too: `git-push`.
    pub dashed: bool,
    /// It is there to run another command that it is given; `None` for every other program.
    pub wrapper: Option<Wrapper>,
    /// It has more options than the model lists, and what they are called does not matter.
    pub open: bool,
    /// Its options.
    pub options: &'static [Opt],
    /// Every spelling of an option and the option's position, in order of their bytes.
    pub spellings: &'static [(&'static str, usize)],
    /// What it does without an option, or one of its options says.
    pub attributes: &'static [Attribute],
    /// What its operands are, in order; the first form whose condition holds.
    pub forms: &'static [Form],
    /// What it does besides what options and operands say.
    pub effects: &'static [EffectRow],
    /// Its subcommands.
    pub subs: &'static [Program],
    /// What tables cannot say, done by code of this name in `facts`.
    pub handler: Option<&'static str>,
}

/// How a program reads its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Style {
    /// Options and operands in any order, short options in clusters, long ones with two dashes and by any clear
    /// abbreviation; `--` ends the options.
    #[default]
    Gnu,
    /// The same, but the options end at the first operand.
    Posix,
    /// As [`Style::Gnu`], and `--no-NAME` takes back `--NAME` before it: git, npm.
    Negatable,
    /// As [`Style::Posix`], with options of one letter also after `+`; each letter of a cluster takes its value from the
    /// arguments after it: `bash -oc pipefail TEXT`.
    Shell,
    /// As [`Style::Gnu`], without abbreviations: parsers of today's languages (clap, cobra, argparse without prefixes).
    Modern,
    /// One dash or two, long names, no clusters: Go's `flag`, terraform, java.
    Dash,
    /// One dash or a slash, any case of letters, any beginning of a name: the first option that fits; no clusters.
    /// PowerShell, `cmd`.
    Loose,
    /// Paths first, then an expression of words that begin with one dash: `find`.
    Find,
    /// As [`Style::Gnu`], and the first argument may be a cluster without a dash: `tar`, `ar`, `ps`.
    Bundled,
    /// `key=value`: `dd`.
    Keys,
    /// Every argument is an operand: `echo`, `test`.
    Plain,
}

/// What a wrapper changes about the command that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// Nothing about who runs it and what it may do: `nice`, `timeout`.
    Neutral,
    /// Who runs it, as whom, where or with what: `sudo`, `chroot`, `env` with assignments.
    Changing,
}

/// An option.
#[derive(Debug)]
pub struct Opt {
    /// Its spellings, dashes included.
    pub flags: &'static [&'static str],
    /// Whether it takes a value.
    pub takes: Takes,
    /// What the value is for.
    pub slot: Slot,
    /// What it says about the whole invocation.
    pub attributes: &'static [Attribute],
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Takes {
    /// None.
    Nothing,
    /// One, attached or as the next argument.
    Value,
    /// One only when it is attached: `--color=always`, `-i.bak`.
    Attached,
}

/// What an option says about the whole invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// It goes down into directories.
    Recursive,
    /// It does not ask and does not stop.
    Force,
    /// Nothing is done at all: `--help`, `--version`.
    Inert,
    /// What would be changed is only shown: `--dry-run`. Reading and connecting remain.
    Dry,
    /// What follows it, and its value, is left to something else: `python -c TEXT`, `java -jar FILE`.
    Last,
    /// It has a value only where the next argument is no option: `node -p TEXT`, `node -p -e TEXT`.
    Optional,
}

/// A list of operands, for when a condition holds.
#[derive(Debug)]
pub struct Form {
    /// All of these must hold.
    pub when: &'static [Term],
    /// The operands in order. One of them may repeat.
    pub operands: &'static [Place],
    /// Those after `--`, where it is more than the end of the options.
    pub after: &'static [Place],
}

/// An operand's place.
#[derive(Debug)]
pub struct Place {
    /// What it is for.
    pub slot: Slot,
    /// It takes as many operands as the others leave.
    pub repeats: bool,
}

/// What an operand or an option's value is for. The second word, where there is one, stands after a colon in the model:
/// `code:python`, `shell:exec=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot {
    /// What it is for.
    pub role: SlotRole,
    /// The rest; empty when there is none.
    pub detail: &'static str,
}

macro_rules! slot_roles {
    ($($variant:ident $word:literal $meaning:literal,)+) => {
        /// What an operand or an option's value is for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum SlotRole { $(#[doc = $meaning] $variant,)+ }

        impl SlotRole {
            /// Every role, its word in the models and its meaning.
            pub const TABLE: &'static [(SlotRole, &'static str, &'static str)] =
                &[$((SlotRole::$variant, $word, $meaning),)+];
        }
    };
}

slot_roles! {
    Text "text" "no path, no host, no code: it changes nothing by itself; of an option, `text:2`: it takes two \
        values, `text:digits`: digits only, so that a cluster goes on after it",
    Read "read" "a path that is read",
    Write "write" "a path that is created or overwritten; `write:input`: with what the program reads from input; `write:tree`: a \
        directory that is filled",
    Update "update" "a path that is read and changed in place",
    Delete "delete" "a path that is removed; `delete:tree`: with all below it",
    Move "move" "a path that is read and removed, as it goes elsewhere",
    Into "into" "a directory, or a file, into which the operands that are read go",
    Permission "permission" "a path whose mode, owner or access list is changed",
    Link "link" "a path that is made to lead to another one",
    Execute "execute" "a file whose code runs",
    Directory "directory" "a directory in which the rest happens, as after `cd`",
    Command "command" "the command that is run: this argument and all after it; `command:input`: and what is read from \
        input; `command:package`: its name may carry a version (`rimraf@5`); of an option, `command:operands`: its value, then the operands",
    Clause "clause" "a command up to `;` or `+`, as in `find -exec`; `found`: what the search finds stands in place of `{}`",
    Shell "shell" "shell text that runs; the detail is what stands before it in the argument (`exec=`)",
    Joined "joined" "shell text that runs: this argument and all after it, joined by blanks; `joined:input`: for each \
        argument after `:::`, or read from input; of an option: its value, then the operands",
    Line "line" "a command with its arguments, split at blanks without a shell; of a wrapper, its own arguments go on so; \
        `line:before`: what stands before the command that the operands give",
    Code "code" "code that runs; the detail is its language",
    JoinedCode "joined-code" "code that runs: this argument, or the value of an option, and all after it, joined by blanks",
    Assignment "assignment" "`NAME=value` of the environment of the command; as an operand, as many as there are",
    Where "where" "the machine or container in which the command runs",
    Host "host" "a host that is connected to",
    Listen "listen" "a port or address that is listened on",
    UrlDownload "url-download" "a URL that is fetched",
    UrlUpload "url-upload" "a URL that data is sent to",
    UrlConnect "url-connect" "a URL that is connected to",
    UploadFile "upload-file" "a file whose content is sent",
    RemoteRead "remote-read" "`[user@]host:path` that is fetched, or a local path that is read",
    RemoteWrite "remote-write" "`[user@]host:path` that is written, or a local path",
    User "user" "a user or group",
    Package "package" "a package that is installed; the detail is the package manager",
    Process "process" "a process: an id, a name or a pattern",
    Service "service" "a service or unit",
    Sql "sql" "statements of a database; the detail is the system",
    Special "special" "left to the program's handler",
}

/// A condition on how a program was called.
#[derive(Debug)]
pub struct Term {
    /// It must not hold.
    pub negated: bool,
    /// One of these must hold.
    pub any: &'static [Test],
}

/// One test of a [`Term`].
#[derive(Debug)]
pub enum Test {
    /// One of these options was given, by any of its spellings.
    Given(&'static str),
    /// An operand fits this pattern, in which `*` stands for any text.
    Operand(&'static str),
    /// There are at least so many operands.
    AtLeast(usize),
    /// The value of this option fits this pattern.
    Value(&'static str, &'static str),
    /// An option that was given says so.
    Is(Attribute),
    /// A subcommand was named.
    Sub,
}

/// Something that a program does, besides what its options' and operands' slots say.
#[derive(Debug)]
pub struct EffectRow {
    /// What.
    pub kind: EffectKind,
    /// All of these must hold.
    pub when: &'static [Term],
    /// What is changed, such as `git`; empty for none.
    pub system: &'static str,
    /// What is done there.
    pub verb: &'static str,
    /// What it is done to.
    pub of: Source,
    /// A path, as the user would write it, for effects on one that no argument names.
    pub path: &'static str,
}

/// Where an [`EffectRow`] finds what it is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Nothing in particular: one effect.
    Nothing,
    /// Each operand: one effect for each, and one without a target when there are none.
    Operands,
    /// Operand number so many, from 0.
    Operand(usize),
    /// The value of this option.
    Value(&'static str),
}
