//! [`Refusals`]: limits records of rejected connections to one a second, so that a flood does not fill the log. Each
//! record has the number of rejections.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::limits::REFUSAL_RECORDS_EVERY;

#[derive(Debug, Default)]
pub(crate) struct Refusals {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    recorded: Option<Instant>,
    unrecorded: u64,
}

impl Refusals {
    /// Counts a rejection at `now`. If it is to be recorded, returns the text of the record, with the number of unrecorded
    /// ones before it.
    pub(crate) fn text(&self, why: &str, now: Instant) -> Option<String> {
        match self.count(now)? {
            0 => Some(why.to_owned()),
            unrecorded => Some(format!("{why} ({unrecorded} more since the last record)")),
        }
    }

    fn count(&self, now: Instant) -> Option<u64> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let recent =
            inner.recorded.is_some_and(|last| now.saturating_duration_since(last) < REFUSAL_RECORDS_EVERY);
        if recent {
            inner.unrecorded = inner.unrecorded.saturating_add(1);
            return None;
        }
        inner.recorded = Some(now);
        Some(std::mem::take(&mut inner.unrecorded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_becomes_one_record_a_second() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        assert_eq!(refusals.count(start), Some(0));
        for _ in 0..100 {
            assert_eq!(refusals.count(start), None);
        }
        assert_eq!(refusals.count(start + REFUSAL_RECORDS_EVERY), Some(100));
        assert_eq!(refusals.count(start + 2 * REFUSAL_RECORDS_EVERY), Some(0));
        assert_eq!(refusals.text("x", start + 2 * REFUSAL_RECORDS_EVERY), None);
        let next = refusals.text("x", start + 3 * REFUSAL_RECORDS_EVERY);
        assert_eq!(next.as_deref(), Some("x (1 more since the last record)"));
        assert_eq!(refusals.text("x", start + 4 * REFUSAL_RECORDS_EVERY).as_deref(), Some("x"));
    }
}
