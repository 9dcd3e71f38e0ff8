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
        ..number(
            "correlation.id",
            "random id of the call, never 0; the same in the reason, the record and alerts",
        )
    },
    text("row.level", "level of the row: call, command, effect or written"),
    text("agent.name", "the agent, such as claude_code (`castellan agents` lists all)"),
    text("agent.os", "linux, macos, windows or unknown"),
    number("agent.pid", "process id of the agent; 0 if unknown"),
    text("agent.hook_event_name", "the agent's own name of the event, such as PreToolUse"),
    text("agent.session_id", "the agent's session id"),
    text("agent.subagent_id", "id of the sub-agent that makes the call; empty for the main agent"),
    text(
        "agent.permission_mode",
        "permission mode as the agent reports it: default, acceptEdits, plan, bypassPermissions, ...",
    ),
    text("agent.transcript_path", "path of the agent's transcript"),
    text("agent.model", "name of the model, if the agent reports it"),
    text("agent.turn_id", "id of the turn, if the agent reports it"),
    text("agent.cwd", "working directory as the agent reports it"),
    text("agent.real_cwd", "working directory with symlinks resolved"),
    text("agent.real_cwd_prefix", "agent.real_cwd with exactly one / at its end, for startswith"),
    text("tool.use_id", "the agent's id of the call"),
    text(
        "tool.name",
        "canonical name of the tool: Bash, Write, Edit, Read, apply_patch, mcp__server__tool, ...",
    ),
    text("tool.name_raw", "the agent's own name of the tool"),
    text("tool.input", "the whole input as compact JSON"),
    text("tool.input_command", "shell text of Bash; patch of one file of apply_patch"),
    text("tool.file_path", "path as written, of Read, Write, Edit, NotebookEdit and each file of a patch"),
    text("tool.real_file_path", "tool.file_path with symlinks resolved"),
    text("tool.file_name", "last component of the path as written"),
    text("tool.patch_op", "operation on each file of a patch: Add, Update, Delete or Move"),
    text("tool.mcp_server", "same as mcp.server, under the name of the coding-agents-kit"),
    text("mcp.server", "server of an MCP call"),
    text("mcp.tool", "tool of an MCP call, without its server"),
    text("mcp.args", "input of an MCP call as compact JSON"),
    FieldDef {
        arg: FieldArg::Key,
        ..number(
            "session.mark_count",
            "number of earlier calls of the session that set the mark; 0 if none did",
        )
    },
    FieldDef {
        arg: FieldArg::Key,
        ..number("session.mark_age_ms", "milliseconds since the mark was last set; absent if it never was")
    },
    of(Level::Command, text("cmd.name", "name of the program, without its directory")),
    of(Level::Command, text("cmd.path", "path of the program")),
    of(Level::Command, texts("cmd.args", "arguments that the program gets")),
    of(Level::Command, texts("cmd.flags", "flags among the arguments, with clusters split")),
    of(Level::Command, texts("cmd.operands", "arguments that are not flags")),
    of(Level::Command, text("cmd.subcommand", "subcommand, such as push of git push")),
    of(Level::Command, text("cmd.line", "the command as written")),
    of(Level::Command, texts("cmd.wrappers", "wrappers around the command, outermost first, such as sudo")),
    of(
        Level::Command,
        text("cmd.origin", "source of the command in the call: text, substitution, script, ..."),
    ),
    of(Level::Command, text("cmd.pipe_from", "name of the command whose output this command reads")),
    of(Level::Command, texts("cmd.env", "environment variables of the command, as NAME=value")),
    of(Level::Command, text("cmd.remote", "where the command runs, if on another machine or in a container")),
    of(Level::Effect, word("fx.kind", EffectKind::WORDS, "read, write, delete, connect, ... or opaque")),
    of(Level::Effect, text("fx.path", "path with symlinks resolved")),
    of(Level::Effect, text("fx.path_raw", "path as written")),
    of(
        Level::Effect,
        text("fx.home_path", "path below the home of a user, as seen from that home; / is the home itself"),
    ),
    of(
        Level::Effect,
        word(
            "fx.scope",
            Scope::WORDS,
            "most sensitive kind of the path: secret, startup, ..., else fx.place",
        ),
    ),
    of(
        Level::Effect,
        word("fx.place", Scope::WORDS, "location of the path: workspace, home, system, temporary, ..."),
    ),
    of(
        Level::Effect,
        word(
            "fx.guard",
            Guard::WORDS,
            "part of the guard (castellan or hooks) that the path, its pattern or a file below it may be; for \
             changes, and for programs without a model",
        ),
    ),
    of(
        Level::Effect,
        word("fx.file_origin", FileOrigin::WORDS, "origin of the file: downloaded, written or repository"),
    ),
    of(Level::Effect, text("fx.host", "host")),
    of(
        Level::Effect,
        word(
            "fx.host_class",
            HostClass::WORDS,
            "class of the host: loopback, private, metadata, public or unknown",
        ),
    ),
    of(Level::Effect, text("fx.url", "URL")),
    of(Level::Effect, truth("fx.recursive", "true if the effect includes everything below a directory")),
    of(Level::Effect, truth("fx.force", "true if the command neither asks nor stops at an error")),
    of(Level::Effect, text("fx.system", "system that the effect changes, such as postgres or aws")),
    of(Level::Effect, text("fx.verb", "action on that system")),
    of(Level::Effect, text("fx.target", "object of that action")),
    of(
        Level::Effect,
        text(
            "fx.package",
            "package that an install takes from a registry: its name as the registry compares names, without \
             version and alias",
        ),
    ),
    of(
        Level::Effect,
        text("fx.what", "for messages: path, address or target, else its location; always present"),
    ),
    of(
        Level::Effect,
        text("fx.text", "for messages: the action and its object in a few words; always present"),
    ),
    of(
        Level::Effect,
        word("fx.role", Role::WORDS, "role of an Opaque part: program, target, code, operand or tool"),
    ),
    of(Level::Effect, word("fx.why", Why::WORDS, "reason why castellan did not understand an Opaque part")),
    of(Level::Effect, text("script.path", "script file that causes the effect")),
    of(Level::Effect, text("script.sha256", "SHA-256 of script.path")),
    of(
        Level::Written,
        word(
            "fx.when",
            When::WORDS,
            "written: the effect happens later, when a file that the call writes is run",
        ),
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
