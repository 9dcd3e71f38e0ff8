//! The control protocol: what `castellan` asks the daemon over the control socket.
//!
//! One frame of JSON each way: an envelope with the version, and in it the request or the response. Requests that loosen
//! anything pass the presence check in `control_server`.

mod client;
mod listener;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::client::{AskSecret, ControlClient, ControlError};
use crate::explanation::Explanation;

/// Version of the control protocol.
pub(crate) const CONTROL_VERSION: u32 = 1;

/// What goes over the socket, either way: the version first, so that it can be read whatever else has changed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Envelope<T> {
    /// [`CONTROL_VERSION`] of the sender.
    pub(crate) version: u32,
    pub(crate) body: T,
    #[serde(flatten)]
    pub(crate) known: Known,
}

/// What only the person who asks knows, where the daemon has asked for it. It stands nowhere else, least of all in the log.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<String>,
}

impl Known {
    fn is_some(&self) -> bool {
        self.pin.is_some() || self.password.is_some()
    }
}

/// A kind of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// The PIN of `presence = "pin"`.
    Pin,
    /// The password of their account.
    Password,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Secret::Pin => "PIN",
            Secret::Password => "password",
        })
    }
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_debug_implementations, reason = "a PIN may stand in it, which is written nowhere")]
pub enum ControlRequest {
    /// How the daemon is.
    Status,
    /// Change the mode, to `enforce`, `monitor` or `passthrough`. Loosens, unless it tightens.
    Mode(String),
    /// Change one word of the configuration in force: the profile, how far a pack counts. Loosens, unless it tightens.
    Switch {
        /// The key: `profile`, `packs.git`, `tiers.review`.
        key: String,
        /// The word.
        word: String,
    },
    /// Put the shipped rules in force that an upgrade has brought and that are only observed yet. Tightens.
    EndTrial,
    /// Put the configuration and rule files on disk in force, if they are still those that the person was shown. Loosens.
    Apply {
        /// [`crate::FileSet::hash`] of what was shown.
        hash: String,
    },
    /// Stop, and stay stopped until `castellan start`. Loosens.
    Stop,
    /// End, so that the next hook starts the daemon of the installed version. Loosens.
    Restart,
    /// The calls that wait for a person.
    Pending,
    /// What persons have granted.
    Granted,
    /// All of one call that waits.
    Show {
        /// Its request id, such as `K7`.
        id: String,
    },
    /// Let a call that waits happen, if it is still the one that the person was shown. Loosens.
    Approve {
        /// Its request id, such as `K7`.
        id: String,
        /// [`ShownCall::shown`] of what was shown.
        shown: String,
        /// For how long.
        scope: GrantScope,
    },
    /// Do not let a call happen that waits, or was granted.
    Refuse {
        /// Its request id.
        id: String,
    },
    /// What was decided about workspaces.
    Trusted,
    /// Decide about a workspace. Loosens, unless it denies.
    Trust {
        /// Its real path.
        workspace: String,
        /// What to do about sessions there.
        standing: WorkspaceStanding,
        /// Hash of its own files as the person saw them: these are trusted, and no others. Nothing where there were none.
        #[serde(default)]
        project: Option<String>,
    },
    /// Set the PIN of `presence = "pin"`, or another one. Loosens; another one needs the one of before.
    SetPin {
        /// The new one.
        new: String,
    },
    /// May the requesting process loosen something that the daemon does not do itself, such as an uninstall? Says what,
    /// for the record.
    Loosen(String),
}

/// What a person has decided about a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceStanding {
    /// Sessions may work there.
    Trusted,
    /// Sessions there have no tools, nor below it.
    Denied,
    /// Nothing, or not any more.
    Unknown,
}

impl WorkspaceStanding {
    /// The word that a person reads.
    pub fn as_str(&self) -> &'static str {
        match self {
            WorkspaceStanding::Trusted => "trusted",
            WorkspaceStanding::Denied => "denied",
            WorkspaceStanding::Unknown => "unknown",
        }
    }
}

/// A workspace that a person has decided about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedWorkspace {
    /// Its real path.
    pub workspace: String,
    /// What was decided.
    pub standing: WorkspaceStanding,
    /// How the files of its own are that it was trusted with. Nothing where there were none, and are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<ProjectFiles>,
}

/// A trusted workspace's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectFiles {
    /// They are those that were trusted.
    Same,
    /// They are others by now: those that were trusted count.
    Changed,
    /// What was trusted cannot be read any more: the workspace counts as unknown.
    Lost,
}

/// For how long a grant holds. Only for the same call, made in the same session unless it is said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// For one call, within a quarter of an hour.
    Once,
    /// For the session.
    Session,
    /// For seconds.
    For(u64),
    /// In any session, until it is refused.
    Always,
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Its request id, such as `K7`.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The agent's session id.
    pub session: String,
    /// Directory that it was made in.
    pub cwd: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// What it was made with, shortened.
    pub input: String,
    /// Why it did not simply run, one line for each finding.
    pub reasons: Vec<String>,
    /// Seconds since it was asked last.
    pub age_s: u64,
    /// How often it was asked.
    pub times: u32,
    /// The agent waits for the answer just now.
    #[serde(default)]
    pub held: bool,
    /// The agent's own prompt is open for it: it runs only by a yes there.
    #[serde(default)]
    pub at_prompt: bool,
}

