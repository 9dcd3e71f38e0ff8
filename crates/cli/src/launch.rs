//! Starts the daemon of a home from the running `castellan`, and waits for its start or end.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use castellan_daemon::ControlClient;
use castellan_files::{Links, at_most, open_to_read, open_with};
use castellan_wire::{DAEMON_ALREADY_RUNS, DAEMON_ENVIRONMENT, Home, connect};

use crate::limits::{DAEMON_STDERR_BYTES_MAX, POLL, START_TIME, STOP_TIME};
use crate::output::{self, WARNING, printable_lines};
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

/// Waits until a daemon of `home` listens that another program starts.
pub(crate) fn await_start(home: &Home) -> anyhow::Result<()> {
    match poll(START_TIME, || listens(home)) {
        true => Ok(()),
        false => bail!("the daemon did not listen within {} s: {}", START_TIME.as_secs(), last_words(home)),
    }
}

/// Starts the daemon of `home` if none listens, unless a person stopped it.
pub(crate) fn ensure(home: &Home, client: &ControlClient) -> anyhow::Result<()> {
    if client.is_running() || home.stopped_marker().exists() {
        return Ok(());
    }
    start(home).map(drop)
}

/// Waits until the daemon of `home` has ended. With a process id, a replacement daemon that a hook started also proves
/// the end; without one, no daemon may remain.
pub(crate) fn await_end(home: &Home, client: &ControlClient, pid: Option<u32>) -> anyhow::Result<()> {
    let is_gone = || !client.is_running() && is_unlocked(home);
    let is_replaced = || pid.is_some_and(|pid| client.status().is_ok_and(|status| status.pid != pid));
    let ended = poll(STOP_TIME, || is_gone() || is_replaced());
    if !ended {
        bail!("the daemon has not ended within {} s: it may still finish calls", STOP_TIME.as_secs());
    }
    Ok(())
}

/// Returns the path of a program beside this one, with symlinks to the running executable resolved.
pub(crate) fn beside(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program is unknown")?;
    let dir = own.parent().with_context(|| format!("`{}` lies in no directory", own.display()))?;
    Ok(dir.join(name))
}

fn listens(home: &Home) -> bool {
    connect(&home.hook_socket()).is_ok()
}

/// Reports whether no daemon serves the home.
pub(crate) fn is_unlocked(home: &Home) -> bool {
    open_to_read(&home.daemon_lock(), Links::Refused).map_or(true, |lock| lock.try_lock_shared().is_ok())
}

/// Spawns the daemon without this process's environment, directory and terminal.
pub(crate) fn spawn(home: &Home, words: &[&str], stdin: Stdio) -> anyhow::Result<Child> {
    let file = home.daemon_stderr();
    // Created anew, so that the daemon never writes to a file placed there by others.
    let _ = std::fs::remove_file(&file);
    let mut options = OpenOptions::new();
    let stderr = open_with(options.write(true).create_new(true).mode(0o600), &file, Links::Refused);
    let program = beside("castellan")?;
    let mut command = Command::new(&program);
    command.arg("daemon").args(words).arg("--home").arg(home.dir());
    command.env_clear().envs(DAEMON_ENVIRONMENT).current_dir("/");
    command.stdin(stdin).stdout(Stdio::null()).stderr(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
    command.spawn().with_context(|| at(&program))
}

/// Returns the end of the standard error of the daemon that was spawned last.
pub(crate) fn last_words(home: &Home) -> String {
    let text = last_bytes(&home.daemon_stderr()).unwrap_or_default();
    let tail = String::from_utf8_lossy(&text);
    let tail = tail.trim().strip_prefix("error: ").unwrap_or(tail.trim());
    if tail.is_empty() { "it said nothing".to_owned() } else { printable_lines(tail) }
}

fn last_bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_to_read(file, Links::Refused)?;
    let start = file.metadata()?.len().saturating_sub(DAEMON_STDERR_BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    Ok(at_most(file, DAEMON_STDERR_BYTES_MAX)?.unwrap_or_default())
}

/// Polls `condition` until it is true or `time` is over.
fn poll(time: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + time;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

fn at(path: &Path) -> String {
    format!("`{}`", path.display())
}
