//! The field table: name, type, level and meaning of every field that a rule can name. `castellan rules fields` and the
//! field reference in `docs/` are generated from it; `row.rs` reads the values.

/// The type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Bytes, usually UTF-8. May hold NUL and invalid UTF-8: neither makes a field absent.
    Text,
    /// An unsigned number.
    U64,
    /// True or false.
    Bool,
    /// A list of texts.
    TextList,
    /// A list of numbers.
    U64List,
}

/// The finest row that a field describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Describes the whole call.
    Call,
}

/// Whether a field takes an argument, as in `field[arg]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldArg {
    /// None.
    None,
    /// A key is required: `field[key]`.
    Key,
    /// An index is required: `field[0]`.
    Index,
}

/// One field of a rule condition or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDef {
    /// Dotted name, such as `tool.name`.
    pub name: &'static str,
    /// Type of its value.
    pub ty: FieldType,
    /// Level of the rows that it describes.
    pub level: Level,
    /// Its argument.
    pub arg: FieldArg,
    /// One line for people.
    pub meaning: &'static str,
}

/// Every field of source `coding_agent`. The position in this table is the index that [`crate::Row::value`] takes.
pub static FIELDS: &[FieldDef] = &[
    number("correlation.id", "random id of the call, never 0; the same in reason, record and alerts"),
    text("agent.name", "claude_code or codex"),
    text("agent.os", "linux, macos, windows or unknown"),
    number("agent.pid", "process id of the agent, 0 when unknown"),
    text("agent.hook_event_name", "the agent's name of the event, such as PreToolUse"),
    text("agent.session_id", "the agent's session id"),
    text("agent.subagent_id", "id of the sub-agent that calls, empty for the main agent"),
    text("agent.permission_mode", "default, acceptEdits, plan, bypassPermissions, ... as reported"),
    text("agent.transcript_path", "path of the agent's transcript"),
    text("agent.model", "model name (Codex only)"),
    text("agent.turn_id", "turn id (Codex only)"),
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
    text("tool.mcp_server", "server of an MCP call"),
];

/// Finds a field by name.
pub fn field_index(name: &str) -> Option<usize> {
    FIELDS.iter().position(|field| field.name == name)
}

const fn text(name: &'static str, meaning: &'static str) -> FieldDef {
    FieldDef { name, ty: FieldType::Text, level: Level::Call, arg: FieldArg::None, meaning }
}

const fn number(name: &'static str, meaning: &'static str) -> FieldDef {
    FieldDef { ty: FieldType::U64, ..text(name, meaning) }
}
