//! [`Session`]: what earlier calls left behind, as the rules see it. Time comes in as a number.

use std::collections::BTreeMap;

/// The session that a call belongs to, at the moment when it is judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// Marks by label, set by rules tagged `coding_agent_mark:<label>` on earlier calls.
    pub marks: BTreeMap<String, Mark>,
    /// Milliseconds on the clock that [`Mark::at_ms`] was taken from.
    pub now_ms: u64,
}

/// What is known of one mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    /// Calls that set it.
    pub count: u64,
    /// When it was last set, in milliseconds.
    pub at_ms: u64,
}
