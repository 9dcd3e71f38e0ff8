//! The records, as they stand in the log: format version 2. Version 1 has numbers where this one has strings of digits ([`wide`]).
//!
//! These structs are the file format and nothing else. Keys keep their order; a new version may add keys (readers take
//! absent ones as empty and skip unknown ones), and gives a new version number to anything else. Strings are redacted
//! and cut while they are written, and long lists end early, so what is read back may be shorter than what was appended.

use std::fmt;

use castellan_event::Verdict;
use serde::{Deserialize, Serialize, Serializer};

use crate::limits::{LIST_BYTES_MAX, OBLIGATIONS_BYTES_MAX, WORLD_BYTES_MAX};
use crate::{clean, wide};

/// One of the two files a record goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Calls allowed or deferred, and notices of sessions: many, kept by size.
    Routine,
    /// Everything a person may ask about later: kept by time.
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

/// What one line of the log says. Serialized under the key that is its [`Record::kind`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all records are calls, and they are not kept in memory"
)]
pub enum Record {
    /// A tool call that was judged.
    Call(CallRecord),
    /// A notice of an agent that precedes no call: prompt, session start and end, a call that is done.
    Session(SessionRecord),
    /// A request on the control socket.
    Control(ControlRecord),
    /// A failure of castellan itself.
    Failure(FailureRecord),
    /// A call that ran as nobody decided, or what makes such calls possible.
    Ungoverned(UngovernedRecord),
    /// Events that nobody recorded while the daemon was away.
    Gap(GapRecord),
    /// A segment that castellan deletes. Written by the log itself.
    Retention(RetentionRecord),
    /// Damage that the log found in its own files. Written by the log itself.
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

    /// Returns the stream the record belongs to. A verdict that is no known word is notable.
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

/// A tool call and what castellan decided.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Random id, also in the reason the agent is told.
    #[serde(with = "wide")]
    pub correlation_id: u64,
    /// The request a person can grant (`K7`); empty where there is none.
    #[serde(serialize_with = "clean::text")]
    pub request: String,
    /// The agent's own event name (`PreToolUse`).
    #[serde(serialize_with = "clean::text")]
    pub event: String,
    /// `claude_code`, `codex`, ...
    #[serde(serialize_with = "clean::text")]
    pub agent: String,
    /// Process id of the agent.
    pub agent_pid: u32,
    /// The agent's session id.
    #[serde(serialize_with = "clean::text")]
    pub session_id: String,
    /// The sub-agent's id; empty for the main agent.
    #[serde(serialize_with = "clean::text")]
    pub subagent_id: String,
    /// The agent's permission mode.
    #[serde(serialize_with = "clean::text")]
    pub permission_mode: String,
    /// Working directory as the agent gave it.
    #[serde(serialize_with = "clean::text")]
    pub cwd: String,
    /// Working directory, resolved.
    #[serde(serialize_with = "clean::text")]
    pub real_cwd: String,
    /// The session's workspace; empty where there is none.
    #[serde(serialize_with = "clean::text")]
    pub workspace: String,
    /// Canonical tool name.
    #[serde(serialize_with = "clean::text")]
    pub tool: String,
    /// The agent's own tool name.
    #[serde(serialize_with = "clean::text")]
    pub tool_raw: String,
    /// The agent's id of this call.
    #[serde(serialize_with = "clean::text")]
    pub use_id: String,
    /// The tool's input: redacted, long values cut.
    #[serde(serialize_with = "clean::input")]
    pub input: serde_json::Value,
    /// Files that the call names. A list that is too long ends in an entry that says how many are left out.
    #[serde(serialize_with = "files")]
    pub files: Vec<FileRecord>,
    /// What the world answered while the call was judged; cut like `files`.
    #[serde(serialize_with = "world")]
    pub world: Vec<WorldRecord>,
    /// All findings, lifted or not, in the order of the stages; cut like `files`.
    #[serde(serialize_with = "findings")]
    pub findings: Vec<FindingRecord>,
    /// Obligations that the answer depends on; cut like `files`. Absent where there are none.
    #[serde(serialize_with = "obligations", skip_serializing_if = "Vec::is_empty")]
    pub obligations: Vec<ObligationRecord>,
    /// Marks that the call set on its session; cut like `files`.
    #[serde(serialize_with = "marks")]
    pub marks: Vec<MarkRecord>,
    /// What policy says, whatever the mode.
    #[serde(serialize_with = "clean::text")]
    pub verdict: String,
    /// What the agent was told.
    #[serde(serialize_with = "clean::text")]
    pub answer: String,
    /// Whether the answer carries out the verdict.
    pub enforced: bool,
    /// `enforce`, `monitor` or `passthrough`.
    #[serde(serialize_with = "clean::text")]
    pub mode: String,
    /// The access level that the call needs; empty where nobody looked.
    #[serde(serialize_with = "clean::text")]
    pub required_level: String,
    /// The access level that the session has; empty where levels do not count.
    #[serde(serialize_with = "clean::text")]
    pub active_level: String,
    /// Why, as the agent is told.
    #[serde(serialize_with = "clean::text")]
    pub reason: String,
    /// Hash of the policy it was judged by.
    #[serde(serialize_with = "clean::text")]
    pub policy: String,
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
    /// What a patch does to it; empty for other tools.
    pub op: String,
}

