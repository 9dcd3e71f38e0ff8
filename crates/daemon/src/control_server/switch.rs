//! Live changes of keys: the profile, a pack, a short rule or any other key. A change that makes something milder
//! needs a person, and so does one with a text of the client.

use std::sync::PoisonError;

use super::{ControlServer, Peer};
use crate::config::KeyEdit;
use crate::control::ControlResponse;
use crate::engine::Wanted;
use crate::limits::ENGINE_CHECKS_MAX;
use crate::policy_state::{NotPut, listed};

impl ControlServer {
    /// Changes a key.
    pub(super) fn switch_one(
        &self,
        key: &str,
        edit: &KeyEdit,
        shown: Option<&str>,
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        self.switch(&[(key.to_owned(), edit.clone())], shown, peer)
    }

    /// Changes keys together. `shown` is the hash of the set in force that a person saw, if a person saw one.
    pub(super) fn switch(
        &self,
        edits: &[(String, KeyEdit)],
        shown: Option<&str>,
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        let argument = listed(edits);
        for _ in 0..ENGINE_CHECKS_MAX {
            let Some(unchecked) = self.switch_once(edits, shown, peer)? else { return Ok(()) };
            // A Falco that hangs must not keep a stricter mode waiting.
            if let Err(why) = self.policy.check(&unchecked) {
                return self.conclude("switch", &argument, peer, Err(why));
            }
        }
        let why = "something else was put in force while Falco loaded the rules: try again";
        self.conclude("switch", &argument, peer, Err(why.to_owned()))
    }

    /// Changes keys together, or returns the rules that Falco must load first.
    fn switch_once(
        &self,
        edits: &[(String, KeyEdit)],
        shown: Option<&str>,
        peer: Peer<'_>,
    ) -> Result<Option<Box<Wanted>>, ControlResponse> {
        // Serialized: the result of the check for a person must stay valid until the change is done.
        let _changing = self.mode_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let argument = listed(edits);
        let switch = match self.policy.prepare_switch(edits) {
            Ok(switch) => switch,
            Err(why) => return self.conclude("switch", &argument, peer, Err(why)).map(|()| None),
        };
        if switch.needs_person {
            self.check_presence("switch", &argument, peer)?;
            self.check_next_presence("switch", &argument, peer, switch.presence)?;
        }
        match self.policy.switch(&self.judge, switch, shown, (peer.pid, peer.uid)) {
            Ok(()) => Ok(None),
            Err(NotPut::Unchecked(wanted)) => Ok(Some(wanted)),
            Err(NotPut::Failed(why)) => self.conclude("switch", &argument, peer, Err(why)).map(|()| None),
        }
    }

    /// Enforces the rules that an upgrade has added. This only tightens.
    pub(super) fn end_trial(&self, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let ended = self.policy.end_trial(&self.judge, (peer.pid, peer.uid));
        ended.or_else(|why| self.conclude("trial_over", "", peer, Err(why)))
    }
}
