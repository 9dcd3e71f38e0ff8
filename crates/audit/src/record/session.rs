//! [`SessionRecord`]: a notice of an agent, and the scripts that a call ran. It must not know other records.

use serde::{Deserialize, Serialize, Serializer};

use crate::clean;
use crate::limits::LIST_BYTES_MAX;
use crate::text::Text;

/// A notice of an agent that needs no decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRecord {
    /// The agent's own event name (`UserPromptSubmit`, `SessionStart`, `PostToolUse`, ...).
    pub event: Text,
    /// `claude_code`, `codex`, ...
    pub agent: Text,
    /// Process id of the agent.
    pub agent_pid: u32,
    /// The agent's session id.
    pub session_id: Text,
    /// The sub-agent's id; empty for the main agent.
    pub subagent_id: Text,
    /// Working directory as the agent gave it.
    pub cwd: Text,
    /// Canonical name of the completed tool; else empty.
    pub tool: Text,
    /// The agent's id of the completed call; else empty.
    pub use_id: Text,
    /// The prompt, or the reason of the start or end. `script_changed` or `script_unchecked` if it is about `scripts`.
    /// Begins with `trust_required` if a person should decide about the session's workspace.
    pub message: Text,
    /// For a completed call: files whose code ran and differs from the judged contents, or could not be compared. A
    /// list that is too long ends in an entry with the number of omitted entries.
    #[serde(serialize_with = "scripts", skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptRecord>,
}

impl SessionRecord {
    /// Reports whether the record only describes the agent's progress: a prompt, a start or end, a completed call. The
    /// other records describe a defect, or a decision that a person should make.
    pub fn is_event(&self) -> bool {
        self.scripts.is_empty() && !self.message.starts_with("trust_required")
    }
}

/// A file whose code ran, as it was when judged and as it is after the call.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ScriptRecord {
    /// Its path, with symlinks resolved.
    pub path: String,
    /// SHA-256 of the judged contents, hex; empty if the code that ran was not read.
    pub sha256: String,
    /// SHA-256 of the contents after the call, hex; empty if they cannot be read.
    pub found: String,
    /// Explanation.
    pub message: String,
}

fn scripts<S: Serializer>(scripts: &[ScriptRecord], serializer: S) -> Result<S::Ok, S::Error> {
    clean::list(scripts, ScriptRecord::texts, "path", LIST_BYTES_MAX, serializer)
}

impl ScriptRecord {
    fn texts(&self) -> [(&'static str, &str); 4] {
        [("path", &self.path), ("sha256", &self.sha256), ("found", &self.found), ("message", &self.message)]
    }
}
