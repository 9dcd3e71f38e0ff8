//! The control protocol between `castellan` and the daemon.
//!
//! A frame of JSON in each direction: an envelope with the version, around a request or a response. Requests that
//! loosen anything need the user presence check in `control_server`.

mod client;
mod listener;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::client::{AskSecret, ControlClient, ControlError};
use crate::config::KeyEdit;
use crate::explanation::Explanation;

/// Version of the control protocol.
pub(crate) const CONTROL_VERSION: u32 = 2;

/// The previous version, also readable. It has other names for two keys, and fewer requests.
pub(crate) const CONTROL_VERSION_BEFORE: u32 = 1;

/// The message in either direction. The version comes first, so that it can be read from a message of any version.
#[derive(Serialize, Deserialize)]
pub(crate) struct Envelope<T> {
    /// The version of the body: [`CONTROL_VERSION`], or [`ControlRequest::version`].
    pub(crate) version: u32,
    pub(crate) body: T,
    #[serde(flatten)]
    pub(crate) known: Known,
}

/// The secrets that the daemon asked the user for. They are stored nowhere else, in particular not in the log.
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

/// A kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// The PIN of `presence_check = "pin"`.
    Pin,
    /// The password of the user's account.
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

/// A request.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_debug_implementations, reason = "a PIN may stand in it, which is written nowhere")]
pub enum ControlRequest {
    /// Reports the daemon's status.
    Status,
    /// Changes the mode to `enforce`, `monitor` or `passthrough`. Loosens, unless it tightens.
    Mode(String),
    /// Changes a word of the configuration in force: the profile or the state of a pack. Loosens, unless it tightens.
    Switch {
        /// The key: `profile`, `packs.git`, `tiers.review`.
        key: String,
        /// The word.
        word: String,
    },
    /// Changes one key of the user's configuration in force. Loosens, unless the effective values only get stricter.
    Edit {
        /// The key, such as `allow`.
        key: String,
        /// The change.
        edit: KeyEdit,
        /// [`StatusReport::applied`] of the set in force as shown to the person.
        shown: String,
    },
    /// Enforces the shipped rules that an upgrade has added and that are only observed so far. Tightens.
    EndTrial,
    /// Puts the configuration and rule files on disk in force, if they are still those shown to the person. Loosens.
    Apply {
        /// [`crate::FileSet::hash`] of the shown files.
        hash: String,
    },
    /// Stops the daemon until `castellan start`. Loosens.
    Stop,
    /// Ends the daemon, so that the next hook starts the daemon of the installed version. Loosens.
    Restart,
    /// Lists the pending calls.
    Pending,
    /// Lists the grants.
    Granted,
    /// Returns the details of a pending call.
    Show {
        /// Its request id, such as `K7`.
        id: String,
    },
    /// Grants a pending call, if it is still the call shown to the person. Loosens.
    Approve {
        /// Its request id, such as `K7`.
        id: String,
        /// [`ShownCall::shown`] of the shown call.
        shown: String,
        /// The validity of the grant.
        scope: GrantScope,
    },
    /// Refuses a pending call, or revokes a grant.
    Refuse {
        /// Its request id.
        id: String,
    },
    /// Lists the decisions about workspaces.
    Trusted,
    /// Decides about a workspace. Loosens, unless it denies.
    Trust {
        /// Its real path.
        workspace: String,
        /// The decision; `standing` in version 1.
        #[serde(alias = "standing")]
        trust: TrustDecision,
        /// Hash of the workspace's own files as shown to the person: only these are trusted. `None` if there were none.
        #[serde(default)]
        project: Option<String>,
    },
    /// Puts a copy of a plan in force. Loosens for one session, where it replaces a plan, and where a plan is missing
    /// that is needed.
    UsePlan {
        /// The text of the plan.
        text: String,
        /// The file, for people.
        source: String,
        /// The sessions of the plan.
        of: PlanFor,
        /// Departures are denied, whatever the settings.
        is_strict: bool,
    },
    /// Ends a plan. Loosens.
    EndPlan {
        /// The sessions of the plan.
        of: PlanFor,
    },
    /// Compiles a proposed plan to its scope.
    ProposePlan {
        /// The text in Markdown.
        markdown: String,
        /// The sessions of the plan.
        of: PlanFor,
    },
    /// Returns a proposed plan.
    ShowPlan {
        /// Its request id.
        id: String,
    },
    /// Puts a proposed plan in force, if it is still the one shown to the person. Loosens.
    ApprovePlan {
        /// Its request id.
        id: String,
        /// [`ShownPlan::hash`] of the shown plan.
        hash: String,
    },
    /// Lists the plans in force and the proposed ones.
    Plans,
    /// Registers the requesting process as a run: its profile holds for every agent below it. `None`: the configured
    /// profile. Loosens if the profile is milder than the one that holds for the process.
    Run {
        /// The word of the profile.
        profile: Option<String>,
    },
    /// Records what the requesting process saw of the agent in its run. Only the process that registered a run may.
    Note {
        /// The kind.
        kind: RunNote,
        /// The text for the record.
        text: String,
    },
    /// Denies every further call of these agents, until [`ControlRequest::Resume`]. Tightens. Rejected within an agent,
    /// which could stop others by it.
    Halt {
        /// The sessions.
        of: HaltOf,
        /// Also ends the agents' processes, with everything below them.
        kill: bool,
    },
    /// Ends a halt; that of [`HaltOf::All`] ends every halt. Loosens.
    Resume {
        /// The sessions of the halt.
        of: HaltOf,
    },
    /// Sets or changes the PIN of `presence_check = "pin"`. Loosens; a change needs the old PIN.
    SetPin {
        /// The new PIN.
        new: String,
    },
    /// Asks for permission to loosen something outside of the daemon, such as an uninstall. The text is for the record.
    Loosen(String),
}

