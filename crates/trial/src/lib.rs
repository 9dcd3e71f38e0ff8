//! L5: judges described calls in a simulated world, by given rules and settings. Used by tests of rules, by
//! measurements and by people who write rules. A call takes the daemon's path from the agent's JSON to the decision.
//! This crate never queries the machine that it runs on; only `replay` may receive a world that does.
//!
//! Reading order: `case` is a call, `machine` its simulated world, `trial` judges it. `case_file` reads the cases
//! beside rule files, and `check` compares the rules with them. `labelled` reads calls with tiers, and `accuracy`
//! counts their verdicts. `replay` judges recorded calls again, in the recorded world.

mod accuracy;
mod case;
mod case_file;
mod check;
mod labelled;
mod limits;
mod machine;
mod replay;
mod shipped;
mod trial;

pub use accuracy::{Accuracy, Counts, NoCall, Outcome, share};
pub use case::{Asked, Case, Laid, Link, Same, Sized};
pub use case_file::{CaseFile, RuleCase, Shows};
pub use check::{Failure, KnownRule, Wrong, failures, gaps, known_rules, load_errors};
pub use labelled::{Labelled, Tier, WrongLine, read_labelled};
pub use machine::{HOME, Machine, There, WORKSPACE};
pub use replay::{Outcome as ReplayOutcome, Replay, Replayed, Unjudged, unknown_obligations};
pub use shipped::shipped_cases;
pub use trial::{Judged, Sequence, Trial};
