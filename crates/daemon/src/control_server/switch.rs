//! The profile and the packs, changed live. A change by which nothing gets milder is free; any other needs a person.

use std::sync::PoisonError;

use super::{ControlServer, Peer};
use crate::control::ControlResponse;

impl ControlServer {
    pub(super) fn switch(&self, key: &str, word: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        // One after the other: what needs no person must not need one by the time that it is done.
        let _changing = self.mode_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let argument = format!("{key} {word}");
        let switch = match self.policy.prepare_switch(key, word) {
            Ok(switch) => switch,
            Err(why) => return self.conclude("switch", &argument, peer, Err(why)),
        };
        if !switch.loosens.is_empty() {
            self.check_presence("switch", &argument, peer)?;
        }
        match self.policy.switch(&self.judge, switch, (peer.pid, peer.uid)) {
            Ok(()) => Ok(()),
            failed @ Err(_) => self.conclude("switch", &argument, peer, failed),
        }
    }

    /// Rules that an upgrade has brought count from now on: that only tightens.
    pub(super) fn end_trial(&self, peer: Peer<'_>) -> Result<(), ControlResponse> {
        match self.policy.end_trial(&self.judge, true, (peer.pid, peer.uid)) {
            Ok(()) => Ok(()),
            failed @ Err(_) => self.conclude("trial_over", "", peer, failed),
        }
    }
}
