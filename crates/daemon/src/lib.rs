//! L4: the daemon. It keeps the state that a one-shot hook cannot: compiled policy, memory of calls, and the log. It
//! also answers the pure core's questions about the world.
//!
//! Reading order: [`run`] starts everything; `server` takes a hook's frame; `judge` takes a call from payload to reply;
//! `control` is the other socket, for every change.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod ancestors;
mod applied;
mod become_program;
mod clock;
mod compile;
mod config;
mod configured;
mod containment;
mod control;
mod control_server;
mod deliveries;
mod engine;
mod explanation;
mod facts;
mod file_set;
mod gaps;
mod handover;
mod held;
mod here;
mod jobs;
mod journal;
mod judge;
mod kill;
mod layers;
mod layout;
mod limits;
mod live;
mod lost;
mod memory;
mod monitor;
mod newer;
mod notification;
mod one_session;
mod outside;
mod packs;
mod payloads;
mod peers;
mod plans;
mod platform;
mod policy_state;
mod presence;
mod present;
mod process;
mod profiles;
mod projects;
mod prompts;
mod readers;
mod recent;
mod record;
mod recorded;
mod refusals;
mod requests;
mod reviews;
mod risks;
mod run;
mod sandbox_policy;
mod secret;
mod server;
mod session_key;
mod shipped;
mod sight;
mod sockets;
mod store;
mod system;
mod tally;
mod timed;
mod trial;
mod undo;
mod watch;
mod workspace;
mod world;

pub use applied::{AppliedError, read as read_applied};
pub use become_program::{NotBecome, become_child_of};
pub use castellan_plans::PLAN_BYTES_MAX;
pub use compile::{Compiled, compile};
pub use config::{
    Config, ConfigError, EditError, HooksOnStop, KEYS, Key, KeyEdit, Kind, LayerText, Merge, Mistake, Place,
    Preset, Reload, Setting, Settled, Sourced, Value, json_schema, markdown, presets, read_config,
    settable_key, write_mode,
};
pub use containment::contained_settings;
pub use control::{
    AskSecret, ContainedEnd, ContainedOutcome, ContainedRun, ControlClient, ControlError, ControlRequest,
    ControlResponse, DecidedWorkspace, EndedProcess, EngineState, EngineStatus, GrantScope, GrantedCall,
    HaltOf, HaltReport, HaltStatus, KeepReport, LimitsInForce, ListedCheckpoint, ListedPlan, MarkedFiles,
    OutsideStatus, OwnFile, PauseStatus, PendingCall, PlanFor, ProjectFiles, QuarterCalls, RecentCalls,
    RunInForce, RunNote, RunStatus, SandboxInForce, Secret, ShownCall, ShownCheckpoint, ShownDifference,
    ShownPlan, ShownSide, SocketsOf, StatusReport, SystemStatus, TrustDecision, UndoReport, UndoStatus,
    UnguardedAgent, UnseenFiles, VerdictCounts,
};
pub use engine::{COMMAND as FALCO_COMMAND, CheckedEngine, become_falco};
pub use explanation::{ExplainedCommand, ExplainedEffect, Explanation, FiredRule};
pub use facts::{facts_of, falco_plugins, own_paths};
pub use file_set::{
    CASES_ENDING, FileSet, FileSetError, PROJECT_FOLDER, is_case_file, read_organisation, read_project,
};
pub use here::{Here, UnreadDecisions};
pub use judge::checkpoint_id;
pub use layers::Layers;
pub use layout::{Layout, LayoutError, OrganisationPlace, run_folder};
pub use limits::PAUSE_S_MAX;
pub use live::{AgentStart, HookSettings};
pub use memory::NoRoom;
pub use newer::Newer;
pub use one_session::OneSession;
pub use packs::{Packs, pack_names, pack_of, pack_of_file};
pub use plans::parse_plan;
pub use platform::CAN_HAND_OVER;
pub use presence::{Refusal, check_own as check_own_presence, is_own_within_agent};
pub use readers::{COMMAND as READER_COMMAND, serve_programs, set_patient_reader, set_reader};
pub use recorded::{KnownTexts, RecordedWorld};
pub use reviews::{evidence_of, reviewer_of};
pub use run::{DaemonError, Start, run};
pub use sandbox_policy::{OwnFiles, SandboxPolicyError, SandboxRequest, named_place, sandbox_policy};
pub use shipped::{
    CANARY_TOOL, ORGANISATION_PACKS, SHIPPED_PACKS, Shipped, ShippedPack, is_as_shipped, is_own_change,
    organisation_rules, shipped_rules, write_shipped,
};
pub use store::{Loaded, PolicyOrigin, load as load_policy};
pub use trial::Trial;
pub use workspace::find_workspace;
pub use world::FileSystem;
