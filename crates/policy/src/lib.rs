//! L2: the decision. [`decide`] names the stages in order; each stage is a small pure module that returns findings.
//!
//! The crate knows neither agents' JSON nor files nor clocks: what it must know of the world it asks for.

mod decide;
mod grant;
mod limits;
mod operator;
mod operators;
mod policy;
mod purpose;
mod relief;
mod request;
mod rule_state;
mod settings;
mod stages;
mod tags;
mod tell;
mod ungoverned;

pub use decide::PROBING;
pub use decide::{Standing, State, StateChange, Step, decide, drive};
pub use grant::{FindingName, Grant, GrantPart};
pub use operator::{Operator, Reach, Words, prefix_condition, quoted as quoted_text, short_condition};
pub use operators::Operators;
pub use policy::{LayerRules, Policy, PolicyRule};
pub use request::RequestId;
pub use rule_state::{RuleState, Tiers};
pub use settings::{Presence, Profile, Settings};
pub use tags::{RuleVerdict, Tags};
pub use tell::{agent_text, user_text};
pub use ungoverned::{Bar, OnUngoverned, Ungoverned};
