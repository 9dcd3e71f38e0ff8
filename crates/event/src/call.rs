//! A [`Call`]: one tool call of an agent, decoded. It must not know which JSON it came from.

use serde_json::Value as Json;

use crate::verdict::Verdict;

/// One tool call of an agent, before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Random, never zero, unique for each call; field `correlation.id`.
    pub correlation_id: u64,
    /// The caller.
    pub agent: Agent,
    /// The tool that is called.
    pub tool: Tool,
    /// The whole tool input, keys in the agent's order.
    pub input: Json,
    /// `input` as compact JSON; field `tool.input`.
    pub input_text: String,
    /// The shell text, for tools of kind [`ToolKind::Shell`].
    pub command: Option<String>,
    /// Paths that the call names, in order: for a patch, one for each operation, also for a patch in shell text.
    pub files: Vec<FileTarget>,
    /// The call may go on after the agent's turn, by a key of the tool's input.
    pub in_background: bool,
    /// Faults of a payload from which a call could still be read.
    pub problems: Vec<IntakeProblem>,
}

/// The agent and session that a call comes from. A string is empty if the agent does not report it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agent {
    /// `claude_code`, `codex`: the values that rule files compare with.
    pub name: String,
    /// Process id of the agent as the hook saw it (its parent); 0 when unknown.
    pub pid: u32,
    /// The agent's own name of the event, such as `PreToolUse`.
    pub event: String,
    /// The agent's session id.
    pub session_id: String,
    /// Id of the sub-agent that calls, empty for the main agent.
    pub subagent_id: String,
    /// `default`, `acceptEdits`, `bypassPermissions`, ... as the agent reports it.
    pub permission_mode: String,
    /// Path of the agent's transcript.
    pub transcript_path: String,
    /// Model name (Codex only).
    pub model: String,
    /// Turn id (Codex only).
    pub turn_id: String,
    /// Working directory as the agent reports it.
    pub cwd: String,
    /// The decision of a program that embeds the agent, or of another hook of the agent.
    pub overriding: Option<Override>,
}

/// A decision about a call that another program made and sends along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// Deny, ask or allow.
    pub verdict: Verdict,
    /// The reason that this program gives.
    pub reason: String,
}

/// The tool that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Canonical name, the same for all agents: `Bash`, `Write`, `apply_patch`, `mcp__server__tool`, ...
    pub name: String,
    /// The agent's own name.
    pub name_raw: String,
    /// The agent's id of this call; empty when it has none.
    pub use_id: String,
    /// What the tool does, by its name.
    pub kind: ToolKind,
    /// MCP server and tool, for tools of kind [`ToolKind::Mcp`].
    pub mcp: Option<(String, String)>,
}

/// The action of a tool. `Unknown` is not "harmless": the profile decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolKind {
    /// Runs shell text.
    Shell,
    /// Reads files or searches them, and changes nothing.
    Read,
    /// Creates or replaces a file.
    Write,
    /// Changes a file.
    Edit,
    /// Changes several files by a patch.
    Patch,
    /// Fetches a URL or searches the web.
    Web,
    /// Starts another agent.
    Subagent,
    /// A tool of an MCP server.
    Mcp,
    /// Changes only the agent's own state: to-do lists, plans, questions to the user.
    Internal,
    /// A tool that this version does not know.
    Unknown,
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTarget {
    /// The path as the agent wrote it; a relative path is relative to the call's cwd.
    pub path: String,
    /// The operation, for patches.
    pub patch_op: Option<PatchOp>,
    /// The text of this operation alone (a patch hunk), for patches.
    pub patch_text: String,
    /// The change to the file's text.
    pub change: Change,
}

/// The change that a call makes to a file's text, as far as the call's input shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change {
    /// The input does not show it: the call reads or deletes the file, or another program decides about the new text.
    #[default]
    Unsaid,
    /// The file holds this text afterwards.
    Whole(String),
    /// The file holds the text of `of` (spelled as the agent wrote it) with the replacements made in order.
    Edited {
        /// The file itself, unless it is moved.
        of: String,
        /// The replacements, in order.
        replacements: Vec<Replacement>,
    },
}

/// One replacement in a file's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replacement {
    /// The old text; empty if `new` is added at the end.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Replaces every occurrence; otherwise `old` occurs once.
    pub everywhere: bool,
}

/// One operation of an `apply_patch` text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatchOp {
    /// `*** Add File:`
    Add,
    /// `*** Update File:`
    Update,
    /// `*** Delete File:`
    Delete,
    /// `*** Move to:`, the destination of a moved file.
    Move,
}

impl PatchOp {
    /// Returns the value of field `tool.patch_op`.
    pub fn as_str(self) -> &'static str {
        match self {
            PatchOp::Add => "Add",
            PatchOp::Update => "Update",
            PatchOp::Delete => "Delete",
            PatchOp::Move => "Move",
        }
    }
}

/// A fault of a payload from which a call could still be read. Each fault is a deny without exemption. The call is
/// matched against the rules all the same, so that the record shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntakeProblem {
    /// A string of the input holds a NUL. No program can receive a NUL, so two readers would see two different calls.
    NulByte,
    /// The payload was not UTF-8; castellan shows U+FFFD in place of the bad bytes.
    InvalidUtf8,
    /// A field is missing or has another type than in the agent's contract: the field's dotted name.
    WrongType(String),
    /// A name, id or path of the payload that is longer than any real one: its dotted name.
    TooLong(String),
    /// A patch that could not be split into operations: the text in question.
    MalformedPatch(String),
    /// More paths than [`crate::FILES_PER_CALL_MAX`], or one longer than [`crate::PATH_BYTES_MAX`].
    TooManyPaths,
}

impl std::fmt::Display for IntakeProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            IntakeProblem::NulByte => f.write_str("the tool input holds a NUL character"),
            IntakeProblem::InvalidUtf8 => f.write_str("the payload is not valid UTF-8"),
            IntakeProblem::WrongType(field) => write!(f, "`{field}` is missing or has the wrong type"),
            IntakeProblem::TooLong(field) => write!(f, "`{field}` is longer than any real one"),
            IntakeProblem::MalformedPatch(what) => write!(f, "the patch cannot be read: {what}"),
            IntakeProblem::TooManyPaths => f.write_str("the call names too many or too long paths"),
        }
    }
}
