//! The records of the log in format version 2. Version 1 has numbers where version 2 has strings of digits ([`wide`]).
//!
//! These structs are the file format and nothing else. Keys keep their order. A new version may add keys: readers take
//! absent keys as empty and skip unknown ones. Any other change needs a new version number. Strings are redacted and
//! cut while they are written, and long lists end early, so a record that is read back may be shorter than the appended
//! one.

use std::fmt;

use castellan_event::Verdict;
use serde::{Deserialize, Serialize, Serializer};

use crate::limits::{LIST_BYTES_MAX, OBLIGATIONS_BYTES_MAX, WORLD_BYTES_MAX};
use crate::text::{Input, Text};
use crate::{clean, wide};

/// The stream, with its own files, that a record goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Allowed and deferred calls, and notices of sessions. These are many; their size limits how long they are kept.
    Routine,
    /// Everything that a person may ask about later; kept for a number of days.
    Notable,
}

impl Stream {
    /// Both streams.
    pub const ALL: [Stream; 2] = [Stream::Routine, Stream::Notable];

    /// Returns the word used in file names and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Stream::Routine => "routine",
            Stream::Notable => "notable",
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The contents of one line. Serialized under the key [`Record::kind`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all records are calls, and they are not kept in memory"
)]
pub enum Record {
    /// A judged tool call.
    Call(CallRecord),
    /// A notice of an agent that precedes no call: a prompt, the start or end of a session, a completed call.
    Session(SessionRecord),
    /// A request on the control socket.
    Control(ControlRecord),
    /// A failure of castellan itself.
    Failure(FailureRecord),
    /// A call that ran without a matching decision, or a setting that makes such calls possible.
    Ungoverned(UngovernedRecord),
    /// Events that were not recorded while the daemon was not running.
    Gap(GapRecord),
    /// A segment that castellan deletes. The log itself writes this record.
    Retention(RetentionRecord),
    /// Damage that the log found in its own files. The log itself writes this record.
    Recovery(RecoveryRecord),
}

impl Record {
    /// Returns the word in the line's `type`, which is also the key of the record.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Call(_) => "call",
            Record::Session(_) => "session",
            Record::Control(_) => "control",
            Record::Failure(_) => "failure",
            Record::Ungoverned(_) => "ungoverned",
            Record::Gap(_) => "gap",
            Record::Retention(_) => "retention",
            Record::Recovery(_) => "recovery",
        }
    }

    /// Returns the record's stream. A call with an unknown verdict is notable.
    pub fn stream(&self) -> Stream {
        match self {
            Record::Call(call) => match call.verdict.parse() {
                Ok(Verdict::Allow | Verdict::Defer) => Stream::Routine,
                Ok(Verdict::Ask | Verdict::Deny) | Err(_) => Stream::Notable,
            },
            Record::Session(session) if session.scripts.is_empty() => Stream::Routine,
            Record::Session(_) => Stream::Notable,
            Record::Control(_)
            | Record::Failure(_)
            | Record::Ungoverned(_)
            | Record::Gap(_)
            | Record::Retention(_)
            | Record::Recovery(_) => Stream::Notable,
        }
    }
}

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
    /// Time from the frame to this record, in microseconds.
    pub duration_us: u64,
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
    /// The name of the containment policy, or the longest wait in seconds; empty for other kinds.
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

/// A request on the control socket with its result, or a start of the daemon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlRecord {
    /// The requested action (`mode`, `stop`, ...), or an action of the daemon itself (`start`, `reload`).
    pub action: Text,
    /// Its argument (`monitor`); empty if there is none.
    pub argument: Text,
    /// True if the action was done.
    pub accepted: bool,
    /// The reason of a rejection, or the result of the user presence check.
    pub message: Text,
    /// Process id of the peer.
    pub peer_pid: u32,
    /// User id of the peer.
    pub peer_uid: u32,
    /// Number of the record of the call that this is about ([`CallRecord::correlation_id`]); 0 if there is none.
    #[serde(with = "wide")]
    pub call: u64,
    /// SHA-256, in hex, of that call's input as compact JSON; empty if there is none.
    pub input_sha256: Text,
    /// SHA-256, in hex, of the configuration and rule files in force from here on; empty if the action sets none.
    pub files: Text,
}

