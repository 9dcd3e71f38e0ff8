//! L0: castellan's vocabulary. Facts describe a [`Call`] ([`Facts`]), rules match the [`Row`]s of the facts, and stages
//! return [`Finding`]s. The strictest finding that is not exempt decides.
//!
//! Everything here is data, or a small function on texts that several layers share: hashes, paths, patterns, quotes.
//! The crate knows no agent's JSON and no rule syntax. It touches neither clock, environment, file system nor network:
//! the core asks for facts of the world with a [`Query`].

mod access;
mod call;
mod code;
mod effect;
mod effect_text;
mod facts;
mod field;
mod finding;
mod hash;
mod invisible;
mod limits;
mod net;
mod obligation;
mod path;
mod quote;
mod row;
mod session;
mod star;
mod verdict;
mod vocabulary;
mod word;
mod world;

pub use access::AccessLevel;
pub use call::{
    Agent, Call, Change, FileTarget, IntakeProblem, Override, PatchOp, Replacement, Tool, ToolKind,
};
pub use code::Code;
pub use effect::{Doubt, Effect, LocatedFile, Measured, Object, Operation, Remote, ScriptId};
pub use facts::{Command, ContainedCopies, Facts, ScriptFile, Written};
pub use field::{FieldArg, FieldDef, FieldType, Level};
pub use finding::{Exemption, Finding, Layer};
pub use hash::{PartsHash, sha256_hex};
pub use invisible::is_invisible;
pub use limits::{ANSWERS_MAX, FILES_PER_CALL_MAX, HEAD_BYTES, PATH_BYTES_MAX};
pub use net::Net;
pub use obligation::{Action, Fallback, Obligation, ObligationKind};
pub use path::{lexical_path, path_components};
pub use quote::single_quoted;
pub use row::{CallRow, FIELDS, Row, Value, field_index, rows};
pub use session::{Mark, Session};
pub use star::matches_star;
pub use verdict::{Mode, Verdict};
pub use vocabulary::{EffectKind, Escape, FileOrigin, Guard, HostClass, Role, Scope, When, Why};
pub use word::{UnknownWord, from_word};
pub use world::{Answer, Answers, FileKind, Inode, Process, Query, Recorder, World};
