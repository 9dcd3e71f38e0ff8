//! The control protocol between `castellan` and the daemon.
//!
//! A frame of JSON in each direction: an envelope with the version, around a request or a response. Requests that
//! loosen anything need the user presence check in `control_server`.

mod call;
mod client;
mod contained;
mod engine;
mod halt;
mod listener;
mod own_files;
mod pause;
mod plan;
mod run;
mod sandbox;
mod status;
mod undo;
mod workspace;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::call::{GrantScope, GrantedCall, PendingCall, ShownCall};
pub use self::client::{AskSecret, ControlClient, ControlError};
pub use self::contained::{ContainedEnd, ContainedOutcome, ContainedRun};
pub use self::engine::{EngineState, EngineStatus};
pub use self::halt::{EndedProcess, HaltOf, HaltReport, HaltStatus};
pub(crate) use self::listener::check as check_listener;
pub use self::own_files::OwnFile;
pub use self::pause::PauseStatus;
pub use self::plan::{ListedPlan, PlanFor, ShownPlan};
pub use self::run::{RunInForce, RunNote, RunStatus};
pub use self::sandbox::{LimitsInForce, SandboxInForce};
pub use self::status::{
    OutsideStatus, QuarterCalls, RecentCalls, SocketsOf, StatusReport, SystemStatus, UnguardedAgent,
    VerdictCounts,
};
pub use self::undo::{
    KeepReport, ListedCheckpoint, MarkedFiles, ShownCheckpoint, ShownDifference, ShownSide, UndoReport,
    UndoStatus, UnseenFiles,
};
pub use self::workspace::{DecidedWorkspace, ProjectFiles, TrustDecision};
use crate::config::KeyEdit;

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
    /// Changes keys of the user's configuration in force together. Loosens, unless the effective values only get stricter.
    Edits {
        /// The keys with their changes.
        edits: Vec<(String, KeyEdit)>,
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
    /// Gives everything to the next daemon, which the requesting process starts with this connection. Loosens.
    HandOver,
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
        /// The agents are in a sandbox. Not believed within an agent that is in none.
        #[serde(default)]
        is_sandboxed: bool,
    },
    /// Returns the settings of sandboxes that hold for the requesting process.
    Sandbox,
    /// Uses up the ticket of a contained command, which the requesting process then runs.
    Redeem {
        /// The ticket.
        ticket: String,
    },
    /// Reports the end of a contained command. Only the process that redeemed its ticket may.
    ContainedEnd {
        /// The ticket.
        ticket: String,
        /// The end.
        end: ContainedEnd,
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
    /// Records calls and leaves them to the agents, for a number of seconds. Loosens.
    Pause {
        /// The seconds, at least one.
        seconds: u64,
    },
    /// Ends a pause. Tightens.
    EndPause,
    /// Lists the checkpoints.
    Checkpoints,
    /// Returns the differences between a checkpoint and the present files. An agent gets no contents.
    Diff {
        /// [`ListedCheckpoint::id`].
        id: String,
    },
    /// Puts a checkpoint back, if the differences are still those shown to the person. Needs a person.
    Undo {
        /// [`ListedCheckpoint::id`].
        id: String,
        /// [`ShownCheckpoint::shown`].
        shown: String,
        /// Makes no checkpoint of the state before, so that nothing takes this back.
        is_final: bool,
    },
    /// Keeps the changes of a call that a person has seen, and removes its checkpoint. Needs a person.
    Keep {
        /// [`ListedCheckpoint::id`].
        id: String,
        /// [`ShownDifference::seen`] of each difference. An older castellan gives none, so that nothing is settled.
        #[serde(default)]
        seen: Vec<String>,
    },
    /// Returns the files of contained calls at or below paths.
    MarkedFiles {
        /// Absolute paths, symlinks resolved.
        paths: Vec<String>,
    },
    /// Settles files of contained calls at or below paths. Needs a person.
    KeepFiles {
        /// Absolute paths, symlinks resolved.
        paths: Vec<String>,
        /// [`MarkedFiles::shown`].
        shown: String,
    },
    /// Sets or changes the PIN of `presence_check = "pin"`. Loosens; a change needs the old PIN.
    SetPin {
        /// The new PIN.
        new: String,
    },
    /// Sends copies of the guarded user's log, configuration and rules after the response. Only a daemon that has a user of its
    /// own does: everybody else reads the files.
    OwnFiles,
    /// Asks for permission to loosen something outside of the daemon, such as an uninstall. The text is for the record.
    Loosen(String),
}

