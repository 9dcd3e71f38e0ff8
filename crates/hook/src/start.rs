//! Connects to the daemon, and starts it when none runs. It is the `castellan` beside the hook's executable, in its own
//! session, without the agent's environment, in `/`. When many hooks find no daemon at once, one of them starts it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use castellan_wire::{DAEMON_ALREADY_RUNS, DAEMON_ENVIRONMENT, Home, connect};

use crate::failure::Failure;
use crate::limits::{HELD, START, TRY_AGAIN};
use crate::{sys, system};

/// Connects to the daemon of `home`. Starts it if none listens, unless it was stopped on purpose.
pub(crate) fn connect_or_start(home: &Home) -> Result<UnixStream, Failure> {
    if home.system_user().is_some() {
        return system::connect_to(home);
    }
    check_private(home)?;
    match connect(&home.hook_socket()) {
        Ok(stream) => Ok(stream),
        Err(_) if home.stopped_marker().exists() => Err(Failure::Stopped),
        Err(_) => start_and_connect(home),
    }
}

/// Checks that no other user can write in `run` and answer in the daemon's place. Creates a missing folder.
fn check_private(home: &Home) -> Result<(), Failure> {
    let path = home.run();
    let found = std::fs::symlink_metadata(&path).or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        std::fs::symlink_metadata(&path)
    });
    let run = found.map_err(|error| Failure::of_home(&error))?;
    let private = run.is_dir() && run.uid() == sys::user_id() && run.mode() & 0o077 == 0;
    if private { Ok(()) } else { Err(Failure::Home) }
}

fn start_and_connect(home: &Home) -> Result<UnixStream, Failure> {
    let until = Instant::now() + START;
    let lock = open_lock(home)?;
    let mut daemon: Option<Child> = None;
    // Times of the first and of the last check that found another daemon holding the home.
    let mut held: Option<(Instant, Instant)> = None;
    let mut pause = Duration::from_millis(1);
    while Instant::now() < until {
        if let Ok(stream) = connect(&home.hook_socket()) {
            return Ok(stream);
        }
        let is_due = held.is_none_or(|(_, last)| last.elapsed() >= TRY_AGAIN);
        // This hook keeps the lock until it ends, so the other hooks wait and connect.
        if daemon.is_none() && is_due && lock.try_lock().is_ok() {
            daemon = Some(spawn(home)?);
        }
        match daemon.as_mut().and_then(exit_code) {
            None => {}
            // Another daemon holds the home. It listens again in a moment, or it is ending.
            Some(DAEMON_ALREADY_RUNS) => {
                daemon = None;
                held = Some((held.map_or_else(Instant::now, |(first, _)| first), Instant::now()));
            }
            Some(_) => return connect(&home.hook_socket()).map_err(|_| Failure::NotStarted),
        }
        if daemon.is_none() && held.is_some_and(|(first, _)| first.elapsed() >= HELD) {
            return Err(Failure::Unreachable);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    Err(Failure::NotStarted)
}

/// Returns the exit code of an ended daemon; -1 when a signal ended it.
fn exit_code(daemon: &mut Child) -> Option<i32> {
    let status = daemon.try_wait().ok().flatten();
    status.map(|status| status.code().unwrap_or(-1))
}

#[expect(
    clippy::disallowed_methods,
    reason = "opens without waiting; the hook links no crate that does it for others"
)]
fn open_lock(home: &Home) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(sys::NO_WAIT);
    options.open(home.start_lock()).map_err(|error| Failure::of_home(&error))
}

#[expect(clippy::disallowed_methods, reason = "opens nothing that was there before")]
fn spawn(home: &Home) -> Result<Child, Failure> {
    // A new file, so that the daemon never writes to an object in its place.
    let _ = std::fs::remove_file(home.daemon_stderr());
    let stderr = OpenOptions::new().write(true).create_new(true).mode(0o600).open(home.daemon_stderr());
    let mut command = Command::new(daemon_program().ok_or(Failure::NotStarted)?);
    command.arg("daemon").arg("--home").arg(home.dir());
    command.env_clear().envs(DAEMON_ENVIRONMENT).current_dir("/");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
    sys::detach_on_exec(&mut command);
    command.spawn().map_err(|_| Failure::NotStarted)
}

/// Returns the `castellan` beside this executable, independent of symlinks and PATH.
fn daemon_program() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join("castellan"))
}
