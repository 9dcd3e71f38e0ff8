//! A person at a terminal: a command with a controlling terminal of its own.

use std::path::Path;

use anyhow::{Context, Result};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::home::Home;
use crate::process::{Finished, Running};

/// Runs `castellan --home <home> ARGUMENTS` in a session of its own whose controlling terminal is a new one.
pub fn run_castellan(home: &Home, arguments: &[&str]) -> Result<Finished> {
    let castellan = home.bin().join("castellan");
    run(home, &castellan, &[&["--home", &home.castellan().display().to_string()], arguments].concat())
}

/// Runs a program in a session of its own whose controlling terminal is a new one.
pub fn run(home: &Home, program: &Path, arguments: &[&str]) -> Result<Finished> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&controller)?;
    unlockpt(&controller)?;
    let name = ptsname(&controller, Vec::new())?;
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str()?)?;
    // `setsid --ctty` makes standard input the controlling terminal.
    let mut command = home.command(Path::new("setsid"));
    command.args(["--ctty", "--wait"]).arg(program).args(arguments);
    let running = Running::start_at(&mut command, terminal);
    let done = running?.finish(crate::hook::HOOK_LIMIT).context("the command at a terminal does not end");
    drop(controller);
    done
}
