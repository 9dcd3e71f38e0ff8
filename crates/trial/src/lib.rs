//! L5: judges described calls in a made-up world, by given rules and settings: what tests of rules, measurements and people who
//! write rules ask for. It goes the daemon's way from an agent's JSON to the decision, and never looks at the machine that it
//! runs on; only what judges recorded calls again is handed a world that does.
//!
//! Reading order: `case` is a call, `machine` the world in which it is made, `trial` judges it; `case_file` are the
//! cases beside rule files, and `check` holds the rules against them. `labelled` are calls with
//! what should become of them, and `accuracy` counts what does. `replay` judges recorded calls again, in the world that was recorded.

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
pub use case::{Asked, Case, Laid, Link};
pub use case_file::{CaseFile, RuleCase, Shows};
pub use check::{Failure, KnownRule, Wrong, failures, gaps, known_rules, load_errors};
pub use labelled::{Labelled, Tier, WrongLine, read_labelled};
pub use machine::{HOME, Machine, There, WORKSPACE, lexical};
pub use replay::{Outcome as ReplayOutcome, Replay, Replayed, Unjudged, unknown_obligations};
pub use shipped::shipped_cases;
pub use trial::{Judged, Trial};
