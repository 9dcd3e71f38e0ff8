//! Calls at a steady rate while a test does something with the daemon, and programs in the place of the next daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{bash, judge, understood};
use castellan_tests::process::{Finished, Running, processes_of};
use castellan_tests::terminal;
use castellan_wire::Home as Paths;
use rustix::process::Pid;
use serde_json::Value as Json;

/// Only a broken castellan needs this long.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Calls of an agent in a second.
const RATE: &str = "200";

/// The limit for a call on a loaded machine, in a debug build. `cargo xtask bench service` judges the requirement of 200 ms.
pub(crate) const SLOWEST: Duration = Duration::from_secs(4);

/// What became of the calls.
#[derive(Debug)]
pub(crate) struct Calls {
    pub(crate) all: u64,
    pub(crate) denied: u64,
    pub(crate) refused: u64,
    pub(crate) lost: u64,
    pub(crate) wrong: Vec<Json>,
    pub(crate) slowest: Duration,
}

pub(crate) fn paths(home: &Home) -> Paths {
    Paths::new(home.castellan()).unwrap()
}

/// Returns the status; an error if no daemon answers.
pub(crate) fn status(home: &Home) -> Result<Json> {
    let status: Json = serde_json::from_str(&home.run_castellan(&["status", "--json"])?.stdout)?;
    ensure!(status["running"] == true, "no daemon answers: {status}");
    Ok(status)
}

pub(crate) fn pid(home: &Home) -> Result<u64> {
    status(home)?["pid"].as_u64().context("no pid")
}

/// The daemons of a home, also one that does not serve yet.
pub(crate) fn daemons(home: &Home) -> Vec<Pid> {
    let is_daemon = |pid: &Pid| {
        let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        String::from_utf8_lossy(&words).split('\0').nth(1) == Some("daemon")
    };
    processes_of(&home.castellan()).into_iter().filter(is_daemon).collect()
}

/// Runs `castellan restart` as a person.
pub(crate) fn restart(home: &Home) -> Result<Finished> {
    terminal::run_castellan(home, &["restart"])
}

/// Makes 200 calls a second over the hook socket, and some by real hooks, while `meanwhile` runs. No hook may be wrong.
pub(crate) fn call_meanwhile(home: &Home, meanwhile: impl FnOnce() -> Result<()>) -> Result<Calls> {
    let over = home.castellan().join("over");
    let helper = PathBuf::from(env!("CARGO_BIN_EXE_castellan-test-calls"));
    // castellan takes `timeout` for the agent.
    let mut command = home.command(Path::new("timeout"));
    command.arg("120").arg(helper).arg(paths(home).hook_socket()).arg(&over).arg(RATE);
    let running = Running::start(&mut command)?;
    let is_over = AtomicBool::new(false);
    let (done, hooks) = std::thread::scope(|scope| {
        let hooks = scope.spawn(|| hooks(home, &is_over));
        let done = meanwhile();
        is_over.store(true, Ordering::SeqCst);
        (done, hooks.join())
    });
    fs::write(&over, "")?;
    let finished = running.finish(LIMIT)?;
    done?;
    hooks.map_err(|_| anyhow::anyhow!("a hook was answered wrongly"))??;
    let told: Json = serde_json::from_str(&finished.stdout).with_context(|| format!("{finished:?}"))?;
    let number = |key: &str| told[key].as_u64().with_context(|| format!("no {key} in {told}"));
    let calls = Calls {
        all: number("calls")?,
        denied: number("denied")?,
        refused: number("refused")?,
        lost: number("lost")?,
        wrong: told["wrong"].as_array().context("no list")?.clone(),
        slowest: Duration::from_millis(number("slowest_ms")?),
    };
    println!("{} calls, the slowest took {} ms", calls.all, calls.slowest.as_millis());
    ensure!(calls.wrong.is_empty(), "wrong answers: {:?}", calls.wrong);
    Ok(calls)
}

/// Real hooks, one after the other. Each denies what is forbidden, also without a daemon.
fn hooks(home: &Home, is_over: &AtomicBool) -> Result<()> {
    while !is_over.load(Ordering::SeqCst) {
        let done = judge(home, &bash("echo forbidden"))?;
        ensure!(understood(&done) == "deny", "{done:?}");
    }
    Ok(())
}

impl Calls {
    /// Checks that each call was answered in time.
    pub(crate) fn check_whole(&self) -> Result<()> {
        ensure!(self.refused == 0 && self.lost == 0, "{self:?}");
        ensure!(self.slowest < SLOWEST, "{self:?}");
        ensure!(self.denied >= self.all / 2 - 8 && self.denied > 0, "{self:?}");
        Ok(())
    }
}

/// A castellan whose next daemon is a script: `castellan` itself has another name beside it.
pub(crate) fn with_next(home: &Home, script: &str) -> Result<PathBuf> {
    let folder = home.bin().join("next");
    fs::create_dir_all(&folder)?;
    let (program, next) = (folder.join("person"), folder.join("castellan"));
    if !program.exists() {
        fs::hard_link(home.bin().join("castellan"), &program)?;
    }
    // A separate process writes it, because an executable that is being written while another thread forks cannot be
    // started.
    let write = format!("cat > '{0}.new' && chmod 755 '{0}.new' && mv '{0}.new' '{0}'", next.display());
    let mut command = Command::new("sh");
    let done = Running::start_with_input(command.args(["-c", &write]), script.as_bytes())?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(next.metadata()?.permissions().mode() & 0o111 != 0);
    Ok(program)
}

/// Restarts with the program of [`with_next`].
pub(crate) fn restart_with(home: &Home, program: &Path) -> Result<Finished> {
    terminal::run(home, program, &["--home", &home.castellan().display().to_string(), "restart"])
}
