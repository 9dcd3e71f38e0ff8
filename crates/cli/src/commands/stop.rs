//! `castellan stop`: stops the daemon permanently. Calls of guarded agents are denied until `castellan start`.

use anyhow::Context;
use castellan_daemon::{ControlClient, ControlError, Layout};
use castellan_files::write_private;
use castellan_wire::WireError;

use crate::exit::Exit;
use crate::global::Global;
use crate::{ask, launch, presence, service};

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    stop(&layout)?;
    global.note("stopped: every call of guarded agents is blocked until you run `castellan start`")?;
    Ok(Exit::Done)
}

/// Stops the daemon of a home and keeps hooks from starting it. Requires a person, even if the daemon does not run.
pub(crate) fn stop(layout: &Layout) -> anyhow::Result<()> {
    let client = ControlClient::with_person(layout.home().clone(), ask::known);
    match client.stop() {
        // An ending daemon may close the connection before it answers.
        Ok(()) | Err(ControlError::Wire(WireError::Closed)) => {
            // A service manager would start the daemon again, or keep its sockets open.
            let of_service = service::stop(layout.home());
            launch::await_end(layout.home(), &client, None)?;
            of_service
        }
        Err(ControlError::NotRunning) => {
            presence::require_here()?;
            let marker = layout.home().stopped_marker();
            if marker.parent().is_some_and(|dir| dir.exists()) {
                write_private(&marker, b"").with_context(|| format!("`{}`", marker.display()))?;
            }
            service::stop(layout.home())
        }
        Err(error) => Err(error.into()),
    }
}
