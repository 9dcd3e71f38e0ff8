//! The events of a channel as the engine's state and the record get them. It must not know the process of Falco.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use castellan_rows::SenderEvent;

use super::{Engine, Inner, time_since};
use crate::control::EngineState;
use crate::refusals::Refusals;

/// Notes a change of a channel. `of`: the numbers of its round and of itself.
pub(super) fn heard(engine: &Engine, of: (u64, u64), event: &SenderEvent, refused: &Refused) {
    let set = |change: &dyn Fn(&mut Inner)| {
        let mut inner = engine.lock();
        if (inner.round, inner.channel) == of {
            change(&mut inner);
        }
        drop(inner);
        engine.changed.notify_all();
    };
    match event {
        // It judges once it has shown that it tests all rules.
        SenderEvent::Connected(_) => set(&|inner| {
            inner.state = EngineState::Starting;
            inner.is_connected = true;
        }),
        SenderEvent::Closed(_) => set(&|inner| {
            if inner.state == EngineState::Judging {
                inner.state = EngineState::Starting;
            }
            (inner.is_connected, inner.is_closed) = (false, true);
            inner.judged = time_since(inner.since.take());
            "Falco's connection has ended".clone_into(&mut inner.problem);
        }),
        SenderEvent::Refused(why) => {
            set(&|inner| {
                if inner.state != EngineState::Judging {
                    why.clone_into(&mut inner.problem);
                }
            });
            if let Some(line) = refused.line(why, Instant::now()) {
                engine.lines.record(&line);
            }
        }
    }
}

/// The processes that were not let in. A process that tries again and again gives few records.
#[derive(Debug, Default)]
pub(super) struct Refused {
    last: Mutex<String>,
    all: Refusals,
}

impl Refused {
    /// Returns the line for the record. `None`: the reason is the one of before, or the last record is too recent.
    fn line(&self, why: &str, now: Instant) -> Option<String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last == why {
            return None;
        }
        let line = self.all.text(&format!("a process was not let in as Falco: {why}"), now)?;
        why.clone_into(&mut last);
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::REFUSAL_RECORDS_EVERY;

    #[test]
    fn a_flood_of_strangers_gives_few_records() {
        let (refused, start) = (Refused::default(), Instant::now());
        let lines = |why: &dyn Fn(u32) -> String, at: Instant| -> Vec<String> {
            (0..100).filter_map(|number| refused.line(&why(number), at)).collect()
        };
        assert_eq!(lines(&|_| "a".to_owned(), start), ["a process was not let in as Falco: a"]);
        // The same reason is no news, at any time.
        assert_eq!(lines(&|_| "a".to_owned(), start + 5 * REFUSAL_RECORDS_EVERY), [""; 0]);
        // Each of these has another reason.
        let found = lines(&|number| format!("process {number}"), start + 9 * REFUSAL_RECORDS_EVERY);
        assert_eq!(found, ["a process was not let in as Falco: process 0"]);
        let found = lines(&|_| "b".to_owned(), start + 20 * REFUSAL_RECORDS_EVERY);
        assert_eq!(found, ["a process was not let in as Falco: b (99 more since the last record)"]);
    }
}
