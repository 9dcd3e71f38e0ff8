//! Starts the daemon of a home: by its service if one is installed, else as a process of this program.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, bail};
use castellan_daemon::ControlClient;
use castellan_wire::{DAEMON_ALREADY_RUNS, Home};

use crate::launch::{await_start, last_words, listens, spawn};
use crate::limits::{POLL, START_TIME};
use crate::output::{self, WARNING};
use crate::service;

/// The result of [`start`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    Now,
    Before,
}

/// Starts the daemon of `home` unless one listens. Clears the mark of an intended stop.
pub(crate) fn start(home: &Home) -> anyhow::Result<Started> {
    DirBuilder::new().recursive(true).mode(0o700).create(home.run()).with_context(|| at(&home.run()))?;
    let marker = home.stopped_marker();
    match std::fs::remove_file(&marker) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).context(at(&marker)),
        _ => {}
    }
    if listens(home) {
        return Ok(Started::Before);
    }
    match service::start(home) {
        Ok(true) => return await_start(home).map(|()| Started::Now),
        Ok(false) => {}
        // A daemon without its service protects as well.
        Err(error) => {
            let text = format!("the daemon starts without its service: {}", output::message(&error));
            output::write_messages(&mut anstream::stderr(), WARNING, &[text])?;
        }
    }
    let mut daemon = spawn(home, &[], Stdio::null())?;
    let until = Instant::now() + START_TIME;
    while Instant::now() < until {
        if listens(home) {
            return Ok(Started::Now);
        }
        match daemon.try_wait().context("the daemon")? {
            None => {}
            // A hook has started another daemon that will listen soon, or an ending daemon still holds the lock.
            Some(status) if status.code() == Some(DAEMON_ALREADY_RUNS) => {
                daemon = spawn(home, &[], Stdio::null())?
            }
            Some(_) if listens(home) => return Ok(Started::Now),
            Some(_) => bail!("the daemon did not start: {}", last_words(home)),
        }
        std::thread::sleep(POLL);
    }
    bail!(
        "the daemon did not listen within {} s; look at `{}`",
        START_TIME.as_secs(),
        home.daemon_stderr().display()
    )
}

/// Starts the daemon of `home` if none listens, unless a person stopped it.
pub(crate) fn ensure(home: &Home, client: &ControlClient) -> anyhow::Result<()> {
    if client.is_running() || home.stopped_marker().exists() {
        return Ok(());
    }
    start(home).map(drop)
}

fn at(path: &Path) -> String {
    format!("`{}`", path.display())
}
