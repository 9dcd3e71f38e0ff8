//! `castellan restart`: stops the daemon and starts the one of this version.

use anyhow::bail;
use castellan_daemon::ControlError;
use castellan_wire::WireError;

use crate::exit::Exit;
use crate::global::Global;
use crate::{commands, launch};

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let before = client.status().ok().map(|status| status.pid);
    match client.restart() {
        // An ending daemon may close the connection before it answers.
        Ok(()) | Err(ControlError::Wire(WireError::Closed)) => {
            launch::await_end(global.layout()?.home(), &client, before)?
        }
        Err(ControlError::NotRunning) => {}
        Err(error) => return Err(error.into()),
    }
    let exit = commands::start::run(global)?;
    let (version, own) = (client.status()?.version, env!("CARGO_PKG_VERSION"));
    if version != own {
        bail!(
            "a hook has started the daemon of version {version} meanwhile, this is {own}: castellan install"
        );
    }
    Ok(exit)
}
