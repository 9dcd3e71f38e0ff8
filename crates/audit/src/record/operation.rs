//! Records of castellan's own operation: control requests, failures, ungoverned calls, gaps, retention, recovery. They
//! must not know calls.

use serde::{Deserialize, Serialize};

use super::Stream;
use crate::text::{Input, Text};
use crate::wide;

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
    /// `no_decision`, `against_decision`, `other_input`, `rewrite_ignored`, `hooks_off` or `foreign_hook`.
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
