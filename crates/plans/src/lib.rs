//! L2: plans. A plan names the commands, paths, hosts and branches of a piece of work, and its budget of calls and
//! time. [`read`] parses a plan. [`check`] returns the departures of a call from it, and [`covers`] tests that every
//! effect of a call is inside.
//!
//! Reading order: `plan` holds the data and `pattern` its patterns. `read` parses both formats, with `yaml` below it.
//! `check` compares a call, and `covers` is the strict test for approved plans. `violation` is the row of a departure
//! for the log. `snippets`, `propose`, `render` and `describe` make a plan from Markdown and show it.
//!
//! The crate is pure: files, clock and the analysis of shell text come in as values. It knows no verdict: a caller
//! decides about a departure.

mod call;
mod check;
mod covers;
mod departure;
mod describe;
mod error;
mod limits;
mod pattern;
mod plan;
mod propose;
mod read;
mod render;
mod snippets;
mod text;
mod violation;
mod widens;
mod yaml;

pub use call::CallView;
pub use check::check;
pub use covers::{Covering, covers};
pub use departure::{Departure, DepartureKind};
pub use describe::describe;
pub use error::{Fault, PlanError};
pub use limits::{DEPARTURES_MAX, PLAN_BYTES_MAX};
pub use pattern::{BranchPattern, CommandPattern, HostPattern, PathPattern, PatternError};
pub use plan::{Allowed, Budget, Plan, PlanParts, Step};
pub use propose::{Analysed, NotCovered, Proposal, scope_of};
pub use read::read;
pub use render::render;
pub use snippets::{Snippet, SnippetKind, snippets};
pub use violation::{Outcome, RowKind, ViolationRow};
pub use widens::widens;