impl ControlRequest {
    /// Returns the version that gave the request its present form. A daemon of that version, which runs on after an
    /// upgrade, understands the request.
    pub(crate) fn version(&self) -> u32 {
        match self {
            ControlRequest::Edit { .. }
            | ControlRequest::Trust { .. }
            | ControlRequest::UsePlan { .. }
            | ControlRequest::EndPlan { .. }
            | ControlRequest::ProposePlan { .. }
            | ControlRequest::ShowPlan { .. }
            | ControlRequest::ApprovePlan { .. }
            | ControlRequest::Plans
            | ControlRequest::Run { .. }
            | ControlRequest::Note { .. }
            | ControlRequest::Halt { .. }
            | ControlRequest::Resume { .. } => CONTROL_VERSION,
            ControlRequest::Status
            | ControlRequest::Mode(_)
            | ControlRequest::Switch { .. }
            | ControlRequest::EndTrial
            | ControlRequest::Apply { .. }
            | ControlRequest::Stop
            | ControlRequest::Restart
            | ControlRequest::Pending
            | ControlRequest::Granted
            | ControlRequest::Show { .. }
            | ControlRequest::Approve { .. }
            | ControlRequest::Refuse { .. }
            | ControlRequest::Trusted
            | ControlRequest::SetPin { .. }
            | ControlRequest::Loosen(_) => CONTROL_VERSION_BEFORE,
        }
    }
}

/// Reports whether this castellan reads a version of the control protocol.
pub(crate) fn is_readable(version: u32) -> bool {
    [CONTROL_VERSION_BEFORE, CONTROL_VERSION].contains(&version)
}

/// A person's decision about a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustDecision {
    /// Sessions may work there.
    Trusted,
    /// Sessions in the workspace or below have no tools.
    Denied,
    /// No decision, or a revoked one.
    Unknown,
}

impl TrustDecision {
    /// Returns the word for messages.
    pub fn as_str(&self) -> &'static str {
        match self {
            TrustDecision::Trusted => "trusted",
            TrustDecision::Denied => "denied",
            TrustDecision::Unknown => "unknown",
        }
    }
}

/// The sessions of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFor {
    /// The sessions of a workspace, by its real path.
    Workspace(String),
    /// One session, by the agent's id of it.
    Session(String),
}

impl fmt::Display for PlanFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanFor::Workspace(path) => f.write_str(path),
            PlanFor::Session(session) => write!(f, "the session {session}"),
        }
    }
}

/// A plan in the list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListedPlan {
    /// Its workspace or session.
    pub of: String,
    /// The file that was copied, or the proposal; empty for a proposal that waits.
    pub source: String,
    /// SHA-256 of the copy, in hex; empty for a proposal that waits.
    pub hash: String,
    /// Departures are denied, whatever the settings.
    pub is_strict: bool,
    /// A person approved the scope.
    pub is_approved: bool,
    /// Calls under the plan.
    pub calls: u64,
    /// Calls that departed from it.
    pub departed: u64,
    /// The last departure.
    pub last: String,
    /// The request id of a proposal that waits.
    pub proposal: Option<String>,
    /// The scope: titles and lines.
    pub scope: Vec<(String, Vec<String>)>,
}

/// A proposed plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPlan {
    /// Its request id.
    pub id: String,
    /// Its workspace or session.
    pub of: String,
    /// The scope: titles and lines.
    pub scope: Vec<(String, Vec<String>)>,
    /// Parts of the text that the plan does not cover, one line each.
    pub not_covered: Vec<String>,
    /// Identifies the plan, in hex.
    pub hash: String,
}

