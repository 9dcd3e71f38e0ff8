//! The user presence check before `castellan` itself loosens protection. This process checks, because the caller
//! chooses the home and thus the daemon that answers. The daemon of every affected home checks too: a daemon knows its
//! agents and records the request.

use std::os::unix::fs::MetadataExt;

use castellan_daemon::{ControlClient, ControlError, check_own_presence, is_own_within_agent};
use castellan_wire::Home;

use crate::ask;

/// Fails unless this process and the running daemons of `homes` confirm that a person is present. The daemons log
/// `action`.
pub(crate) fn require(homes: &[Home], action: &str) -> anyhow::Result<()> {
    let here = require_here();
    // Asked after a refusal too: the daemons record the attempt.
    let asked: Vec<_> = homes.iter().filter(|home| is_own(home)).map(|home| ask(home, action)).collect();
    here?;
    asked.into_iter().collect()
}

/// Checks in this process only, if no daemon is affected.
pub(crate) fn require_here() -> anyhow::Result<()> {
    Ok(check_own_presence()?)
}

/// Checks in this process before a person is asked a question. After a refusal it sends `attempt` all the same: the
/// daemon refuses it too and records it. `attempt` must have no effect, even if the daemon accepts its origin.
pub(crate) fn require_before<E>(attempt: impl FnOnce() -> Result<(), E>) -> anyhow::Result<()> {
    require_here().inspect_err(|_| {
        let _ = attempt();
    })
}

/// Reports whether a guarded agent may read the output, as seen by this process or by the daemon, which knows its
/// agents. A daemon that does not answer is ignored.
pub(crate) fn is_within_agent(home: &Home) -> bool {
    is_own_within_agent() || ControlClient::new(home.clone()).status().is_ok_and(|status| status.within_agent)
}

/// Reports whether the daemon belongs to this user. Another user's daemon answers only that user, and root is checked
/// in this process.
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
