//! The field table: name, type, level, meaning and reader of every field that a rule can name. `castellan rules fields`
//! and the field reference in `docs/` are generated from it.

use std::borrow::Cow;

use super::{CallRow, Row as _, Value};
use crate::call::PatchOp;
use crate::effect::Effect;
use crate::facts::Command;
use crate::field::{FieldArg, FieldDef, FieldType, Level};
use crate::vocabulary::{EffectKind, Escape, FileOrigin, Guard, HostClass, Role, Scope, When, Why};

/// Every field of source `coding_agent`. The position in this table is the index that [`crate::Row::value`] takes.
pub static FIELDS: &[FieldDef<'static>] = &definitions();

/// Finds a field by name.
pub fn field_index(name: &str) -> Option<usize> {
    FIELDS.iter().position(|field| field.name == name)
}

/// A field with its reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    def: FieldDef<'static>,
    pub(super) read: Read,
}

/// Reads the value of a field from the part of a row that the field describes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Read {
    Call(for<'r> fn(&'r CallRow<'r>) -> Value<'r>),
    /// Reads a field of the call with the field's key.
    Keyed(for<'r> fn(&'r CallRow<'r>, &str) -> Value<'r>),
    Command(fn(&Command) -> Value<'_>),
    Effect(fn(&Effect) -> Value<'_>),
    Written(fn(&Effect) -> Value<'_>),
}

/// The fields in the order of [`FIELDS`].
pub(super) const TABLE: &[Field] = &[
    call(
        FieldDef {
            suggested: true,
            ..number(
                "correlation.id",
                "random id of the call, never 0; the same in the reason, the record and alerts",
            )
        },
        |row| Value::U64(row.call.correlation_id),
    ),
    call(text("row.level", "level of the row: call, command, effect or written"), |row| {
        Value::text(row.level().as_str())
    }),
    call(text("agent.name", "the agent, such as claude_code (`castellan agents` lists all)"), |row| {
        Value::text(&row.call.agent.name)
    }),
    call(text("agent.os", "linux, macos, windows or unknown"), |_| Value::text(OS)),
    call(number("agent.pid", "process id of the agent; 0 if unknown"), |row| {
        Value::U64(u64::from(row.call.agent.pid))
    }),
    call(text("agent.hook_event_name", "the agent's own name of the event, such as PreToolUse"), |row| {
        Value::text(&row.call.agent.event)
    }),
    call(text("agent.session_id", "the agent's session id"), |row| Value::text(&row.call.agent.session_id)),
    call(
        text("agent.subagent_id", "id of the sub-agent that makes the call; empty for the main agent"),
        |row| Value::text(&row.call.agent.subagent_id),
    ),
    call(
        text(
            "agent.permission_mode",
            "permission mode as the agent reports it: default, acceptEdits, plan, bypassPermissions, ...",
        ),
        |row| Value::text(&row.call.agent.permission_mode),
    ),
    call(text("agent.transcript_path", "path of the agent's transcript"), |row| {
        Value::text(&row.call.agent.transcript_path)
    }),
    call(text("agent.model", "name of the model, if the agent reports it"), |row| {
        Value::text(&row.call.agent.model)
    }),
    call(text("agent.turn_id", "id of the turn, if the agent reports it"), |row| {
        Value::text(&row.call.agent.turn_id)
    }),
    call(text("agent.cwd", "working directory as the agent reports it"), |row| {
        Value::text(&row.call.agent.cwd)
    }),
    call(text("agent.real_cwd", "working directory with symlinks resolved"), |row| Value::text(row.real_cwd)),
    call(
        text("agent.real_cwd_prefix", "agent.real_cwd with exactly one / at its end, for startswith"),
        |row| Value::Text(Cow::Owned(with_one_slash(row.real_cwd))),
    ),
    call(text("tool.use_id", "the agent's id of the call"), |row| Value::text(&row.call.tool.use_id)),
    call(
        text(
            "tool.name",
            "canonical name of the tool: Bash, Write, Edit, Read, apply_patch, mcp__server__tool, ...",
        ),
        |row| Value::text(row.tool_name()),
    ),
    call(text("tool.name_raw", "the agent's own name of the tool"), |row| {
        Value::text(&row.call.tool.name_raw)
    }),
    call(text("tool.input", "the whole input as compact JSON"), |row| Value::text(&row.call.input_text)),
    call(text("tool.input_command", "shell text of Bash; patch of one file of apply_patch"), |row| {
        Value::text(row.input_command())
    }),
    call(
        text(
            "tool.file_path",
            "path as written, of Read, Write, Edit, NotebookEdit and each file of a patch",
        ),
        |row| Value::text(row.file.map_or("", |file| &file.target.path)),
    ),
    call(text("tool.real_file_path", "tool.file_path with symlinks resolved"), |row| {
        Value::text(row.file.map_or("", |file| file.real_path))
    }),
    call(text("tool.file_name", "last component of the path as written"), |row| {
        Value::text(row.file.map_or("", |file| last_component(&file.target.path)))
    }),
    call(text("tool.patch_op", "operation on each file of a patch: Add, Update, Delete or Move"), |row| {
        Value::text(row.file.and_then(|file| file.target.patch_op).map_or("", PatchOp::as_str))
    }),
    call(text("tool.mcp_server", "same as mcp.server, under the name of the coding-agents-kit"), |row| {
        Value::text(row.mcp().map_or("", |(server, _)| server))
    }),
    call(text("mcp.server", "server of an MCP call"), |row| {
        Value::text(row.mcp().map_or("", |(server, _)| server))
    }),
    call(text("mcp.tool", "tool of an MCP call, without its server"), |row| {
        Value::text(row.mcp().map_or("", |(_, tool)| tool))
    }),
    call(text("mcp.args", "input of an MCP call as compact JSON"), |row| {
        Value::text(row.mcp().map_or("", |_| &row.call.input_text))
    }),
    keyed(
        number(
            "session.mark_count",
            "number of earlier calls of the session that set the mark; 0 if none did",
        ),
        |row, key| {
            let mark = row.session.marks.get(key);
            Value::U64(mark.map_or(0, |mark| mark.count))
        },
    ),
    keyed(
        number("session.mark_age_ms", "milliseconds since the mark was last set; absent if it never was"),
        |row, key| {
            let mark = row.session.marks.get(key);
            mark.map_or(Value::Absent, |mark| Value::U64(row.session.now_ms.saturating_sub(mark.at_ms)))
        },
    ),
    command(text("cmd.name", "name of the program, without its directory"), |command| {
        Value::optional(command.name.as_deref())
    }),
    command(text("cmd.path", "path of the program"), |command| Value::optional(command.path.as_deref())),
    command(texts("cmd.args", "arguments that the program gets"), |command| Value::texts(&command.args)),
    command(texts("cmd.flags", "flags among the arguments, with clusters split"), |command| {
        Value::texts(&command.flags)
    }),
    command(texts("cmd.operands", "arguments that are not flags"), |command| Value::texts(&command.operands)),
    command(text("cmd.subcommand", "subcommand, such as push of git push"), |command| {
        Value::optional(command.subcommand.as_deref())
    }),
    command(text("cmd.line", "the command as written"), |command| Value::text(&command.line)),
    command(texts("cmd.wrappers", "wrappers around the command, outermost first, such as sudo"), |command| {
        Value::texts(&command.wrappers)
    }),
    command(
        text("cmd.origin", "source of the command in the call: text, substitution, script, ..."),
        |command| Value::text(&command.origin),
    ),
    command(text("cmd.pipe_from", "name of the command whose output this command reads"), |command| {
        Value::optional(command.pipe_from.as_deref())
    }),
    command(texts("cmd.env", "environment variables of the command, as NAME=value"), |command| {
        Value::texts(&command.env)
    }),
    command(
        text("cmd.remote", "where the command runs, if on another machine or in a container"),
        |command| Value::optional(command.remote.as_deref()),
    ),
    effect(word("fx.kind", EffectKind::WORDS, "read, write, delete, connect, ... or opaque"), |effect| {
        Value::text(effect.kind().as_str())
    }),
    effect(text("fx.path", "path with symlinks resolved"), |effect| Value::optional(effect.path())),
    effect(text("fx.path_raw", "path as written"), |effect| Value::optional(effect.path_raw())),
    effect(
        text("fx.home_path", "path below the home of a user, as seen from that home; / is the home itself"),
        |effect| Value::optional(effect.home_path()),
    ),
    effect(
        word(
            "fx.scope",
            Scope::WORDS,
            "most sensitive kind of the path: secret, startup, ..., else fx.place",
        ),
        |effect| Value::optional(effect.scope().map(Scope::as_str)),
    ),
    effect(
        word("fx.place", Scope::WORDS, "location of the path: workspace, home, system, temporary, ..."),
        |effect| Value::optional(effect.place().map(Scope::as_str)),
    ),
    effect(
        word(
            "fx.guard",
            Guard::WORDS,
            "part of the guard (castellan or hooks) that the path, its pattern or a file below it may be; for changes, and for programs without a model",
        ),
        |effect| Value::optional(effect.guard().map(Guard::as_str)),
    ),
    effect(
        word("fx.file_origin", FileOrigin::WORDS, "origin of the file: downloaded, written or repository"),
        |effect| Value::optional(effect.file_origin().map(FileOrigin::as_str)),
    ),
    effect(
        word("fx.escape", Escape::WORDS, "how a path that is inside of the workspace as written leaves it"),
        |effect| Value::optional(effect.escape().map(Escape::as_str)),
    ),
    effect(number("fx.links", "number of names (hard links) of the regular file"), |effect| {
        effect.measured().and_then(|file| file.links).map_or(Value::Absent, Value::U64)
    }),
    effect(
        text(
            "fx.other_name",
            "another name (hard link) of the file, if it is in a directory of secrets or settings",
        ),
        |effect| Value::optional(effect.measured().and_then(|file| file.other_name.as_deref())),
    ),
    effect(
        number("fx.size", "bytes of the file that is read, or of the file after a tool has written it"),
        |effect| effect.measured().and_then(|file| file.size).map_or(Value::Absent, Value::U64),
    ),
    effect(
        truth("fx.binary", "true if a NUL is among the first 8 KiB that a tool reads or writes"),
        |effect| effect.measured().and_then(|file| file.is_binary).map_or(Value::Absent, Value::Bool),
    ),
    effect(text("fx.host", "host"), |effect| Value::optional(effect.host())),
    effect(
        word(
            "fx.host_class",
            HostClass::WORDS,
            "class of the host: loopback, private, metadata, public or unknown",
        ),
        |effect| Value::optional(effect.host_class().map(HostClass::as_str)),
    ),
    effect(text("fx.url", "URL"), |effect| Value::optional(effect.url())),
    effect(truth("fx.recursive", "true if the effect includes everything below a directory"), |effect| {
        effect.op.recursive.map_or(Value::Absent, Value::Bool)
    }),
    effect(truth("fx.force", "true if the command neither asks nor stops at an error"), |effect| {
        effect.op.force.map_or(Value::Absent, Value::Bool)
    }),
    effect(text("fx.system", "system that the effect changes, such as postgres or aws"), |effect| {
        Value::optional(effect.system())
    }),
    effect(text("fx.verb", "action on that system"), |effect| Value::optional(effect.verb())),
    effect(text("fx.target", "object of that action"), |effect| Value::optional(effect.target())),
    effect(
        text(
            "fx.package",
            "package that an install takes from a registry: its name as the registry compares names, without \
             version and alias",
        ),
        |effect| Value::optional(effect.package()),
    ),
    effect(
        text("fx.what", "for messages: path, address or target, else its location; always present"),
        |effect| Value::text(effect.what()),
    ),
    effect(
        text("fx.text", "for messages: the action and its object in a few words; always present"),
        |effect| Value::Text(Cow::Owned(effect.text().into_bytes())),
    ),
    effect(
        word("fx.role", Role::WORDS, "role of an Opaque part: program, target, code, operand or tool"),
        |effect| Value::optional(effect.role().map(Role::as_str)),
    ),
    effect(word("fx.why", Why::WORDS, "reason why castellan did not understand an Opaque part"), |effect| {
        Value::optional(effect.why().map(Why::as_str))
    }),
    effect(text("script.path", "script file that causes the effect"), |effect| {
        Value::optional(effect.script_path())
    }),
    effect(text("script.sha256", "SHA-256 of script.path"), |effect| {
        Value::optional(effect.script.as_ref().and_then(|script| script.sha256.as_deref()))
    }),
    written(
        word(
            "fx.when",
            When::WORDS,
            "written: the effect happens later, when a file that the call writes is run",
        ),
        |_| Value::text(When::Written.as_str()),
    ),
];

const fn call(def: FieldDef<'static>, read: for<'r> fn(&'r CallRow<'r>) -> Value<'r>) -> Field {
    Field { def: FieldDef { level: Level::Call, ..def }, read: Read::Call(read) }
}

const fn keyed(def: FieldDef<'static>, read: for<'r> fn(&'r CallRow<'r>, &str) -> Value<'r>) -> Field {
    Field { def: FieldDef { level: Level::Call, arg: FieldArg::Key, ..def }, read: Read::Keyed(read) }
}

const fn command(def: FieldDef<'static>, read: fn(&Command) -> Value<'_>) -> Field {
    Field { def: FieldDef { level: Level::Command, ..def }, read: Read::Command(read) }
}

const fn effect(def: FieldDef<'static>, read: fn(&Effect) -> Value<'_>) -> Field {
    Field { def: FieldDef { level: Level::Effect, ..def }, read: Read::Effect(read) }
}

const fn written(def: FieldDef<'static>, read: fn(&Effect) -> Value<'_>) -> Field {
    Field { def: FieldDef { level: Level::Written, ..def }, read: Read::Written(read) }
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

/// Returns the definitions of [`TABLE`] without their readers.
const fn definitions() -> [FieldDef<'static>; TABLE.len()] {
    let mut definitions = [text("", ""); TABLE.len()];
    let (mut fields, mut free): (_, &mut [FieldDef<'static>]) = (TABLE, &mut definitions);
    while let (Some((field, fields_left)), Some((def, free_left))) =
        (fields.split_first(), free.split_first_mut())
    {
        *def = field.def;
        (fields, free) = (fields_left, free_left);
    }
    definitions
}

const OS: &str = if cfg!(target_os = "linux") {
    "linux"
} else if cfg!(target_os = "macos") {
    "macos"
} else if cfg!(windows) {
    "windows"
} else {
    "unknown"
};

fn last_component(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn with_one_slash(path: &str) -> Vec<u8> {
    let mut prefix = path.trim_end_matches('/').as_bytes().to_vec();
    if !path.is_empty() {
        prefix.push(b'/');
    }
    prefix
}
