//! L2: the decision. A table lists the stages in order; each stage is a small pure function that returns findings.
//!
//! The crate has no access to agents' JSON, files or clocks. It queries the world through its callers.

mod boundary;
mod call_class;
mod case;
mod choices;
mod conclude;
mod containment;
mod decide;
mod decision;
mod denial_key;
mod engine;
mod exemptions;
mod grant;
mod limits;
mod obligations;
mod operator;
mod operators;
mod plan;
mod policy;
mod request;
mod review;
mod rule_state;
mod sandbox;
mod settings;
mod stages;
mod state;
mod tags;
mod tell;
mod tries;
mod undo;
mod ungoverned;

pub use boundary::{BoundaryMode, BoundarySettings};
pub use call_class::CallClass;
pub use choices::{
    AllowOrAsk, AllowOrDefer, AskOrDeny, DeferOrAsk, DeferOrDeny, NotAllow, NotAsk, OwnOpaque,
};
pub use containment::{CONTAINED_EFFECTS, CONTAINED_UNREAD, ContainmentMode};
pub use decide::{Meet, Step, decide, drive, fulfil};
pub use decision::{Decision, DecisionParts};
pub use engine::{EngineKind, EngineSettings};
pub use grant::{FindingName, Grant, GrantPart};
pub use operator::{
    Operator, OperatorError, Reach, ShortRuleError, Words, prefix_condition, quoted as quoted_text,
    short_condition,
};
pub use operators::Operators;
pub use plan::{PlanCheck, PlanDeparture, PlanEnforcement, PlanMode, PlanReport, PlanSettings};
pub use policy::{LayerRules, Policy, PolicyRule, Tester};
pub use request::RequestId;
pub use review::{ReviewProvider, ReviewSettings};
pub use rule_state::{RuleState, Tiers};
pub use sandbox::{SandboxFiles, SandboxLimits, SandboxMode, SandboxNetwork, SandboxSettings};
pub use settings::{Presence, Profile, Settings};
pub use stages::{opaque_reason, stage_table};
pub use state::{Failed, Pending, State, StateChange, WorkspaceTrust};
pub use tags::{RuleVerdict, Tags};
pub use tell::{agent_text, unattended_text, user_text};
pub use tries::{DenialKey, Tries};
pub use undo::{UndoSettings, may_overwrite, overwrites};
pub use ungoverned::{Block, OnUngoverned, Ungoverned};

#[cfg(test)]
mod tests;

/// Label of the mark of a session that repeatedly attempts denied calls.
pub const PROBING: &str = "probing";

/// Label of the mark of a session that has fetched text from the network or called a tool of an MCP server. The session's
/// later text may repeat it.
pub const FOREIGN: &str = "foreign";
