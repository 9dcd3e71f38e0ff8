//! The daemon: its life, its protection from other processes, broken files, a full disk, an agent's second question,
//! stored state, hostile commands, marks, and the ways in which edited files do or do not come into force.

mod apply;
mod broken_files;
mod consent;
mod engine;
mod every_user;
mod facts;
mod halt;
mod history;
mod hostile;
mod hostile_programs;
mod isolation;
mod layers;
mod life;
mod log;
mod long_programs;
mod many_files;
mod many_sessions;
mod marks;
mod odd_files;
mod origin;
mod own_parts;
mod password;
mod payloads;
mod pending;
mod plans;
mod probing;
mod project;
mod review;
mod runs;
mod screen;
mod scripts;
mod second_question;
mod sockets;
mod ssh;
mod state;
mod switch;
mod trial;
mod undo;
mod ungoverned;
mod watch;
mod ways_out;
mod written;

use std::time::Duration;

use anyhow::{Context, ensure};
use castellan_tests::home::Home;
use castellan_tests::process::processes_of;
use castellan_tests::wait::{self, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

/// The daemon does all of this at once; only a broken daemon needs this long.
const LIMIT: Duration = Duration::from_secs(20);

fn daemons(home: &Home) -> Vec<Pid> {
    let is_daemon = |pid: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        String::from_utf8_lossy(&words).split('\0').nth(1) == Some("daemon")
    };
    let parent = |pid: &Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Pid::from_raw(stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()?)
    };
    let found: Vec<Pid> = processes_of(&home.castellan()).into_iter().filter(is_daemon).collect();
    // A helper has the words of its daemon until it executes its program.
    let is_helper = |pid: &&Pid| parent(pid).is_some_and(|parent| found.contains(&parent));
    found.iter().filter(|pid| !is_helper(pid)).copied().collect()
}

/// Kills a daemon and waits for its end. Until then its socket still accepts connections that nobody answers.
fn kill(daemon: Pid) -> anyhow::Result<()> {
    kill_process(daemon, Signal::KILL)?;
    ensure!(wait::ended(daemon, LIMIT)?, "a killed daemon lives on");
    Ok(())
}

/// Waits until the status reports `word` as the policy's origin.
fn wait_for_origin(home: &Home, word: &str) -> anyhow::Result<()> {
    let found = until(LIMIT, || Ok((status(home)["policy_origin"] == word).then_some(())))?;
    found.with_context(|| format!("not {word}: {}", status(home)))
}

/// Returns the status. A daemon on a loaded machine may not answer `castellan status` in time.
fn status(home: &Home) -> Json {
    let asked = || {
        let status: Json = serde_json::from_str(&home.run_castellan(&["status", "--json"])?.stdout)?;
        Ok((status["running"] == true).then_some(status))
    };
    until(LIMIT, asked).unwrap().expect("no daemon answers")
}
