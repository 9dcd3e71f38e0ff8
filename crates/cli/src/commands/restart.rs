//! `castellan restart`: replaces the daemon by the one of this version.

use anyhow::bail;

use crate::commands::start;
use crate::exit::Exit;
use crate::global::Global;
use crate::replace;

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    let client = global.client()?;
    replace::daemon(global.layout()?.home(), &client)?;
    let exit = start::report(global, "started")?;
    let (version, own) = (client.status()?.version, env!("CARGO_PKG_VERSION"));
    if version != own {
        bail!(
            "a hook has started the daemon of version {version} meanwhile, this is {own}: castellan install"
        );
    }
    Ok(exit)
}
