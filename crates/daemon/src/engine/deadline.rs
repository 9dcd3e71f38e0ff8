//! The time at which the engine must have judged the call of this thread. It must not know calls.

use std::cell::Cell;
use std::time::Instant;

use crate::limits::ENGINE_TIME;

thread_local! {
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the time back at the end, by a panic too.
struct Before(Option<Instant>);

impl Drop for Before {
    fn drop(&mut self) {
        UNTIL.set(self.0);
    }
}

/// Does the work of a call that arrived at `arrival`. All its questions to the engine share one time.
pub(crate) fn within_time_of<T>(arrival: Instant, work: impl FnOnce() -> T) -> T {
    let _before = Before(UNTIL.replace(Some(arrival + ENGINE_TIME)));
    work()
}

/// Returns the time at which the call of this thread must have an answer.
pub(super) fn of_this_call() -> Instant {
    UNTIL.get().unwrap_or_else(|| Instant::now() + ENGINE_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_questions_of_a_call_end_at_one_time() {
        let arrival = Instant::now();
        within_time_of(arrival, || {
            assert_eq!(of_this_call(), arrival + ENGINE_TIME);
            let panicked =
                std::panic::catch_unwind(|| within_time_of(arrival - ENGINE_TIME, || panic!("test")));
            assert!(panicked.is_err());
            assert_eq!(of_this_call(), arrival + ENGINE_TIME);
        });
        assert!(UNTIL.get().is_none());
    }
}
