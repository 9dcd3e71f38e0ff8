//! A daemon that answers too late.

use std::sync::mpsc;

use anyhow::{Context, Result};
use rustix::process::{Signal, kill_process};

use super::{FAILED, Registered, Stage, expect_told};
use crate::agents::Agent;
use crate::model::{Model, Script};
use crate::process::stop_process;
use crate::run::{self, AGENT_LIMIT, Options};

/// Plays a call that matches no rule, with a stopped daemon. The hook denies by itself, before its agent's timeout.
pub fn check_late_answer(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let daemon = stage.home.start_daemon()?;
    let (stopped, is_stopped) = mpsc::channel();
    let script = Script::main([vec![agent.shell("touch other-file")]]).before(0, move || {
        // The receiver is gone if the test has failed.
        drop(stopped.send(stop_process(daemon)));
    });
    let model = Model::start(agent.api(), vec![script])?;
    let running = run::start(agent, &stage.executable, &stage.home, &model, &Options::default())?;
    is_stopped.recv_timeout(AGENT_LIMIT).context("the model was not asked")??;
    let done = running.finish(AGENT_LIMIT)?;
    stage.expect_file("other-file", false, &done);
    expect_told(&model, "0-0-0", FAILED);
    expect_told(&model, "0-0-0", "its daemon did not answer in time");
    Ok(kill_process(daemon, Signal::CONT)?)
}