/// A registered run, for the process that registered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInForce {
    /// The profile that holds for the process: its own, or the stricter one of a run around it.
    pub profile: String,
    /// The agents may use tools.
    pub has_tools: bool,
}

/// A kind of note about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunNote {
    /// The model requested a tool call.
    ToolAttempt,
    /// A token budget is spent: the agent is ended.
    TokenBudgetExceeded,
    /// The agent's reports of usage cannot be read: the agent is ended.
    TokenUsageUnreadable,
    /// `castellan run` failed: the agent is ended.
    RunFailed,
}

impl RunNote {
    /// Returns the word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            RunNote::ToolAttempt => "tool_attempt",
            RunNote::TokenBudgetExceeded => "token_budget_exceeded",
            RunNote::TokenUsageUnreadable => "token_usage_unreadable",
            RunNote::RunFailed => "run_failed",
        }
    }
}

/// The sessions of a halt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaltOf {
    /// All sessions.
    All,
    /// A session by the agent's id of it, with its sub-agents and the sessions of the same process.
    Session(String),
    /// All sessions of an agent, such as `claude`.
    Agent(String),
}

impl fmt::Display for HaltOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HaltOf::All => f.write_str("all agents"),
            HaltOf::Session(session) => write!(f, "the session {session}"),
            HaltOf::Agent(agent) => write!(f, "the agent {agent}"),
        }
    }
}

/// The result of a halt that ends processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HaltReport {
    /// Processes that ended; only the first are listed.
    pub ended: Vec<EndedProcess>,
    /// Number of processes that ended.
    pub ended_count: usize,
    /// Processes that still run.
    pub left: Vec<EndedProcess>,
}

/// A process that was to end at a halt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedProcess {
    /// Its id.
    pub pid: u32,
    /// Its program, as the kernel names it.
    pub name: String,
    /// It was killed, because it did not end by itself.
    pub is_forced: bool,
    /// The reason why it still runs; empty if it ended.
    pub why: String,
}

/// A halt in force, for the status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HaltStatus {
    /// The sessions: `all agents`, `the agent claude`, `the session S`.
    pub of: String,
    /// Seconds since it began.
    pub age_s: u64,
}

/// A run, for the status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatus {
    /// The process that registered it. It may have ended while its agents still run.
    pub pid: u32,
    /// Its profile.
    pub profile: String,
    /// Running agents that have asked below it.
    pub agents: usize,
    /// Seconds since its start.
    pub age_s: u64,
}

/// A workspace with a person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedWorkspace {
    /// Its real path.
    pub workspace: String,
    /// The decision; `standing` in version 1.
    #[serde(alias = "standing")]
    pub trust: TrustDecision,
    /// State of the workspace's own files since they were trusted. `None` if there were none and are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<ProjectFiles>,
}

/// State of a trusted workspace's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectFiles {
    /// They are unchanged.
    Same,
    /// They have changed since: the trusted copy applies.
    Changed,
    /// The trusted copy cannot be read any more: the workspace is unknown.
    Lost,
}

/// Validity of a grant. A grant applies only to the same call, in the same session unless the scope says otherwise.
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

/// A pending call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Its request id, such as `K7`.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The agent's session id.
    pub session: String,
    /// Working directory of the call.
    pub cwd: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// The input, shortened.
    pub input: String,
    /// The reasons why it was not allowed at once, a line for each finding.
    pub reasons: Vec<String>,
    /// Seconds since the last attempt.
    pub age_s: u64,
    /// Number of attempts.
    pub times: u32,
    /// The agent is waiting for the answer now; `held` in version 1.
    #[serde(default, alias = "held")]
    pub waiting: bool,
    /// The agent's own prompt is open for the call: only a yes there runs it.
    #[serde(default)]
    pub at_prompt: bool,
    /// The class of the call, if a grant for the session covers the whole class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// A pending call with its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownCall {
    /// The entry in the list.
    #[serde(flatten)]
    pub call: PendingCall,
    /// Number of its record in the log.
    #[serde(with = "castellan_audit::wide")]
    pub record: u64,
    /// The whole input, with the agent's names.
    pub whole_input: Json,
    /// SHA-256 of `whole_input` as compact JSON, in hex.
    pub input_sha256: String,
    /// The call's effects.
    pub explanation: Explanation,
    /// Identifies the call and its grantable part, in hex.
    pub shown: String,
}

