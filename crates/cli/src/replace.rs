//! Replaces the running daemon by the one of this version. A daemon gives its sockets to the next one, so no call is refused
//! meanwhile; an older daemon, or one of a service manager, ends first. So does each daemon on macOS.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, bail};
use castellan_daemon::{CAN_HAND_OVER, ControlClient, ControlError, SocketsOf};
use castellan_wire::{Home, WireError};

use crate::limits::{HANDOVER_TIME, POLL};
use crate::{launch, service, starting};

/// Replaces the daemon of `home`, or starts one. Requires a person if one runs.
pub(crate) fn daemon(home: &Home, client: &ControlClient) -> anyhow::Result<()> {
    let status = client.status();
    let sockets = status.as_ref().map_or(SocketsOf::Unknown, |status| status.sockets);
    // A service manager would start another one beside it.
    if sockets != SocketsOf::Daemon || !CAN_HAND_OVER || service::is_kept(home) {
        return end_and_start(home, client, status.ok().map(|status| status.pid));
    }
    match client.hand_over() {
        Ok(connection) => take_over(home, client, connection),
        Err(ControlError::NotRunning) => starting::start(home).map(drop),
        Err(error) => Err(error.into()),
    }
}

fn end_and_start(home: &Home, client: &ControlClient, before: Option<u32>) -> anyhow::Result<()> {
    match client.restart() {
        // An ending daemon may close the connection before it answers.
        Ok(()) | Err(ControlError::Wire(WireError::Closed)) => launch::await_end(home, client, before)?,
        Err(ControlError::NotRunning) => {}
        Err(error) => return Err(error.into()),
    }
    starting::start(home).map(drop)
}

/// Starts the next daemon, and waits until it serves.
fn take_over(home: &Home, client: &ControlClient, connection: UnixStream) -> anyhow::Result<()> {
    // This process keeps no copy: the end of the connection shows the daemon before that the next one has ended.
    let connection = Stdio::from(OwnedFd::from(connection));
    let mut next = launch::spawn(home, &["--take-over"], connection)?;
    let until = Instant::now() + HANDOVER_TIME;
    while Instant::now() < until {
        if next.try_wait().context("the daemon")?.is_some() {
            bail!("the next daemon did not take over: {}; {}", launch::last_words(home), left(client));
        }
        if client.status().is_ok_and(|status| status.pid == next.id()) {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
    // It is this process's own child.
    next.kill().and_then(|()| next.wait()).context("the daemon")?;
    bail!("the next daemon did not take over within {} s; {}", HANDOVER_TIME.as_secs(), left(client))
}

/// Describes the daemon after a handover that failed.
fn left(client: &ControlClient) -> String {
    match client.status() {
        Ok(status) => format!("process {} of version {} serves on", status.pid, status.version),
        Err(_) => "no daemon answers, so calls are denied: castellan start".to_owned(),
    }
}
