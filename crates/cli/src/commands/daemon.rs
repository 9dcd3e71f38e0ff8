//! `castellan daemon`: runs the daemon of a home in the foreground. Hooks use it; people use `castellan start`.

use crate::exit::Exit;
use crate::global::Global;

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    castellan_daemon::run(&global.home()?.0)?;
    Ok(Exit::Done)
}
