//! [`Failures`]: the pause before Falco starts again. It must not know why Falco failed.

use std::time::Duration;

use crate::limits::{ENGINE_PAUSE, ENGINE_PAUSE_MAX, ENGINE_STEADY_TIME};

/// The failures of Falco in a row.
#[derive(Debug, Default)]
pub(super) struct Failures(u32);

impl Failures {
    /// Counts a failure. `judged`: the time for which Falco judged calls before. Returns the pause.
    pub(super) fn count(&mut self, judged: Duration) -> Duration {
        self.0 = if judged >= ENGINE_STEADY_TIME { 1 } else { self.0.saturating_add(1) };
        match self.0 {
            // Falco worked until now, so it most likely works again.
            1 => Duration::ZERO,
            count => ENGINE_PAUSE
                .saturating_mul(2u32.saturating_pow(count.saturating_sub(2)))
                .min(ENGINE_PAUSE_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest_until_falco_has_judged_for_a_while() {
        let mut failures = Failures::default();
        let mut pauses: Vec<u128> = (0..9).map(|_| failures.count(Duration::ZERO).as_millis()).collect();
        pauses.extend([ENGINE_STEADY_TIME, Duration::ZERO].map(|judged| failures.count(judged).as_millis()));
        assert_eq!(pauses, [0, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 0, 500]);
        failures.0 = u32::MAX;
        assert_eq!(failures.count(Duration::ZERO), ENGINE_PAUSE_MAX);
    }
}
