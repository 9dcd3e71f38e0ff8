//! [`Session`]: state that earlier calls left behind, as rules see it. Time is passed in as a number.

use std::collections::BTreeMap;

/// The session of a call, at the time of the judgement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// Marks by label, set by rules tagged `coding_agent_mark:<label>` on earlier calls.
    pub marks: BTreeMap<String, Mark>,
    /// Milliseconds, on the same clock as [`Mark::at_ms`].
    pub now_ms: u64,
}

/// The state of one mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    /// Number of calls that set the mark.
    pub count: u64,
    /// Time of the last set, in milliseconds.
    pub at_ms: u64,
}