/// A failure of castellan itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureRecord {
    /// Kind of the failure, one stable word (`panic`, `policy`, `frame`, ...).
    pub code: Text,
    /// Description with file, line and remedy.
    pub message: Text,
    /// The agent concerned; empty if there is none.
    pub agent: Text,
    /// The agent's own event name; empty if there is none.
    pub event: Text,
    /// Process id of the peer; 0 if there is none.
    pub peer_pid: u32,
    /// The answer sent to the agent; empty if there is none.
    pub answer: Text,
}

/// A call that ran without a decision, against a decision, or with another input than the judged one. Also a change of
/// an agent's settings that makes such calls possible.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UngovernedRecord {
    /// `no_decision`, `against_decision`, `other_input`, `hooks_off` or `foreign_hook`.
    pub why: Text,
    /// The evidence: the agent's event (`PostToolUse`), else `transcript` or `settings`.
    pub seen: Text,
    /// `claude_code`, `codex`, ...
    pub agent: Text,
    /// Process id of the agent.
    pub agent_pid: u32,
    /// The agent's session id.
    pub session_id: Text,
    /// The sub-agent's id; empty for the main agent or if it is not known.
    pub subagent_id: Text,
    /// Working directory as the agent gave it.
    pub cwd: Text,
    /// Canonical name of the tool that ran; empty if the record is about settings.
    pub tool: Text,
    /// The agent's id of the call that ran.
    pub use_id: Text,
    /// The input that ran, as far as it is known: redacted, long values cut.
    pub input: Input,
    /// The transcript or settings file with the evidence; empty if an event is the evidence.
    pub file: Text,
    /// Explanation.
    pub message: Text,
    /// castellan's reaction: `record`, `notify` or `stop`.
    pub action: Text,
    /// The upper limit of the session's access level from here on; empty if it does not change.
    pub ceiling: Text,
}

/// Events that were not recorded while the daemon was not running.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GapRecord {
    /// The agent concerned; empty if it is not known.
    pub agent: Text,
    /// The agent's own event name; empty if it is not known.
    pub event: Text,
    /// Number of missing events; 0 if it is not known.
    pub count: u64,
    /// Start of the gap, RFC 3339; empty if it is not known.
    pub since: Text,
    /// The reason why nothing was recorded.
    pub message: Text,
}

/// A segment that is deleted right after this record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetentionRecord {
    /// The stream of the segment.
    pub stream: Stream,
    /// Name of the deleted file.
    pub file: Text,
    /// First sequence number in it.
    pub first_seq: u64,
    /// Last sequence number in it.
    pub last_seq: u64,
    /// SHA-256 of its last line, in hex.
    pub last_hash: Text,
    /// The limit that was reached.
    pub reason: Text,
    /// Last line of the routine stream that retention has deleted. Every retention record repeats both cuts, because
    /// older retention records may be deleted themselves.
    pub routine_cut: Cut,
    /// Last line of the notable stream that retention has deleted.
    pub notable_cut: Cut,
}

/// The last line of a stream that retention deleted; zeros if it deleted nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cut {
    /// Its sequence number.
    pub seq: u64,
    /// Its SHA-256, in hex.
    pub hash: Text,
}

/// Damage that the log found in its own files and repaired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRecord {
    /// The stream concerned.
    pub stream: Stream,
    /// Name of the damaged file.
    pub file: Text,
    /// Bytes that were cut off as an unfinished last line. A call with such a line never got an answer.
    pub cut_bytes: u64,
    /// True if complete lines are missing or changed. A crash of the daemon alone does not cause this.
    pub lost: bool,
    /// Last sequence number of the stream before the lost lines.
    pub after_seq: u64,
    /// Last sequence number that may be lost; `after_seq` if none is.
    pub up_to_seq: u64,
    /// Description of the damage.
    pub message: Text,
}
