//! The types of a program's model: its option grammar, the purpose of its operands, and its effects. The build script
//! shares this file: it writes the models of `models/*.toml` as values of these types into the image that `find` reads.

use castellan_event::EffectKind;
use serde::{Deserialize, Deserializer, Serialize};

/// A program or one of its subcommands.
#[derive(Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its names; the first is the usual one.
    #[serde(deserialize_with = "list")]
    pub names: &'static [&'static str],
    /// The way in which it parses arguments.
    pub style: Style,
    /// The shell runs it itself, without a file.
    pub builtin: bool,
    /// Attributes without any option: `rg` descends into directories.
    #[serde(deserialize_with = "list")]
    pub always: &'static [Attribute],
    /// Each subcommand is a program of its own too: `git-push`.
    pub dashed: bool,
    /// The kind of wrapper, if its purpose is to run another command; `None` for every other program.
    pub wrapper: Option<Wrapper>,
    /// It has more options than the model lists, and their names do not matter.
    pub open: bool,
    /// A subcommand that the model does not have may do anything: the model lists them all.
    pub selects: bool,
    /// Variables of its environment that hold further options.
    #[serde(deserialize_with = "list")]
    pub environment: &'static [&'static str],
    /// Its options.
    #[serde(deserialize_with = "list")]
    pub options: &'static [Opt],
    /// Every spelling of an option, in order of their bytes: the option's position, and the position in its flags.
    #[serde(deserialize_with = "list")]
    pub spellings: &'static [(u16, u8)],
    /// Attributes that it has without an option, or by one of its options.
    #[serde(deserialize_with = "list")]
    pub attributes: &'static [Attribute],
    /// Its operands in order; the first form whose condition holds applies.
    #[serde(deserialize_with = "list")]
    pub forms: &'static [Form],
    /// Its effects beyond the slots of options and operands.
    #[serde(deserialize_with = "list")]
    pub effects: &'static [EffectRow],
    /// Its subcommands.
    #[serde(deserialize_with = "list")]
    pub subs: &'static [Program],
    /// Name of the code in `facts` that handles behaviour beyond the tables.
    #[serde(borrow)]
    pub handler: Option<&'static str>,
}

/// The way in which a program parses arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Options and operands in any order, short options in clusters, long options with two dashes and any unambiguous
    /// abbreviation; `--` ends the options.
    #[default]
    Gnu,
    /// As [`Style::Gnu`], but the options end at the first operand.
    Posix,
    /// As [`Style::Gnu`], and `--no-NAME` removes an earlier `--NAME`: git, npm.
    Negatable,
    /// As [`Style::Posix`], with options of one letter also after `+`. Each letter of a cluster takes its value from
    /// the following arguments: `bash -oc pipefail TEXT`.
    Shell,
    /// As [`Style::Gnu`], without abbreviations: parsers of modern languages (clap, cobra, argparse without prefixes).
    Modern,
    /// One or two dashes, long names, no clusters: Go's `flag`, terraform, java.
    Dash,
    /// Dash or slash, any letter case, any prefix of a name: the first match applies; no clusters. PowerShell, `cmd`.
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

/// The properties that a wrapper changes about its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrapper {
    /// Neither user nor rights: `nice`, `timeout`.
    Neutral,
    /// User, rights, place or environment: `sudo`, `chroot`, `env` with assignments.
    Changing,
}

/// An option.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Opt {
    /// Its spellings, dashes included.
    #[serde(deserialize_with = "list")]
    pub flags: &'static [&'static str],
    /// The kind of value.
    pub takes: Takes,
    /// Purpose of the value.
    pub slot: Slot,
    /// Attributes that it gives to the whole invocation.
    #[serde(deserialize_with = "list")]
    pub attributes: &'static [Attribute],
}

/// The kind of value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// None.
    Nothing,
    /// One, attached or as the next argument.
    Value,
    /// One only when it is attached: `--color=always`, `-i.bak`.
    Attached,
}

