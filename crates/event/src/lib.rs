//! L0: castellan's vocabulary. One word for one thing: a [`Call`] is judged by its [`Facts`], their [`Row`]s are matched by rules, stages
//! return [`Finding`]s, and the strictest that is not exempt decides.
//!
//! Everything here is data. The crate knows no agent's JSON, no rule syntax, and touches neither clock, environment, file
//! system nor network: what the core must know of the world it asks for with a [`Query`].

mod access;
mod call;
mod decision;
mod facts;
mod field;
mod limits;
mod net;
mod obligation;
mod row;
mod said;
mod session;
mod world;

pub use access::AccessLevel;
pub use call::{
    Agent, Call, Change, FileTarget, IntakeProblem, Override, PatchOp, Replacement, Tool, ToolKind,
};
pub use decision::{Code, Exemption, Finding, Layer, Mode, Verdict};
pub use facts::{
    Command, Effect, EffectKind, Facts, FileOrigin, Guard, HostClass, Role, Scope, ScriptFile, UnknownWord,
    When, Why, Written,
};
pub use field::{FIELDS, FieldArg, FieldDef, FieldType, Level, field_index};
pub use limits::{ANSWERS_MAX, FILES_PER_CALL_MAX, PATH_BYTES_MAX};
pub use net::Net;
pub use obligation::{Action, Fallback, Obligation, ObligationKind};
pub use row::{CallRow, Row, Value, rows};
pub use session::{Mark, Session};
pub use world::{Answer, Answers, FileKind, Process, Query, Recorder, World};
