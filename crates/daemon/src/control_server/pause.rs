//! The pause for maintenance: a person lets calls go without judgement for a limited time.

use super::{ControlServer, Peer};
use crate::control::ControlResponse;
use crate::limits::PAUSE_S_MAX;

impl ControlServer {
    /// Pauses castellan after a user presence check. The organisation's mode permits it, or there is no pause.
    pub(super) fn pause(&self, seconds: u64, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let argument = format!("{seconds} s");
        self.check_presence("pause", &argument, peer)?;
        let permitted = match seconds {
            0 => Err("a pause has at least one second".to_owned()),
            seconds if seconds > PAUSE_S_MAX => Err(format!(
                "a pause has at most {} hours: change the mode for a longer time (`castellan mode monitor`)",
                PAUSE_S_MAX / 3600
            )),
            _ => self.policy.permits_pause(),
        };
        // Recorded first: without a record there is no pause.
        self.conclude("pause", &argument, peer, permitted)?;
        let paused = self.judge.pause(seconds);
        paused.or_else(|why| self.conclude("pause", &argument, peer, Err(why)))
    }

    /// Ends a pause. Needs no person: it tightens.
    pub(super) fn end_pause(&self, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let ended = match self.judge.pause_now() {
            Some(_) => self.judge.end_pause(),
            None => Err("castellan is not paused".to_owned()),
        };
        self.conclude("pause_end", "", peer, ended)
    }
}