impl ControlRequest {
    /// Returns the version that gave the request its present form. A daemon of that version, which runs on after an
    /// upgrade, understands the request.
    pub(crate) fn version(&self) -> u32 {
        match self {
            ControlRequest::Edit { .. }
            | ControlRequest::Edits { .. }
            | ControlRequest::Trust { .. }
            | ControlRequest::UsePlan { .. }
            | ControlRequest::EndPlan { .. }
            | ControlRequest::ProposePlan { .. }
            | ControlRequest::ShowPlan { .. }
            | ControlRequest::ApprovePlan { .. }
            | ControlRequest::Plans
            | ControlRequest::Run { .. }
            | ControlRequest::Sandbox
            | ControlRequest::Redeem { .. }
            | ControlRequest::ContainedEnd { .. }
            | ControlRequest::Note { .. }
            | ControlRequest::Halt { .. }
            | ControlRequest::Resume { .. }
            | ControlRequest::Pause { .. }
            | ControlRequest::EndPause
            | ControlRequest::Checkpoints
            | ControlRequest::Diff { .. }
            | ControlRequest::Undo { .. }
            | ControlRequest::HandOver
            | ControlRequest::Keep { .. }
            | ControlRequest::MarkedFiles { .. }
            | ControlRequest::OwnFiles
            | ControlRequest::KeepFiles { .. } => CONTROL_VERSION,
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
                | ControlRequest::EndPause
                | ControlRequest::Trusted
                | ControlRequest::Plans
                | ControlRequest::Sandbox
                | ControlRequest::ShowPlan { .. }
                | ControlRequest::ProposePlan { .. }
                | ControlRequest::Redeem { .. }
                | ControlRequest::ContainedEnd { .. }
                | ControlRequest::Note { .. }
                | ControlRequest::Checkpoints
                | ControlRequest::Diff { .. }
                | ControlRequest::MarkedFiles { .. }
                | ControlRequest::OwnFiles
        )
    }
}

/// Reports whether this castellan reads a version of the control protocol.
pub(crate) fn is_readable(version: u32) -> bool {
    [CONTROL_VERSION_BEFORE, CONTROL_VERSION].contains(&version)
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
    /// The settings of sandboxes.
    Sandbox(Box<SandboxInForce>),
    /// A contained command may start.
    Contained(Box<ContainedRun>),
    /// The end of a contained command is stored.
    ContainedOver(ContainedOutcome),
    /// The agents are halted.
    Halted(HaltReport),
    /// The checkpoints, the oldest first.
    Checkpoints(Vec<ListedCheckpoint>),
    /// The differences to a checkpoint.
    Diff(Box<ShownCheckpoint>),
    /// A checkpoint was put back.
    Undone(Box<UndoReport>),
    /// The changes of a call are kept.
    Kept(Box<KeepReport>),
    /// Files of contained calls.
    Marked(Box<MarkedFiles>),
    /// The files whose bytes follow on the connection, in this order.
    OwnFiles(Vec<OwnFile>),
    /// The request needs the person's PIN.
    PinNeeded,
    /// The request needs the password of the person's account.
    PasswordNeeded,
    /// Rejected, with the reason.
    Refused(String),
    /// Permitted, but failed, with the reason.
    Failed(String),
}