/// One question to the world and its answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WorldRecord {
    /// What was asked.
    pub query: String,
    /// What came back; `=` for a path that leads where the question says.
    pub answer: String,
}

/// What a stage found.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FindingRecord {
    /// What this finding alone would answer.
    pub verdict: String,
    /// Kind of the finding.
    pub code: String,
    /// Name of the rule; empty where none made it.
    pub rule: String,
    /// The layer of the rule (`organisation`, `user`); empty where none made it.
    pub layer: String,
    /// Positions of the rows that the rule fired on, parted by blanks: first the call's, its text and each of its files,
    /// then its commands, then its effects; empty where none made it.
    pub rows: String,
    /// What lifted it: `grant`, `operator`, `observe` where its rule is only observed, or the kind of an obligation; empty where it
    /// stands.
    pub lifted: String,
    /// What happened.
    pub message: String,
}

/// What castellan had to do for the answer to hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ObligationRecord {
    /// Its kind: `contain`, `checkpoint`, `review`, `hold`. A later version may write others: read [`ObligationRecord::or_else`] then.
    pub kind: String,
    /// The name of the containment policy, or the longest wait in seconds; empty where there is nothing to say.
    pub detail: String,
    /// The fallback: the verdict that the call has at least where this obligation is not met. Findings that it lifted are in force
    /// again, too.
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

/// A notice of an agent that asks nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRecord {
    /// The agent's own event name (`UserPromptSubmit`, `SessionStart`, `PostToolUse`, ...).
    #[serde(serialize_with = "clean::text")]
    pub event: String,
    /// `claude_code`, `codex`, ...
    #[serde(serialize_with = "clean::text")]
    pub agent: String,
    /// Process id of the agent.
    pub agent_pid: u32,
    /// The agent's session id.
    #[serde(serialize_with = "clean::text")]
    pub session_id: String,
    /// The sub-agent's id; empty for the main agent.
    #[serde(serialize_with = "clean::text")]
    pub subagent_id: String,
    /// Working directory as the agent gave it.
    #[serde(serialize_with = "clean::text")]
    pub cwd: String,
    /// Canonical name of the tool that is done; else empty.
    #[serde(serialize_with = "clean::text")]
    pub tool: String,
    /// The agent's id of the call that is done; else empty.
    #[serde(serialize_with = "clean::text")]
    pub use_id: String,
    /// The prompt, or the reason of the start or end; `script_changed` or `script_unchecked` where it is about `scripts`.
    #[serde(serialize_with = "clean::text")]
    pub message: String,
    /// Of a call that is done: files whose code ran and which are not what was judged, or of which that is not known. A list
    /// that is too long ends in an entry that says how many are left out.
    #[serde(serialize_with = "scripts", skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptRecord>,
}

/// A file whose code ran, as it was judged and as it is after the call.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ScriptRecord {
    /// Where it lies, symlinks resolved.
    pub path: String,
    /// SHA-256 of what was judged, hex; empty where something ran that was not read.
    pub sha256: String,
    /// SHA-256 of what it holds after the call, hex; empty where that cannot be read.
    pub found: String,
    /// What that means.
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

/// A request on the control socket and what became of it, or a start of the daemon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlRecord {
    /// What was asked for (`mode`, `stop`, ...), or what the daemon did by itself (`start`, `reload`).
    #[serde(serialize_with = "clean::text")]
    pub action: String,
    /// Its argument (`monitor`); empty where there is none.
    #[serde(serialize_with = "clean::text")]
    pub argument: String,
    /// Whether it was done.
    pub accepted: bool,
    /// Why it was refused, or what the presence check saw.
    #[serde(serialize_with = "clean::text")]
    pub message: String,
    /// Process id of the one who asked.
    pub peer_pid: u32,
    /// User id of the one who asked.
    pub peer_uid: u32,
    /// Number of the record of the call that this is about ([`CallRecord::correlation_id`]); 0 where it is about none.
    #[serde(with = "wide")]
    pub call: u64,
    /// SHA-256, in hex, of that call's input as compact JSON; empty where this is about none.
    #[serde(serialize_with = "clean::text")]
    pub input_sha256: String,
    /// SHA-256, in hex, of the configuration and rule files in force from here on; empty where this says nothing of them.
    #[serde(serialize_with = "clean::text")]
    pub files: String,
}

