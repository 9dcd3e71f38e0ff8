//! [`Lines`]: lines about the engine for the record. Falco may fail before the record can receive them. It must not know
//! the meaning of a line.

use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::ENGINE_LINES_MAX;

/// Records a line.
type Record = Arc<dyn Fn(&str) + Send + Sync>;

/// The receiver of lines, and the lines that wait for it.
#[derive(Default)]
pub(super) struct Lines(Mutex<(Option<Record>, Vec<String>)>);

impl Lines {
    /// Sets the receiver, which gets the waiting lines at once.
    pub(super) fn record_by(&self, record: impl Fn(&str) + Send + Sync + 'static) {
        let record: Record = Arc::new(record);
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.0 = Some(Arc::clone(&record));
        let waiting = std::mem::take(&mut inner.1);
        // The receiver waits for the log.
        drop(inner);
        waiting.iter().for_each(|line| record(line));
    }

    /// Records a line, now or when there is a receiver. The first lines name the cause, so a further one is dropped.
    pub(super) fn record(&self, line: &str) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(record) = inner.0.clone() else {
            if inner.1.len() < ENGINE_LINES_MAX {
                inner.1.push(line.to_owned());
            }
            return;
        };
        drop(inner);
        record(line);
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Lines")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_before_the_record_are_recorded_later_up_to_a_limit() {
        let lines = Lines::default();
        (0..1_000).for_each(|number| lines.record(&number.to_string()));
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&recorded);
        lines.record_by(move |line| kept.lock().unwrap().push(line.to_owned()));
        lines.record("last");
        let mut expected: Vec<String> = (0..ENGINE_LINES_MAX).map(|number| number.to_string()).collect();
        expected.push("last".to_owned());
        assert_eq!(*recorded.lock().unwrap(), expected);
    }
}
