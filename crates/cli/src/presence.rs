//! The presence check for what `castellan` itself loosens: asked of the daemon, which records it; of ourselves where no
//! daemon runs.

use castellan_daemon::{ControlClient, ControlError, check_presence};
use castellan_wire::Home;

/// Fails unless a person is there. `action` goes into the log.
pub(crate) fn require(home: &Home, action: &str) -> anyhow::Result<()> {
    match ControlClient::new(home.clone()).loosen(action) {
        Err(ControlError::NotRunning) => require_here(),
        answered => Ok(answered?),
    }
}

/// The same without a daemon.
pub(crate) fn require_here() -> anyhow::Result<()> {
    Ok(check_presence(std::process::id(), |_, _| false)?)
}
