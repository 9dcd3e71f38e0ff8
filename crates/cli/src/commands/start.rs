//! `castellan start`: starts the daemon in the background, also after a `castellan stop`.

use crate::commands::status;
use crate::exit::Exit;
use crate::global::Global;
use crate::launch::{self, Started};
use crate::output::{WARNING, counted};

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let started = launch::start(layout.home())?;
    let status = global.client()?.status()?;
    let how = match started {
        Started::Now => "started",
        Started::Before => "already running",
    };
    let rules = counted(status.rules, "rule");
    global.note(&format!("{how}: process {}, mode {}, {rules}", status.pid, status.mode))?;
    if let Some(waiting) = status::waiting(&status) {
        global.message(WARNING, &waiting)?;
    }
    for problem in &status.problems {
        global.message(WARNING, problem)?;
    }
    Ok(Exit::Done)
}