/// A failure of castellan itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureRecord {
    /// Kind of the failure, one stable word (`panic`, `policy`, `frame`, ...).
    #[serde(serialize_with = "clean::text")]
    pub code: String,
    /// What happened, with file, line and remedy.
    #[serde(serialize_with = "clean::text")]
    pub message: String,
    /// The agent concerned; empty where none is.
    #[serde(serialize_with = "clean::text")]
    pub agent: String,
    /// The agent's own event name; empty where none is concerned.
    #[serde(serialize_with = "clean::text")]
    pub event: String,
    /// Process id of the peer; 0 where none is concerned.
    pub peer_pid: u32,
    /// What the agent was told; empty where none is concerned.
    #[serde(serialize_with = "clean::text")]
    pub answer: String,
}

/// A call that ran without a decision, against one, or with another input than the one judged; or a change of an agent's
/// settings by which calls could.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UngovernedRecord {
    /// `no_decision`, `against_decision`, `other_input`, `hooks_off` or `foreign_hook`.
    #[serde(serialize_with = "clean::text")]
    pub why: String,
    /// What shows it: the agent's event (`PostToolUse`), else `transcript` or `settings`.
    #[serde(serialize_with = "clean::text")]
    pub seen: String,
    /// `claude_code`, `codex`, ...
    #[serde(serialize_with = "clean::text")]
    pub agent: String,
    /// Process id of the agent.
    pub agent_pid: u32,
    /// The agent's session id.
    #[serde(serialize_with = "clean::text")]
    pub session_id: String,
    /// The sub-agent's id; empty for the main agent, and where it is not known.
    #[serde(serialize_with = "clean::text")]
    pub subagent_id: String,
    /// Working directory as the agent gave it.
    #[serde(serialize_with = "clean::text")]
    pub cwd: String,
    /// Canonical name of the tool that ran; empty where it is about settings.
    #[serde(serialize_with = "clean::text")]
    pub tool: String,
    /// The agent's id of the call that ran.
    #[serde(serialize_with = "clean::text")]
    pub use_id: String,
    /// What ran, as far as it is known: redacted, long values cut.
    #[serde(serialize_with = "clean::input")]
    pub input: serde_json::Value,
    /// The transcript or settings file that shows it; empty where an event does.
    #[serde(serialize_with = "clean::text")]
    pub file: String,
    /// What it means.
    #[serde(serialize_with = "clean::text")]
    pub message: String,
    /// What castellan does about it: `record`, `notify` or `stop`.
    #[serde(serialize_with = "clean::text")]
    pub action: String,
    /// The access level that the session has from here on at most; empty where it stays.
    #[serde(serialize_with = "clean::text")]
    pub ceiling: String,
}

/// Events that nobody recorded while the daemon was away.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GapRecord {
    /// The agent concerned; empty where it is not known.
    #[serde(serialize_with = "clean::text")]
    pub agent: String,
    /// The agent's own event name; empty where it is not known.
    #[serde(serialize_with = "clean::text")]
    pub event: String,
    /// Events known to be missing; 0 where nobody counted.
    pub count: u64,
    /// Start of the gap, RFC 3339; empty where it is not known.
    #[serde(serialize_with = "clean::text")]
    pub since: String,
    /// Why nothing was recorded.
    #[serde(serialize_with = "clean::text")]
    pub message: String,
}

/// A segment that is deleted right after this record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetentionRecord {
    /// The stream of the segment.
    pub stream: Stream,
    /// Name of the deleted file.
    #[serde(serialize_with = "clean::text")]
    pub file: String,
    /// First sequence number in it.
    pub first_seq: u64,
    /// Last sequence number in it.
    pub last_seq: u64,
    /// SHA-256 of its last line, in hex.
    #[serde(serialize_with = "clean::text")]
    pub last_hash: String,
    /// Which limit was reached.
    #[serde(serialize_with = "clean::text")]
    pub reason: String,
    /// Where the routine stream begins after the deletion. Both are repeated in every retention record, because older
    /// ones may be deleted themselves.
    pub routine_cut: Cut,
    /// Where the notable stream begins after the deletion.
    pub notable_cut: Cut,
}

/// The last line of a stream that retention deleted; zeros where it deleted nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cut {
    /// Its sequence number.
    pub seq: u64,
    /// Its SHA-256, in hex.
    #[serde(serialize_with = "clean::text")]
    pub hash: String,
}

/// Damage that the log found in its own files and went on after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRecord {
    /// The stream concerned.
    pub stream: Stream,
    /// Name of the damaged file.
    #[serde(serialize_with = "clean::text")]
    pub file: String,
    /// Bytes of an unfinished last line that were cut off. Such a line was never answered.
    pub cut_bytes: u64,
    /// Whether finished lines are missing or changed, which a crash of the daemon alone does not do.
    pub lost: bool,
    /// Last sequence number of the stream before the lost lines.
    pub after_seq: u64,
    /// Last sequence number that may be lost; `after_seq` when none is.
    pub up_to_seq: u64,
    /// What was found.
    #[serde(serialize_with = "clean::text")]
    pub message: String,
}
