//! Starting and awaiting the daemon of a home, from the `castellan` that runs now.

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
use crate::output::printable_lines;

/// What [`start`] found or did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    Now,
    Before,
}

/// Starts the daemon of `home` unless one listens, and forgets that it was stopped on purpose.
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
    let mut daemon = spawn(home)?;
    let until = Instant::now() + START_TIME;
    while Instant::now() < until {
        if listens(home) {
            return Ok(Started::Now);
        }
        match daemon.try_wait().context("the daemon")? {
            None => {}
            // A hook has started another one, which is about to listen; or one is ending and makes room.
            Some(status) if status.code() == Some(DAEMON_ALREADY_RUNS) => daemon = spawn(home)?,
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

/// Waits until the daemon of `home` has ended. With its process id, another daemon that a hook has started in its place is a sign of its
/// end; without, no daemon may be left.
pub(crate) fn await_end(home: &Home, client: &ControlClient, pid: Option<u32>) -> anyhow::Result<()> {
    let is_gone = || !client.is_running() && is_unlocked(home);
    let is_replaced = || pid.is_some_and(|pid| client.status().is_ok_and(|status| status.pid != pid));
    let ended = poll(STOP_TIME, || is_gone() || is_replaced());
    if !ended {
        bail!("the daemon has not ended within {} s: it may still finish calls", STOP_TIME.as_secs());
    }
    Ok(())
}

/// Returns the path of a program that lies beside this one. The running executable counts, past any symlink to it.
pub(crate) fn beside(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program is unknown")?;
    let dir = own.parent().with_context(|| format!("`{}` lies in no directory", own.display()))?;
    Ok(dir.join(name))
}

fn listens(home: &Home) -> bool {
    connect(&home.hook_socket()).is_ok()
}

fn is_unlocked(home: &Home) -> bool {
    open_to_read(&home.daemon_lock(), Links::Refused).map_or(true, |lock| lock.try_lock_shared().is_ok())
}

/// The daemon gets nothing of this process: nothing of its environment, no directory, no terminal to write to.
fn spawn(home: &Home) -> anyhow::Result<Child> {
    let file = home.daemon_stderr();
    // Made anew, so that nothing that lies in its place is written to.
    let _ = std::fs::remove_file(&file);
    let mut options = OpenOptions::new();
    let stderr = open_with(options.write(true).create_new(true).mode(0o600), &file, Links::Refused);
    let program = beside("castellan")?;
    let mut command = Command::new(&program);
    command.arg("daemon").arg("--home").arg(home.dir());
    command.env_clear().envs(DAEMON_ENVIRONMENT).current_dir("/");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
    command.spawn().with_context(|| at(&program))
}

fn last_words(home: &Home) -> String {
    let text = last_bytes(&home.daemon_stderr()).unwrap_or_default();
    let tail = String::from_utf8_lossy(&text);
    let tail = tail.trim().strip_prefix("castellan: ").unwrap_or(tail.trim());
    if tail.is_empty() { "it said nothing".to_owned() } else { printable_lines(tail) }
}

fn last_bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_to_read(file, Links::Refused)?;
    let start = file.metadata()?.len().saturating_sub(DAEMON_STDERR_BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    Ok(at_most(file, DAEMON_STDERR_BYTES_MAX)?.unwrap_or_default())
}

/// Looks at `condition` until it is true or `time` is over.
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
