//! `castellan restart`: ends the daemon and starts the one of this version.

use castellan_daemon::ControlError;
use castellan_wire::WireError;

use crate::exit::Exit;
use crate::global::Global;
use crate::{commands, launch};

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    let client = global.client()?;
    match client.restart() {
        // A daemon that ends may hang up before it has said so.
        Ok(()) | Err(ControlError::Wire(WireError::Closed)) => {
            launch::await_end(global.layout()?.home(), &client)?
        }
        Err(ControlError::NotRunning) => {}
        Err(error) => return Err(error.into()),
    }
    commands::start::run(global)
}
