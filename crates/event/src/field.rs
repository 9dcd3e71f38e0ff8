//! The field table: name, type, level and meaning of every field that a rule can name. `castellan rules fields` and the
//! field reference in `docs/` are generated from it; `row.rs` reads the values.

use crate::facts::{EffectKind, FileOrigin, Guard, HostClass, Role, Scope, When, Why};

/// The type of a field's value, or of each of its elements. The corresponding Falco types are in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Bytes, usually UTF-8 (`string`, charbuf). May hold NUL and invalid UTF-8: neither makes a field absent.
    Text,
    /// An unsigned number (`uint64`, `reltime`, `abstime` and the like).
    U64,
    /// True or false (`bool`).
    Bool,
    /// Bytes that are no text (`bytebuf`): constants for `bcontains` and `bstartswith` are hexadecimal.
    Bytes,
    /// An address (`ipaddr`).
    Ip,
    /// A network (`ipnet`).
    Net,
}

/// The finest row that a field describes: a call, a command in it, an effect of that, or of a file that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// Describes the whole call.
    #[default]
    Call,
    /// Describes one command.
    Command,
    /// Describes one effect.
    Effect,
    /// Describes one effect of a file that the call writes, when that file is run later. This level is the finest. Only
    /// a rule that names a field of this level is tested on it, because the effect does not happen now.
    Written,
}

impl Level {
    /// Every level, coarsest first.
    pub const ALL: [Level; 4] = [Level::Call, Level::Command, Level::Effect, Level::Written];

    /// Returns the word used in tables and in the field `row.level`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Call => "call",
            Level::Command => "command",
            Level::Effect => "effect",
            Level::Written => "written",
        }
    }
}

/// The argument of a field, as in `field[arg]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldArg {
    /// None.
    None,
    /// A key is required: `field[key]`.
    Key,
    /// An index is required: `field[0]`.
    Index,
    /// Any argument, or none: `field` or `field[arg]`.
    Optional,
}

/// One field of a rule condition or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDef<'t> {
    /// Dotted name, such as `tool.name`.
    pub name: &'t str,
    /// Type of the value.
    pub ty: FieldType,
    /// The value is a list of that type.
    pub list: bool,
    /// Level of the rows that the field describes.
    pub level: Level,
    /// Kind of argument.
    pub arg: FieldArg,
    /// The field is in Falco's suggested output, which `append_output` with `suggested_output` shows.
    pub suggested: bool,
    /// Every possible value if the values are words of a vocabulary; else empty.
    pub words: &'t [&'t str],
    /// One line for people.
    pub meaning: &'t str,
}

