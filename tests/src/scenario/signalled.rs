//! A hook that receives a signal while its agent waits for it. The result depends on the agent.

use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::{FAILED, Registered, Stage, expect_told};
use crate::agents::Agent;
use crate::home::Home;
use crate::model::{Model, Script};
use crate::process::{processes_of, send_signals, stop_process};
use crate::run::{self, AGENT_LIMIT, Options};

/// Timeout of the hook in seconds, instead of the registered ten minutes, so that the test is short.
const SHORT_TIMEOUT: &str = "4";

/// Plays a call that matches no rule, and sends its waiting hook a signal, by number. `runs`: the call then runs.
pub fn check_signalled_hook(agent: Agent, signal: u32, runs: bool) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    shorten_timeouts(&stage)?;
    let daemon = stage.home.start_daemon()?;
    // The hooks of the session's start also wait for a moment. Only after the daemon has stopped, a waiting hook is the
    // call's.
    let (stopped, is_stopped) = mpsc::channel();
    let script = Script::main([vec![agent.shell("touch other-file")]]).before(0, move || {
        // The receiver is gone if the test has failed.
        drop(stopped.send(stop_process(daemon)));
    });
    let model = Model::start(agent.api(), vec![script])?;
    let running = run::start(agent, &stage.executable, &stage.home, &model, &Options::default())?;
    is_stopped.recv_timeout(AGENT_LIMIT).context("the model was not asked")??;
    stage.home.wait_for_waiting_hook(Duration::from_secs(30))?;
    let hooks = hooks_of(&stage.home);
    let [hook] = hooks[..] else { anyhow::bail!("one hook waits, but these run: {hooks:?}") };
    send_signals(hook, &[signal])?;
    kill_process(daemon, Signal::CONT)?;
    let done = running.finish(AGENT_LIMIT)?;
    stage.expect_file("other-file", runs, &done);
    if !runs && signal != STOP && signal != KILL {
        expect_told(&model, "0-0-0", FAILED);
    }
    Ok(())
}

/// Signals of every kind that a hook answers: TERM, SEGV, SYS, a signal of the C library, TSTP, the last signal.
pub const SIGNALS: &[u32] = &[15, 11, 31, 33, 20, 64];

/// KILL; no hook can answer it.
pub const KILL: u32 = 9;
/// STOP; no hook can answer it.
pub const STOP: u32 = 19;

fn hooks_of(home: &Home) -> Vec<Pid> {
    let is_hook = |pid: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        words.split(|byte| *byte == 0).next().is_some_and(|word| word.ends_with(b"castellan-hook"))
    };
    processes_of(&home.castellan()).into_iter().filter(is_hook).collect()
}

/// Shortens the agent's timeout for hooks.
fn shorten_timeouts(stage: &Stage) -> Result<()> {
    let file = stage.agent.settings(&stage.home);
    let text = std::fs::read_to_string(&file).with_context(|| format!("`{}`", file.display()))?;
    ensure!(text.contains("600"), "no timeout in {text}");
    std::fs::write(&file, text.replace("600", SHORT_TIMEOUT))?;
    Ok(())
}
