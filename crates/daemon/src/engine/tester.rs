//! [`Falco`]: the rules of one policy, tested by the Falco that runs. Without an answer in time, the reason is the answer.

use std::time::Instant;

use castellan_event::CallRow;
use castellan_policy::Tester;

use super::Engine;
use super::deadline::of_this_call;

/// The rules of one policy.
#[derive(Debug)]
pub(super) struct Falco {
    pub(super) engine: &'static Engine,
    /// The hash of the policy's rules; `None` if they cannot be written for Falco.
    pub(super) generation: Option<String>,
}

impl Tester for Falco {
    fn test(&self, rows: &[CallRow<'_>], marks: &[&str]) -> Result<Vec<Vec<u64>>, String> {
        let until = of_this_call();
        let generation = self.generation.as_deref().ok_or("the rules cannot be written for Falco")?;
        let (round, remote) = self.engine.ready(generation, until)?;
        let found = remote.matches(rows, marks, until);
        self.engine.judged(round, found.as_ref().err());
        found.map_err(|error| error.to_string())
    }
}

/// Returns the time that is left.
pub(super) fn left(until: Instant) -> std::time::Duration {
    until.saturating_duration_since(Instant::now())
}
