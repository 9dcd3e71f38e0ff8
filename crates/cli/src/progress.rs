//! [`Progress`]: a progress line for a long command, shown only if standard error is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::global::Global;

/// Time between two updates: a person reads no faster.
const EVERY: Duration = Duration::from_millis(100);

/// The progress of a command. Drop removes the line.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Time of the last update; `None` if no line is wanted.
    last: Option<Instant>,
    what: &'static str,
    total: usize,
    done: usize,
}

impl Progress {
    /// Starts the progress of `total` steps. `what` describes a step.
    pub(crate) fn begin(global: &Global, what: &'static str, total: usize) -> Progress {
        let is_wanted = !global.quiet && std::io::stderr().is_terminal();
        Progress { last: is_wanted.then(Instant::now), what, total, done: 0 }
    }

    /// Counts one more step.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.last.is_some_and(|last| last.elapsed() >= EVERY) {
            self.last = Some(Instant::now());
            let Progress { what, total, done, .. } = self;
            // A failed write only loses the progress line.
            let _ = write!(std::io::stderr(), "\r\u{1b}[K{what} {done} of {total}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.last.is_some() {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}
