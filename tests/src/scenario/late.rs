//! A daemon that answers too late, a command that runs in a directory of its own, and files that a tool writes.

use std::sync::mpsc;

use anyhow::{Context, Result};
use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::{FAILED, Registered, Stage, expect_record, expect_told};
use crate::agents::Agent;
use crate::model::{Block, Model, Script};
use crate::process::stop_process;
use crate::run::{self, AGENT_LIMIT, Options};

/// Plays a call that no rule is about, with a daemon that stands still: the hook denies by itself, before its agent gives it up.
pub fn check_late_answer(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let daemon = stage.home.start_daemon()?;
    let (stopped, is_stopped) = mpsc::channel();
    let script = Script::main([vec![agent.shell("touch other-file")]]).before(0, move || {
        // Nobody listens any more when the test has failed.
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

/// Plays a call of the shell that names a directory under `key`, and one that does not. Only where the first runs is a file denied.
pub fn check_directory(agent: Agent, key: &str) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let sub = stage.home.workspace().canonicalize()?.join("sub");
    stage.home.write(&sub.join("a-file"), "")?;
    let mut there = agent.shell("touch placed-file");
    let here = there.clone();
    if let Block::Call { input: serde_json::Value::Object(input), .. } = &mut there {
        input.insert(key.to_owned(), json!(sub));
    }
    let (model, done) = stage.play(vec![Script::main([vec![there], vec![here]])], &Options::default())?;
    stage.expect_file("sub/placed-file", false, &done);
    stage.expect_file("placed-file", true, &done);
    expect_told(&model, "0-0-0", "Test directory: the test denies a file in this place");
    let calls = stage.calls()?;
    expect_record(stage.call(&calls, "0-0-0")?, json!({"verdict": "deny", "enforced": true}));
    expect_record(stage.call(&calls, "0-1-0")?, json!({"verdict": "defer"}));
    Ok(())
}

/// Plays three files that a tool writes, each by its absolute path: one that a rule denies, one that a rule allows, and another one.
pub fn check_write(agent: Agent, write: fn(&str) -> Block) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let workspace = stage.home.workspace().canonicalize()?;
    let files = ["denied-file", "allowed-file", "other-file"];
    let turns = files.map(|file| vec![write(&workspace.join(file).display().to_string())]);
    let (model, done) = stage.play(vec![Script::main(turns)], &Options::default())?;
    stage.expect_file("denied-file", false, &done);
    stage.expect_file("allowed-file", true, &done);
    stage.expect_file("other-file", true, &done);
    expect_told(&model, "0-0-0", "Test deny: the test denies this file");
    let calls = stage.calls()?;
    for (turn, verdict) in ["deny", "allow", "defer"].into_iter().enumerate() {
        let record = stage.call(&calls, &format!("0-{turn}-0"))?;
        expect_record(record, json!({"tool": "Write", "verdict": verdict, "answer": verdict}));
    }
    Ok(())
}
