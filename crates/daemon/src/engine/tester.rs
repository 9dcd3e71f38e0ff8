//! [`OneCall`]: one call's questions to the Falco that runs. Without an answer in time, the reason is the answer. It must
//! not know rules and verdicts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use castellan_engine::{EngineError, RemoteEngine};
use castellan_event::CallRow;
use castellan_policy::Tester;

use super::Engine;
use crate::control::EngineState;
use crate::limits::{ENGINE_LATE_MAX, ENGINE_TIME};

/// One call. All its questions share one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneCall<'e> {
    engine: &'e Engine,
    until: Instant,
}

impl Engine {
    /// Returns the questions of a call that arrived at `arrival`.
    pub(crate) fn of_call(&self, arrival: Instant) -> OneCall<'_> {
        OneCall { engine: self, until: arrival + ENGINE_TIME }
    }

    /// Returns the Falco that has the rules of a generation, with its round. Waits for one that starts. The error is the
    /// reason for the denial.
    pub(super) fn ready(&self, generation: &str, until: Instant) -> Result<(u64, Arc<RemoteEngine>), String> {
        let mut inner = self.lock();
        loop {
            if inner.is_over {
                return Err("castellan ends, and Falco with it".to_owned());
            }
            let Some(wanted) = &inner.wanted else {
                return Err("Falco is not the engine any more".to_owned());
            };
            if wanted.rules.generation != generation {
                return Err("Falco has other rules than those of this call".to_owned());
            }
            match (inner.state, &inner.remote) {
                (EngineState::Judging, Some(remote)) => return Ok((inner.round, Arc::clone(remote))),
                (EngineState::Pausing | EngineState::Refused, _) => {
                    return Err(format!("Falco does not run: {}", inner.problem));
                }
                (EngineState::Judging | EngineState::Starting, _) => {}
            }
            let left = left(until);
            if left.is_zero() {
                let problem =
                    if inner.problem.is_empty() { String::new() } else { format!(": {}", inner.problem) };
                return Err(format!("Falco has not started in time{problem}"));
            }
            inner = self.wait(inner, left);
        }
    }

    /// Notes the result of a question.
    pub(super) fn judged(&self, round: u64, error: Option<&EngineError>) {
        let mut inner = self.lock();
        if inner.round != round {
            return;
        }
        match error {
            None => {
                inner.late = 0;
                inner.problem.clear();
            }
            Some(EngineError::Late { .. } | EngineError::Contradiction) => inner.late += 1,
            // The supervisor sees why.
            Some(
                EngineError::Send(_) | EngineError::Lost | EngineError::Rules { .. } | EngineError::Unready,
            ) => {}
            // They are of the call, not of Falco.
            Some(EngineError::Encode(_) | EngineError::Full | EngineError::Random) => return,
        }
        if let Some(error) = error {
            inner.problem = error.to_string();
        }
        let is_hanging = inner.late >= ENGINE_LATE_MAX;
        drop(inner);
        if is_hanging {
            self.changed.notify_all();
        }
    }
}

impl Tester for OneCall<'_> {
    fn test(
        &self,
        generation: Option<&str>,
        rows: &[CallRow<'_>],
        marks: &[&str],
    ) -> Result<Vec<Vec<u64>>, String> {
        let generation = generation.ok_or("the rules cannot be written for Falco")?;
        let (round, remote) = self.engine.ready(generation, self.until)?;
        let found = remote.matches(rows, marks, self.until);
        self.engine.judged(round, found.as_ref().err());
        found.map_err(|error| error.to_string())
    }
}

/// Returns the time that is left.
pub(super) fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::wanted;

    /// A call that is judged again, or that waited for its turn, has no more time than its first question.
    #[test]
    fn all_questions_of_a_call_end_at_one_time() {
        let engine = Arc::new(Engine::default());
        let (one, _home) = wanted(None);
        let generation = one.rules.generation.clone();
        // No thread serves it, so Falco starts for ever.
        engine.lock().wanted = Some(Arc::new(one));
        engine.lock().state = EngineState::Starting;
        let arrival = Instant::now();
        assert_eq!(engine.of_call(arrival).until, arrival + ENGINE_TIME);
        let Some(long_ago) = arrival.checked_sub(ENGINE_TIME) else { return };
        let late = engine.of_call(long_ago);
        for _ in 0..2 {
            let why = late.test(Some(&generation), &[], &[]).unwrap_err();
            assert!(why.contains("has not started in time"), "{why}");
        }
        assert!(arrival.elapsed() < ENGINE_TIME, "it has waited");
        let why = late.test(None, &[], &[]).unwrap_err();
        assert!(why.contains("cannot be written"), "{why}");
    }
}
