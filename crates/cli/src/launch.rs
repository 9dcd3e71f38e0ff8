//! Spawns the daemon of a home from the running `castellan`, and waits for its start or end. Must not know services.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use castellan_daemon::ControlClient;
use castellan_files::{Links, at_most, open_to_read, open_with};
use castellan_wire::{DAEMON_ENVIRONMENT, Home, connect};

use crate::limits::{DAEMON_STDERR_BYTES_MAX, POLL, START_TIME, STOP_TIME};
use crate::output::printable_lines;

/// Waits until a daemon of `home` listens that another program starts.
pub(crate) fn await_start(home: &Home) -> anyhow::Result<()> {
    match poll(START_TIME, || listens(home)) {
        true => Ok(()),
        false => bail!("the daemon did not listen within {} s: {}", START_TIME.as_secs(), last_words(home)),
    }
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

/// Reports whether a process listens for hooks.
pub(crate) fn listens(home: &Home) -> bool {
    connect(&home.hook_socket()).is_ok()
}

/// Reports whether no daemon serves the home.
pub(crate) fn is_unlocked(home: &Home) -> bool {
    open_to_read(&home.daemon_lock(), Links::Refused).map_or(true, |lock| lock.try_lock_shared().is_ok())
}

/// Spawns the daemon without this process's environment, directory and terminal.
pub(crate) fn spawn(home: &Home, words: &[&str], stdin: Stdio) -> anyhow::Result<Child> {
    if let Some(user) = home.system_user() {
        bail!(
            "the service manager starts the daemon of this home: run `sudo systemctl start castellan@{user}`"
        );
    }
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
