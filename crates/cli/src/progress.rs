//! [`Progress`]: a line at the terminal that says how far a long command is. Where standard error is no terminal, nothing.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::global::Global;

/// Time between two lines: a person reads no faster.
const EVERY: Duration = Duration::from_millis(100);

/// How far it is. Dropped, the line is gone.
#[derive(Debug)]
pub(crate) struct Progress {
    /// When a line was written last; `None` where none is wanted.
    last: Option<Instant>,
    what: &'static str,
    total: usize,
    done: usize,
}

impl Progress {
    /// Of `total` steps nothing is done; `what` is done with them.
    pub(crate) fn begin(global: &Global, what: &'static str, total: usize) -> Progress {
        let is_wanted = !global.quiet && std::io::stderr().is_terminal();
        Progress { last: is_wanted.then(Instant::now), what, total, done: 0 }
    }

    /// One step more is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.last.is_some_and(|last| last.elapsed() >= EVERY) {
            self.last = Some(Instant::now());
            let Progress { what, total, done, .. } = self;
            // Who cannot be told how far it is waits without knowing.
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