/// All of a call that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownCall {
    /// What the list says of it.
    #[serde(flatten)]
    pub call: PendingCall,
    /// Number of its record in the log.
    #[serde(with = "castellan_audit::wide")]
    pub record: u64,
    /// What it was made with, whole, by the agent's names.
    pub whole_input: Json,
    /// SHA-256 of that as compact JSON, in hex.
    pub input_sha256: String,
    /// What it would do.
    pub explanation: Explanation,
    /// Names the call and what of it can be granted, in hex.
    pub shown: String,
}

/// A call that a person has granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedCall {
    /// The request id that it had, by which it is refused.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// Directory that it is made in.
    pub cwd: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// What it is made with, shortened.
    pub input: String,
    /// For how long.
    pub scope: GrantScope,
    /// Seconds since it was granted.
    pub age_s: u64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlResponse {
    /// Done.
    Done,
    /// How the daemon is.
    Status(Box<StatusReport>),
    /// The calls that wait, the oldest first.
    Pending(Vec<PendingCall>),
    /// The workspaces that a person has decided about, by path.
    Trusted(Vec<DecidedWorkspace>),
    /// What is granted, the oldest first.
    Granted(Vec<GrantedCall>),
    /// All of a call.
    Shown(Box<ShownCall>),
    /// Not without the person's PIN.
    PinNeeded,
    /// Not without the password of their account.
    PasswordNeeded,
    /// Not allowed: why.
    Refused(String),
    /// Allowed, and it did not work: why.
    Failed(String),
}

/// How the daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusReport {
    /// Process id.
    pub pid: u32,
    /// castellan's version.
    pub version: String,
    /// `enforce`, `monitor` or `passthrough`.
    pub mode: String,
    /// Hash of the policy in force.
    pub policy: String,
    /// `current`, `last_good` or `missing`.
    pub policy_origin: String,
    /// Why it is not the current one; problems of configuration and rule files, one line each.
    pub problems: Vec<String>,
    /// Whether nothing is in force until the organisation's files are mended, which then count by themselves.
    #[serde(default)]
    pub awaits_organisation: bool,
    /// Rules in force.
    pub rules: usize,
    /// Hash of the configuration and rule files in force ([`crate::FileSet::hash`]); empty when nothing is in force, or when
    /// the daemon is of a version that cannot tell.
    #[serde(default)]
    pub applied: String,
    /// When edited rule files come into force: `apply` or `watch`.
    #[serde(default)]
    pub reload: String,
    /// Edited files that wait for `castellan apply`, by folder and name.
    #[serde(default)]
    pub pending: Vec<String>,
    /// How many shipped rules an upgrade has brought that are only observed yet. Which, is for persons: agents read a status, too.
    #[serde(default)]
    pub on_trial: usize,
    /// Calls since the start of tools that castellan does not know.
    #[serde(default)]
    pub unknown_tools: u64,
    /// The tool of the last of them; empty when there was none.
    #[serde(default)]
    pub last_unknown_tool: String,
    /// Whether who asks runs within a guarded agent, by what the daemon knows.
    #[serde(default)]
    pub within_agent: bool,
    /// Sessions that are kept in mind.
    #[serde(default)]
    pub sessions: usize,
    /// Grants that hold.
    #[serde(default)]
    pub grants: usize,
    /// Workspaces that a person has decided about.
    #[serde(default)]
    pub workspaces: usize,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Calls judged since the start, by verdict.
    pub verdicts: VerdictCounts,
    /// Failures of castellan's own since the start.
    pub failures: u64,
    /// The last of them; empty when there was none.
    pub last_failure: String,
    /// Requests to loosen something that were refused since the start, because no person was there.
    #[serde(default)]
    pub refused: u64,
    /// The last of them; empty when there was none.
    #[serde(default)]
    pub last_refused: String,
    /// Calls that wait for a person.
    #[serde(default)]
    pub waiting: usize,
    /// Calls since the start that ran as nobody decided, and changes of settings by which they could.
    #[serde(default)]
    pub ungoverned: u64,
    /// The last of them; empty when there was none.
    #[serde(default)]
    pub last_ungoverned: String,
    /// Agents that run and do not ask castellan.
    #[serde(default)]
    pub unguarded: Vec<UnguardedAgent>,
    /// Hooks of others that are trusted, by their command lines.
    #[serde(default)]
    pub trusted_hooks: Vec<String>,
    /// The log's directory.
    pub log: String,
    /// Sequence number of the last record.
    pub log_last_seq: u64,
    /// The notable stream has reached its size limit before its days were over.
    pub log_limit_reached: bool,
}

/// An agent that runs and does not ask castellan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnguardedAgent {
    /// The agent, by its word on the command line.
    pub agent: String,
    /// Its process.
    pub pid: u32,
    /// The directory that it works in.
    pub cwd: String,
    /// Why it does not ask.
    pub why: String,
}

/// Calls by verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// Denied.
    pub deny: u64,
    /// Asked.
    pub ask: u64,
    /// Allowed.
    pub allow: u64,
    /// Left to the agent.
    pub defer: u64,
}

impl ControlRequest {
    /// Whether a person may be asked for what only they know, for this.
    fn may_loosen(&self) -> bool {
        match self {
            ControlRequest::Status
            | ControlRequest::Pending
            | ControlRequest::Granted
            | ControlRequest::Show { .. }
            | ControlRequest::EndTrial
            | ControlRequest::Refuse { .. }
            | ControlRequest::Trusted => false,
            ControlRequest::Mode(_)
            | ControlRequest::Switch { .. }
            | ControlRequest::Apply { .. }
            | ControlRequest::Stop
            | ControlRequest::Restart
            | ControlRequest::Approve { .. }
            | ControlRequest::Trust { .. }
            | ControlRequest::SetPin { .. }
            | ControlRequest::Loosen(_) => true,
        }
    }
}
