//! The daemon's status in a response. It must not know how it is shown.

use serde::{Deserialize, Serialize};

use super::engine::EngineStatus;
use super::halt::HaltStatus;
use super::pause::PauseStatus;
use super::run::RunStatus;
use super::undo::UndoStatus;

/// The daemon's status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusReport {
    /// Process id.
    pub pid: u32,
    /// castellan's version.
    pub version: String,
    /// The process that keeps the sockets.
    pub sockets: SocketsOf,
    /// `enforce`, `monitor` or `passthrough`.
    pub mode: String,
    /// Seconds since 1970 at which the daemon started, its mode changed or a pause began or ended, whichever was last. 0 if the
    /// daemon's version does not report it.
    pub since_s: u64,
    /// The profile in force.
    pub profile: String,
    /// True if the settings in force require a sandbox for each call.
    pub requires_sandbox: bool,
    /// The program that tests the rules.
    pub engine: EngineStatus,
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
    /// Calls of about the last day.
    pub recent: RecentCalls,
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
    /// The pause in force: calls are not judged until it ends.
    pub pause: Option<PauseStatus>,
    /// The checkpoints.
    pub undo: UndoStatus,
    /// Runs of agents under a profile of their own.
    pub runs: Vec<RunStatus>,
    /// The log's directory.
    pub log: String,
    /// Sequence number of the last record.
    pub log_last_seq: u64,
    /// The notable stream has reached its size limit before its days were over.
    pub log_limit_reached: bool,
    /// The copy of the record outside of the home.
    pub outside: OutsideStatus,
    /// The daemon has a user of its own: the guard level *own user*. `None` for a daemon of the guarded user.
    pub system: Option<SystemStatus>,
}

/// A daemon that has a user of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemStatus {
    /// The id of the daemon's user.
    pub daemon: u32,
    /// The id of the guarded user.
    pub user: u32,
    /// The reason why the user's files cannot be read, so that every call is denied; empty if they can.
    pub reader: String,
}

/// The copy of the record in the system's log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutsideStatus {
    /// `journald`, `syslog`, `none` if the machine has neither, or `off`. Empty if the daemon's version does not report it.
    pub to: String,
    /// The reason why lines wait; empty if none does.
    pub problem: String,
    /// Lines that wait.
    pub waiting: usize,
    /// Lines since the start that will never be sent.
    pub lost: u64,
}

/// The process that keeps a daemon's sockets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketsOf {
    /// A daemon before the first handover: it cannot give them to another one.
    #[default]
    Unknown,
    /// The daemon itself, which can give them to the next one.
    Daemon,
    /// A service manager.
    Manager,
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

/// Calls of about the last day, also of the daemons before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecentCalls {
    /// False while the log is not yet read, and if a day's records are too long to read.
    pub is_whole: bool,
    /// The quarters of an hour with calls, the oldest first.
    pub quarters: Vec<QuarterCalls>,
}

/// Calls of a quarter of an hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarterCalls {
    /// Its begin, in seconds since 1970.
    pub begin_s: u64,
    /// The calls.
    pub calls: VerdictCounts,
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
