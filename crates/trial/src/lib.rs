//! L5: judges described calls in a made-up world, by given rules and settings: what tests of rules, measurements and people who
//! write rules ask for. It goes the daemon's way from an agent's JSON to the decision, and never looks at the machine that it
//! runs on.
//!
//! Reading order: `case` is a call, `machine` the world in which it is made, `trial` judges it; `case_file` are the
//! cases beside rule files, and `check` holds the rules against them.

mod case;
mod case_file;
mod check;
mod limits;
mod machine;
mod trial;

pub use case::{Asked, Case, Laid, Link};
pub use case_file::{CASES_ENDING, CaseFile, RuleCase, Shows};
pub use check::{Failure, KnownRule, Wrong, failures, gaps, known_rules};
pub use machine::{HOME, Machine, There, WORKSPACE, lexical};
pub use trial::{Judged, Trial};