/// A granted call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedCall {
    /// The request id that it had; the grant is revoked by this id.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// Working directory of the call.
    pub cwd: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// The input, shortened.
    pub input: String,
    /// The validity of the grant.
    pub scope: GrantScope,
    /// Seconds since it was granted.
    pub age_s: u64,
    /// The class of calls that the grant covers besides this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlResponse {
    /// The request is carried out.
    Done,
    /// The daemon's status.
    Status(Box<StatusReport>),
    /// The pending calls, the oldest first.
    Pending(Vec<PendingCall>),
    /// The decisions about workspaces, by path.
    Trusted(Vec<DecidedWorkspace>),
    /// The grants, the oldest first.
    Granted(Vec<GrantedCall>),
    /// The details of a call.
    Shown(Box<ShownCall>),
    /// A proposed plan.
    Plan(Box<ShownPlan>),
    /// The plans in force and the proposed ones.
    Plans(Vec<ListedPlan>),
    /// The run is registered.
    Run(RunInForce),
    /// The agents are halted.
    Halted(HaltReport),
    /// The request needs the person's PIN.
    PinNeeded,
    /// The request needs the password of the person's account.
    PasswordNeeded,
    /// Rejected, with the reason.
    Refused(String),
    /// Permitted, but failed, with the reason.
    Failed(String),
}

/// The daemon's status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    /// The reason why it is not the current policy, and the problems of configuration and rule files, each on a line.
    pub problems: Vec<String>,
    /// True if no policy is in force until the organisation's files are repaired; these then take effect by themselves.
    pub awaits_organisation: bool,
    /// Rules in force.
    pub rules: usize,
    /// Hash of the configuration and rule files in force ([`crate::FileSet::hash`]). Empty if none are in force, or if
    /// the daemon's version does not report it.
    pub applied: String,
    /// When edited rule files take effect: `apply` or `watch`.
    pub reload: String,
    /// Edited files that wait for `castellan apply`, by folder and name.
    pub pending: Vec<String>,
    /// Number of shipped rules that an upgrade has added and that are only observed so far. Their names are only for
    /// persons, because agents can read a status too.
    pub on_trial: usize,
    /// Calls of unknown tools since the start.
    pub unknown_tools: u64,
    /// The tool of the last such call; empty if there was none.
    pub last_unknown_tool: String,
    /// True if the daemon knows that the requesting process runs within a guarded agent.
    pub within_agent: bool,
    /// Number of known sessions.
    pub sessions: usize,
    /// Number of valid grants.
    pub grants: usize,
    /// Number of workspaces with a decision.
    pub workspaces: usize,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Calls judged since the start, by verdict.
    pub verdicts: VerdictCounts,
    /// Failures of castellan's own since the start.
    pub failures: u64,
    /// The last failure; empty if there was none.
    pub last_failure: String,
    /// Loosening requests since the start that failed the user presence check.
    pub refused: u64,
    /// The last such request; empty if there was none.
    pub last_refused: String,
    /// Number of pending calls.
    pub waiting: usize,
    /// Calls since the start without a matching decision, and changes of settings that make such calls possible.
    pub ungoverned: u64,
    /// The last of these; empty if there was none.
    pub last_ungoverned: String,
    /// Running agents that do not ask castellan.
    pub unguarded: Vec<UnguardedAgent>,
    /// Trusted foreign hooks, by their command lines.
    pub trusted_hooks: Vec<String>,
    /// Halts in force: their calls are denied until a person ends them.
    pub halts: Vec<HaltStatus>,
    /// Runs of agents under a profile of their own.
    pub runs: Vec<RunStatus>,
    /// The log's directory.
    pub log: String,
    /// Sequence number of the last record.
    pub log_last_seq: u64,
    /// The notable stream has reached its size limit before its days were over.
    pub log_limit_reached: bool,
}

/// A running agent that does not ask castellan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnguardedAgent {
    /// The agent's name on the command line.
    pub agent: String,
    /// Its process id.
    pub pid: u32,
    /// Its working directory.
    pub cwd: String,
    /// The reason why it does not ask.
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
    /// Reports whether the client may ask the person for a secret for this request.
    fn may_loosen(&self) -> bool {
        !matches!(
            self,
            ControlRequest::Status
                | ControlRequest::Pending
                | ControlRequest::Granted
                | ControlRequest::Show { .. }
                | ControlRequest::EndTrial
                | ControlRequest::Refuse { .. }
                | ControlRequest::Halt { .. }
                | ControlRequest::Trusted
                | ControlRequest::Plans
                | ControlRequest::ShowPlan { .. }
                | ControlRequest::ProposePlan { .. }
                | ControlRequest::Note { .. }
        )
    }
}
