//! [`CallRecord`]: a tool call with its decision, and the lists in it. It must not know other records.

use serde::{Deserialize, Serialize, Serializer};

use crate::limits::{LIST_BYTES_MAX, OBLIGATIONS_BYTES_MAX, WORLD_BYTES_MAX};
use crate::text::{Input, Text};
use crate::{clean, wide};

/// A tool call and castellan's decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Random id, also part of the reason that the agent gets.
    #[serde(with = "wide")]
    pub correlation_id: u64,
    /// The request that a person can grant (`K7`); empty if there is none.
    pub request: Text,
    /// The agent's own event name (`PreToolUse`).
    pub event: Text,
    /// `claude_code`, `codex`, ...
    pub agent: Text,
    /// Process id of the agent.
    pub agent_pid: u32,
    /// Process id of the run that the agent is below, the innermost one; absent without a run.
    #[serde(skip_serializing_if = "is_none")]
    pub run: u32,
    /// The agent's session id.
    pub session_id: Text,
    /// The sub-agent's id; empty for the main agent.
    pub subagent_id: Text,
    /// The agent's permission mode.
    pub permission_mode: Text,
    /// Working directory as the agent gave it.
    pub cwd: Text,
    /// Working directory, resolved.
    pub real_cwd: Text,
    /// The session's workspace; empty if there is none.
    pub workspace: Text,
    /// Canonical tool name.
    pub tool: Text,
    /// The agent's own tool name.
    pub tool_raw: Text,
    /// The agent's id of this call.
    pub use_id: Text,
    /// The tool's input: redacted, long values cut.
    pub input: Input,
    /// The command that the agent runs in the place of the input's own; absent if there is none.
    #[serde(skip_serializing_if = "is_blank")]
    pub rewrite: Text,
    /// Files that the call names. A list that is too long ends in an entry with the number of omitted entries.
    #[serde(serialize_with = "files")]
    pub files: Vec<FileRecord>,
    /// Answers of the world while the call was judged; cut like `files`.
    #[serde(serialize_with = "world")]
    pub world: Vec<WorldRecord>,
    /// All findings, lifted or not, in the order of the stages; cut like `files`.
    #[serde(serialize_with = "findings")]
    pub findings: Vec<FindingRecord>,
    /// Obligations that the answer depends on; cut like `files`. Absent if there are none.
    #[serde(serialize_with = "obligations", skip_serializing_if = "Vec::is_empty")]
    pub obligations: Vec<ObligationRecord>,
    /// Marks that the call set on its session; cut like `files`.
    #[serde(serialize_with = "marks")]
    pub marks: Vec<MarkRecord>,
    /// The verdict of the policy, independent of the mode.
    pub verdict: Text,
    /// The answer sent to the agent.
    pub answer: Text,
    /// True if the answer carries out the verdict.
    pub enforced: bool,
    /// `enforce`, `monitor` or `passthrough`.
    pub mode: Text,
    /// The access level that the call needs; empty if it was not determined.
    pub required_level: Text,
    /// The access level of the session; empty if levels are off.
    pub active_level: Text,
    /// The reason sent to the agent.
    pub reason: Text,
    /// Hash of the policy that judged the call.
    pub policy: Text,
    /// The program that tested the rules, `falco`; absent for castellan itself.
    #[serde(skip_serializing_if = "is_blank")]
    pub engine: Text,
    /// Time from the frame to this record, in microseconds.
    pub duration_us: u64,
}

fn is_blank(text: &Text) -> bool {
    text.as_str().is_empty()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(pid: &u32) -> bool {
    *pid == 0
}

/// A file that a call names.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FileRecord {
    /// The path as the agent gave it.
    pub path: String,
    /// The path, resolved.
    pub real_path: String,
    /// The operation of a patch on this file; empty for other tools.
    pub op: String,
}

/// A question to the world and its answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WorldRecord {
    /// The question.
    pub query: String,
    /// The answer; `=` for a path that resolves to itself.
    pub answer: String,
}

/// A finding of a stage.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FindingRecord {
    /// The verdict of this finding alone.
    pub verdict: String,
    /// Kind of the finding.
    pub code: String,
    /// Name of the rule; empty if no rule made the finding.
    pub rule: String,
    /// The layer of the rule (`organisation`, `user`); empty if no rule made the finding.
    pub layer: String,
    /// Positions of the rows that the rule matched, separated by blanks: first those of the call, its text and each of
    /// its files, then its commands, then its effects. Empty if no rule made the finding.
    pub rows: String,
    /// The reason why the finding has no effect: `grant`, `operator`, `observe` if its rule is only observed, or the
    /// kind of an obligation. Empty if the finding is in force.
    pub lifted: String,
    /// Description of the finding.
    pub message: String,
}

/// A condition that castellan had to meet for the answer to be valid.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ObligationRecord {
    /// Its kind: `contain`, `checkpoint`, `review`, `hold`. For unknown later kinds, use [`ObligationRecord::or_else`].
    pub kind: String,
    /// The name of the containment policy, the longest wait in seconds, or the reason of the reviewer; else empty.
    pub detail: String,
    /// The fallback: the least strict verdict of the call if this obligation is not met. The findings that the
    /// obligation lifted are then in force again.
    pub or_else: String,
}

/// A mark that a call set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MarkRecord {
    /// Its label.
    pub label: String,
}

fn files<S: Serializer>(files: &[FileRecord], serializer: S) -> Result<S::Ok, S::Error> {
    clean::list(files, FileRecord::texts, "path", LIST_BYTES_MAX, serializer)
}

fn world<S: Serializer>(world: &[WorldRecord], serializer: S) -> Result<S::Ok, S::Error> {
    clean::list(world, WorldRecord::texts, "answer", WORLD_BYTES_MAX, serializer)
}

fn findings<S: Serializer>(findings: &[FindingRecord], serializer: S) -> Result<S::Ok, S::Error> {
    clean::list(findings, FindingRecord::texts, "message", LIST_BYTES_MAX, serializer)
}

fn obligations<S: Serializer>(obligations: &[ObligationRecord], serializer: S) -> Result<S::Ok, S::Error> {
    clean::list(obligations, ObligationRecord::texts, "kind", OBLIGATIONS_BYTES_MAX, serializer)
}

fn marks<S: Serializer>(marks: &[MarkRecord], serializer: S) -> Result<S::Ok, S::Error> {
    clean::list(marks, MarkRecord::texts, "label", LIST_BYTES_MAX, serializer)
}

impl FileRecord {
    fn texts(&self) -> [(&'static str, &str); 3] {
        [("path", &self.path), ("real_path", &self.real_path), ("op", &self.op)]
    }
}

impl WorldRecord {
    fn texts(&self) -> [(&'static str, &str); 2] {
        [("query", &self.query), ("answer", &self.answer)]
    }
}

impl FindingRecord {
    fn texts(&self) -> [(&'static str, &str); 7] {
        [
            ("verdict", &self.verdict),
            ("code", &self.code),
            ("rule", &self.rule),
            ("layer", &self.layer),
            ("rows", &self.rows),
            ("lifted", &self.lifted),
            ("message", &self.message),
        ]
    }
}

impl ObligationRecord {
    fn texts(&self) -> [(&'static str, &str); 3] {
        [("kind", &self.kind), ("detail", &self.detail), ("or_else", &self.or_else)]
    }
}

impl MarkRecord {
    fn texts(&self) -> [(&'static str, &str); 1] {
        [("label", &self.label)]
    }
}
