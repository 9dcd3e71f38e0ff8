//! castellan's own supervising process, where no service manager is: it starts the daemon again when the daemon ends, and
//! ends itself after a deliberate stop. It must not know agents.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use castellan_files::{Links, open_with};
use castellan_wire::{DAEMON_ALREADY_RUNS, Home};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::files::{MARK, Rendered, is_ours};
use crate::exit::Exit;
use crate::launch;
use crate::limits::{OTHER_DAEMON_POLL, RESTART_PAUSE, RESTART_PAUSE_MAX, STEADY_TIME};

/// The file in the home that says that this home has such a service.
const RECORD: &str = "service";

/// Returns the file of the service in the home.
pub(super) fn record() -> Rendered {
    Rendered { name: RECORD.to_owned(), text: format!("{MARK}\n") }
}

fn lock_file(home: &Home) -> PathBuf {
    home.run().join("service.lock")
}

/// Takes the lock of the supervising process; `None` if another process has it.
fn lock(home: &Home) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = open_with(&mut options, &lock_file(home), Links::Refused)?;
    Ok(file.try_lock().is_ok().then_some(file))
}

/// Reports whether a supervising process runs.
pub(super) fn is_running(home: &Home) -> bool {
    home.run().is_dir() && lock(home).is_ok_and(|lock| lock.is_none())
}

/// Starts the supervising process, which starts the daemon.
pub(super) fn start(home: &Home) -> anyhow::Result<()> {
    if is_running(home) {
        return Ok(());
    }
    let program = launch::beside("castellan")?;
    let mut command = Command::new(&program);
    command.args(["service", "supervise", "--home"]).arg(home.dir()).env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).with_context(|| format!("`{}`", program.display()))
}

/// Keeps the daemon of a home running, until a person stops it or removes the service.
pub(crate) fn supervise(home: &Home) -> anyhow::Result<Exit> {
    // A session of its own: the end of the terminal that started it does not end it.
    let _ = rustix::process::setsid();
    let at = || format!("`{}`", lock_file(home).display());
    DirBuilder::new().recursive(true).mode(0o700).create(home.run()).with_context(at)?;
    let Some(_lock) = lock(home).with_context(at)? else { return Ok(Exit::AlreadyRunning) };
    let mut signals = Signals::new([SIGCHLD, SIGTERM, SIGINT]).context("the signals")?;
    let mut pause = RESTART_PAUSE;
    while is_wanted(home) {
        let started = Instant::now();
        let mut daemon = launch::spawn(home, &[], Stdio::null())?;
        match wait(&mut daemon, &mut signals)? {
            Ended::Told => break,
            // A hook has started another daemon.
            Ended::Itself(Some(DAEMON_ALREADY_RUNS)) => await_unlocked(home, &mut signals),
            Ended::Itself(_) => {}
        }
        pause = next_pause(pause, started.elapsed());
        std::thread::sleep(pause);
        if signals.pending().any(|signal| signal != SIGCHLD) {
            break;
        }
    }
    Ok(Exit::Done)
}

fn is_wanted(home: &Home) -> bool {
    is_ours(&home.dir().join(RECORD)) && !home.stopped_marker().exists()
}

/// The reason why the wait for a daemon is over.
enum Ended {
    Itself(Option<i32>),
    /// A signal told this process to end. The daemon has ended, too.
    Told,
}

fn wait(daemon: &mut Child, signals: &mut Signals) -> anyhow::Result<Ended> {
    loop {
        if let Some(status) = daemon.try_wait().context("the daemon")? {
            return Ok(Ended::Itself(status.code()));
        }
        if signals.wait().any(|signal| signal != SIGCHLD) {
            if let Some(pid) = i32::try_from(daemon.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::TERM);
            }
            daemon.wait().context("the daemon")?;
            return Ok(Ended::Told);
        }
    }
}

/// Waits until no daemon serves the home.
fn await_unlocked(home: &Home, signals: &mut Signals) {
    while !launch::is_unlocked(home) && is_wanted(home) && signals.pending().all(|signal| signal == SIGCHLD) {
        std::thread::sleep(OTHER_DAEMON_POLL);
    }
}

/// Returns the pause after a daemon that ran for a time.
fn next_pause(pause: Duration, ran: Duration) -> Duration {
    if ran >= STEADY_TIME { RESTART_PAUSE } else { pause.saturating_mul(2).min(RESTART_PAUSE_MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_fails_again_and_again_is_started_ever_less_often() {
        let mut pause = RESTART_PAUSE;
        let pauses: Vec<u128> = (0..8)
            .map(|_| {
                pause = next_pause(pause, Duration::ZERO);
                pause.as_millis()
            })
            .collect();
        assert_eq!(pauses, [200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
        assert_eq!(next_pause(RESTART_PAUSE_MAX, STEADY_TIME), RESTART_PAUSE);
    }
}
