//! Live changes of the profile and the packs. Only a change that makes something milder needs a person.

use std::sync::PoisonError;

use super::{ControlServer, Peer};
use crate::control::ControlResponse;

impl ControlServer {
    pub(super) fn switch(&self, key: &str, word: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        // Serialized: the result of the check for a person must stay valid until the change is done.
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

    /// Enforces the rules that an upgrade has added. This only tightens.
    pub(super) fn end_trial(&self, peer: Peer<'_>) -> Result<(), ControlResponse> {
        match self.policy.end_trial(&self.judge, true, (peer.pid, peer.uid)) {
            Ok(()) => Ok(()),
            failed @ Err(_) => self.conclude("trial_over", "", peer, failed),
        }
    }
}
