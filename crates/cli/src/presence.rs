//! The presence check for what `castellan` itself loosens. It looks for itself, because a caller chooses the home and so
//! who answers there; and it asks the daemon of every home that is concerned, which knows its agents and records it.

use std::os::unix::fs::MetadataExt;

use castellan_daemon::{ControlClient, ControlError, check_own_presence, is_own_within_agent};
use castellan_wire::Home;

use crate::ask;

/// Fails unless a person is there, by our own look and by that of the daemons of `homes` that run. `action` goes into
/// their logs.
pub(crate) fn require(homes: &[Home], action: &str) -> anyhow::Result<()> {
    let here = require_here();
    // After a refusal too: they record what was tried.
    let asked: Vec<_> = homes.iter().filter(|home| is_own(home)).map(|home| ask(home, action)).collect();
    here?;
    asked.into_iter().collect()
}

/// The same where no daemon is concerned.
pub(crate) fn require_here() -> anyhow::Result<()> {
    Ok(check_own_presence()?)
}

/// Whether a guarded agent may read what is told here, by our own look and by that of the daemon, which knows its agents. A daemon that
/// does not answer knows of none.
pub(crate) fn is_within_agent(home: &Home) -> bool {
    is_own_within_agent() || ControlClient::new(home.clone()).status().is_ok_and(|status| status.within_agent)
}

/// Another user's daemon answers nobody but that user: to change what concerns it needs root, who is asked here.
fn is_own(home: &Home) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::metadata(home.control_socket()).is_ok_and(|socket| socket.uid() == own)
}

fn ask(home: &Home, action: &str) -> anyhow::Result<()> {
    match ControlClient::with_person(home.clone(), ask::known).loosen(action) {
        Err(ControlError::NotRunning) => Ok(()),
        answered => Ok(answered?),
    }
}
