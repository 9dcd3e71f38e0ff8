//! `castellan start`: starts the daemon in the background, also after a `castellan stop`.

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{WARNING, counted};
use crate::protection::waiting;
use crate::removed_hooks;
use crate::starting::{self, Started};

pub(crate) fn run(global: &Global) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    for title in removed_hooks::restore(&layout)? {
        global.note(&format!("{title} is guarded again"))?;
    }
    let how = match starting::start(layout.home())? {
        Started::Now => "started",
        Started::Before => "already running",
    };
    report(global, how)
}

/// Describes the running daemon.
pub(crate) fn report(global: &Global, how: &str) -> anyhow::Result<Exit> {
    let status = global.client()?.status()?;
    let rules = counted(status.rules, "rule");
    global.note(&format!("{how}: process {}, mode {}, {rules}", status.pid, status.mode))?;
    if let Some(waiting) = waiting(&status) {
        global.message(WARNING, &waiting)?;
    }
    for problem in &status.problems {
        global.message(WARNING, problem)?;
    }
    Ok(Exit::Done)
}