/// Every field of source `coding_agent`. The position in this table is the index that [`crate::Row::value`] takes.
pub static FIELDS: &[FieldDef<'static>] = &[
    FieldDef {
        suggested: true,
        ..number("correlation.id", "random id of the call, never 0; the same in reason, record and alerts")
    },
    text("row.level", "what the row describes: call, command, effect or written"),
    text("agent.name", "the agent, such as claude_code: `castellan agents` lists them"),
    text("agent.os", "linux, macos, windows or unknown"),
    number("agent.pid", "process id of the agent, 0 when unknown"),
    text("agent.hook_event_name", "the agent's name of the event, such as PreToolUse"),
    text("agent.session_id", "the agent's session id"),
    text("agent.subagent_id", "id of the sub-agent that calls, empty for the main agent"),
    text("agent.permission_mode", "default, acceptEdits, plan, bypassPermissions, ... as reported"),
    text("agent.transcript_path", "path of the agent's transcript"),
    text("agent.model", "model name, where the agent reports it"),
    text("agent.turn_id", "turn id, where the agent reports it"),
    text("agent.cwd", "working directory as reported"),
    text("agent.real_cwd", "working directory with symlinks resolved"),
    text("agent.real_cwd_prefix", "agent.real_cwd with exactly one / at its end, for startswith"),
    text("tool.use_id", "the agent's id of the call"),
    text(
        "tool.name",
        "canonical name of the tool: Bash, Write, Edit, Read, apply_patch, mcp__server__tool, ...",
    ),
    text("tool.name_raw", "the agent's own name of the tool"),
    text("tool.input", "the whole input as compact JSON"),
    text("tool.input_command", "the shell text, for Bash; the patch of one file, for apply_patch"),
    text(
        "tool.file_path",
        "the path as written, for Read, Write, Edit, NotebookEdit and each file of a patch",
    ),
    text("tool.real_file_path", "that path with symlinks resolved"),
    text("tool.file_name", "last component of the path as written"),
    text("tool.patch_op", "Add, Update, Delete or Move, for each file of a patch"),
    text("tool.mcp_server", "mcp.server under its name in the coding-agents-kit"),
    text("mcp.server", "server of an MCP call"),
    text("mcp.tool", "tool of an MCP call, without its server"),
    text("mcp.args", "input of an MCP call as compact JSON"),
    FieldDef {
        arg: FieldArg::Key,
        ..number("session.mark_count", "earlier calls of the session that set the mark, 0 when none did")
    },
    FieldDef {
        arg: FieldArg::Key,
        ..number("session.mark_age_ms", "milliseconds since the mark was last set; absent when it never was")
    },
    of(Level::Command, text("cmd.name", "name of the program, without its directory")),
    of(Level::Command, text("cmd.path", "file of the program")),
    of(Level::Command, texts("cmd.args", "arguments as the program gets them")),
    of(Level::Command, texts("cmd.flags", "flags among the arguments, clusters taken apart")),
    of(Level::Command, texts("cmd.operands", "arguments that are no flags")),
    of(Level::Command, text("cmd.subcommand", "subcommand, such as push of git push")),
    of(Level::Command, text("cmd.line", "the command as written")),
    of(Level::Command, texts("cmd.wrappers", "wrappers around the command, outermost first, such as sudo")),
    of(Level::Command, text("cmd.origin", "where in the call it was found: text, substitution, script, ...")),
    of(Level::Command, text("cmd.pipe_from", "name of the command whose output it reads")),
    of(Level::Command, texts("cmd.env", "environment variables that it is given, NAME=value")),
    of(Level::Command, text("cmd.remote", "where it runs, when not on this machine or in a container")),
    of(Level::Effect, word("fx.kind", EffectKind::WORDS, "read, write, delete, connect, ... or opaque")),
    of(Level::Effect, text("fx.path", "path with symlinks resolved")),
    of(Level::Effect, text("fx.path_raw", "path as written")),
    of(
        Level::Effect,
        text(
            "fx.home_path",
            "path as it is seen from the home of a user in which it lies: / is the home itself",
        ),
    ),
    of(
        Level::Effect,
        word(
            "fx.scope",
            Scope::WORDS,
            "the most sensitive thing that the path is: secret, startup, ..., else fx.place",
        ),
    ),
    of(
        Level::Effect,
        word("fx.place", Scope::WORDS, "where the path lies: workspace, home, system, temporary, ..."),
    ),
    of(
        Level::Effect,
        word(
            "fx.guard",
            Guard::WORDS,
            "of a change, or of a program that is not known: what of the session's guard the path, its pattern or what lies below may be",
        ),
    ),
    of(
        Level::Effect,
        word(
            "fx.file_origin",
            FileOrigin::WORDS,
            "how the file at the path came there: downloaded, written or repository",
        ),
    ),
    of(Level::Effect, text("fx.host", "host")),
    of(
        Level::Effect,
        word("fx.host_class", HostClass::WORDS, "loopback, private, metadata, public, or unknown"),
    ),
    of(Level::Effect, text("fx.url", "URL")),
    of(Level::Effect, truth("fx.recursive", "goes down into directories")),
    of(Level::Effect, truth("fx.force", "does not ask and does not stop")),
    of(Level::Effect, text("fx.system", "system that is changed, such as postgres or aws")),
    of(Level::Effect, text("fx.verb", "what is done there")),
    of(Level::Effect, text("fx.target", "what it is done to")),
    of(
        Level::Effect,
        text(
            "fx.package",
            "of an install from a registry: the package's name as the registry compares names, without version and alias",
        ),
    ),
    of(
        Level::Effect,
        text("fx.what", "for messages: the path, address or target, else where that lies; always there"),
    ),
    of(Level::Effect, text("fx.text", "for messages: what it does to what, in a few words; always there")),
    of(
        Level::Effect,
        word("fx.role", Role::WORDS, "of an opaque part: program, target, code, operand or tool"),
    ),
    of(Level::Effect, word("fx.why", Why::WORDS, "of an opaque part: why it was not understood")),
    of(Level::Effect, text("script.path", "script file that the effect comes from")),
    of(Level::Effect, text("script.sha256", "SHA-256 of that file")),
    of(
        Level::Written,
        word("fx.when", When::WORDS, "written: not done now, but when a file is run that the call writes"),
    ),
];

/// Finds a field by name.
pub fn field_index(name: &str) -> Option<usize> {
    FIELDS.iter().position(|field| field.name == name)
}

const fn text(name: &'static str, meaning: &'static str) -> FieldDef<'static> {
    let (ty, level, arg) = (FieldType::Text, Level::Call, FieldArg::None);
    FieldDef { name, ty, list: false, level, arg, suggested: false, words: &[], meaning }
}

const fn word(
    name: &'static str,
    words: &'static [&'static str],
    meaning: &'static str,
) -> FieldDef<'static> {
    FieldDef { words, ..text(name, meaning) }
}

const fn number(name: &'static str, meaning: &'static str) -> FieldDef<'static> {
    FieldDef { ty: FieldType::U64, ..text(name, meaning) }
}

const fn truth(name: &'static str, meaning: &'static str) -> FieldDef<'static> {
    FieldDef { ty: FieldType::Bool, ..text(name, meaning) }
}

const fn texts(name: &'static str, meaning: &'static str) -> FieldDef<'static> {
    FieldDef { list: true, ..text(name, meaning) }
}

const fn of(level: Level, field: FieldDef<'static>) -> FieldDef<'static> {
    FieldDef { level, ..field }
}