/// An attribute that an option gives to the whole invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attribute {
    /// Descends into directories.
    Recursive,
    /// Neither asks nor stops at problems.
    Force,
    /// Does nothing at all: `--help`, `--version`.
    Inert,
    /// Only shows the changes: `--dry-run`. Reading and connecting remain.
    Dry,
    /// Ends the program's own arguments, after its value: `python -c TEXT`, `java -jar FILE`.
    Last,
    /// Takes a value only if the next argument is not an option: `node -p TEXT`, `node -p -e TEXT`.
    Optional,
}

/// A list of operands under a condition.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Form {
    /// All of these must hold.
    #[serde(deserialize_with = "list")]
    pub when: &'static [Term],
    /// The operands in order. One of them may repeat.
    #[serde(deserialize_with = "list")]
    pub operands: &'static [Place],
    /// The operands after `--`, if `--` does more than end the options.
    #[serde(deserialize_with = "list")]
    pub after: &'static [Place],
}

/// An operand's place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Place {
    /// Purpose of the operand.
    pub slot: Slot,
    /// The place takes all operands that the other places leave.
    pub repeats: bool,
}

/// The purpose of an operand or of an option's value. In the model, an optional detail follows after a colon:
/// `code:python`, `shell:exec=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// The role.
    pub role: SlotRole,
    /// The detail; empty without one.
    pub detail: &'static str,
}

macro_rules! slot_roles {
    ($($variant:ident $word:literal $meaning:literal,)+) => {
        /// The role of an operand or of an option's value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum SlotRole { $(#[doc = $meaning] #[serde(rename = $word)] $variant,)+ }

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
    UploadFile "upload-file" "a file whose content is sent; `upload-file:text`: a text for a service, as its users write: only a \
        secret in it is an upload",
    RemoteRead "remote-read" "`[user@]host:path` that is fetched, or a local path that is read",
    RemoteWrite "remote-write" "`[user@]host:path` that is written, or a local path",
    User "user" "a user or group",
    Package "package" "a package that is installed; the detail is the package manager",
    Process "process" "a process: an id, a name or a pattern",
    Service "service" "a service or unit",
    Sql "sql" "statements of a database; the detail is the system",
    Special "special" "left to the program's handler",
}

/// A condition on an invocation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Term {
    /// The term must not hold.
    pub negated: bool,
    /// One of these must hold.
    #[serde(deserialize_with = "list")]
    pub any: &'static [Test],
}

/// One test of a [`Term`].
#[derive(Debug, Serialize, Deserialize)]
pub enum Test {
    /// This option was given, in any spelling.
    Given(&'static str),
    /// An operand matches this pattern, in which `*` matches any text.
    Operand(&'static str),
    /// The number of operands is at least this.
    AtLeast(usize),
    /// The value of this option matches this pattern.
    Value(&'static str, &'static str),
    /// An option of the invocation has this attribute.
    Is(Attribute),
    /// The invocation has a subcommand.
    Sub,
}

/// An effect of a program beyond the slots of its options and operands.
#[derive(Debug, Serialize, Deserialize)]
pub struct EffectRow {
    /// Kind of effect.
    pub kind: EffectKind,
    /// All of these must hold.
    #[serde(deserialize_with = "list")]
    pub when: &'static [Term],
    /// The changed system, such as `git`; empty for none.
    pub system: &'static str,
    /// The action there.
    pub verb: &'static str,
    /// Source of the object.
    pub of: Source,
    /// A path, as the user would write it, for effects on a path that is not an argument.
    pub path: &'static str,
}

/// The source of the object of an [`EffectRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// No object: one effect.
    Nothing,
    /// Each operand: one effect for each, and one without a target if there are none.
    Operands,
    /// The operand of this number, from 0.
    Operand(usize),
    /// The value of this option.
    Value(&'static str),
}

/// Reads a list that is kept for good: each part of the image is read once.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<&'static [T], D::Error> {
    Ok(Vec::deserialize(from)?.leak())
}
