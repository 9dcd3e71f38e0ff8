//! The pause: for a time that a person chose, calls are recorded and left to the agent. It must not know how a person
//! asks for it.

use std::sync::Arc;

use castellan_event::Mode;

use super::{Judge, Terms};
use crate::memory::Pause;
use crate::record;

impl Judge {
    /// Returns the terms that judge calls now: those in force, or in a pause the same in the mode `passthrough`. A halt,
    /// a session without tools and a stricter mode of a workspace's own files hold in a pause, too.
    pub(super) fn terms_now(&self) -> Arc<Terms> {
        let in_force = self.terms();
        match self.pause_now() {
            None => in_force,
            Some(_) => Arc::new(Terms { mode: Mode::Passthrough, in_pause: true, ..Terms::clone(&in_force) }),
        }
    }

    /// Pauses for a number of seconds. Returns an error if that cannot be stored; then there is no pause.
    pub(crate) fn pause(&self, seconds: u64) -> Result<(), String> {
        let paused = self.memory().pause(seconds);
        if paused.is_ok() {
            self.begin_anew();
        }
        paused.map_err(|error| format!("the pause could not be stored: {error}"))
    }

    /// Ends a pause. An error says that the end is in force, but ends with the daemon.
    pub(crate) fn end_pause(&self) -> Result<(), String> {
        let ended = self.memory().end_pause();
        self.begin_anew();
        ended.map_err(|error| {
            format!("castellan judges again, but the end of the pause is not stored: {error}")
        })
    }

    /// The pause in force, with its age and the seconds that are left.
    pub(crate) fn pause_now(&self) -> Option<(u64, u64)> {
        let memory = self.memory();
        let now_ms = memory.now_ms();
        let Pause { at_ms, until_ms } = memory.pause_at(now_ms)?;
        Some((now_ms.saturating_sub(at_ms) / 1000, until_ms.saturating_sub(now_ms).div_ceil(1000)))
    }

    /// Ends and records a pause whose time is over.
    pub(crate) fn end_due_pause(&self) {
        if self.memory().is_pause_over() {
            self.end_pause_of_itself("its time is over");
        }
    }

    /// Ends a pause without a request, and records the reason.
    pub(crate) fn end_pause_of_itself(&self, why: &str) {
        if let Err(why) = self.end_pause() {
            self.fail("state", &why);
        }
        let own = (std::process::id(), rustix::process::geteuid().as_raw());
        if let Err(error) = self.append(&record::control("pause_end", why, None, "", own)) {
            self.fail("log", &format!("the end of a pause could not be recorded: {error}"));
        }
    }
}
