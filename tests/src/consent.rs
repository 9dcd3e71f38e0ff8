//! Real agents with calls that wait for a person at another terminal.

use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use crate::agents::Agent;
use crate::attended::Attended;
use crate::home::Home;
use crate::model::{Model, Script};
use crate::run::{self, AGENT_LIMIT, Options};
use crate::scenario::{Registered, Stage, expect_record, expect_told};
use crate::terminal;
use crate::wait::until;

/// Waits until a call is pending, and returns its id.
pub(crate) fn waiting(home: &Home) -> Result<String> {
    let look = || {
        let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
        Ok(shown.pointer("/pending/0/id").and_then(Json::as_str).map(str::to_owned))
    };
    until(AGENT_LIMIT, look)?.context("no call waits")
}

/// Approves a call at a terminal, and checks that the terminal shows this text of the call. Returns the output.
pub(crate) fn approve(home: &Home, id: &str, shown: &str) -> Result<String> {
    let approved = terminal::run_castellan(home, &["approve", id, "--yes"])?;
    ensure!(approved.code == Some(0), "{approved:?}");
    ensure!(approved.stdout.contains(shown), "the call is not shown: {approved:?}");
    Ok(approved.stdout)
}

/// Returns the number of calls that `castellan pending` lists, with more arguments.
fn listed(home: &Home, arguments: &[&str]) -> Result<usize> {
    let shown = home.run_castellan(&[&["pending", "--json"], arguments].concat())?.stdout;
    let shown: Json = serde_json::from_str(&shown)?;
    let lists = ["pending", "granted"].iter().filter_map(|key| shown.get(key)?.as_array());
    Ok(lists.map(Vec::len).sum())
}

/// Waits until this number of calls is listed.
fn expect_listed(home: &Home, arguments: &[&str], expected: usize) -> Result<()> {
    let reached = until(AGENT_LIMIT, || Ok((listed(home, arguments)? == expected).then_some(())))?;
    reached.with_context(|| format!("{expected} calls are never listed by `pending` {arguments:?}"))
}

/// Starts Claude Code, with a person at its prompt, on calls that castellan asks about.
fn at_prompt(calls: usize) -> Result<Option<(Stage, Model, Attended)>> {
    let set = Stage::with_config(Agent::Claude, "version = 1\n", Registered::User)?;
    let Some(stage) = set else { return Ok(None) };
    let turns: Vec<_> = (0..calls).map(|_| vec![Agent::Claude.shell("touch asked-file")]).collect();
    let model = Model::start(Agent::Claude.api(), vec![Script::main(turns)])?;
    let attended = Attended::start(&stage.home, &stage.executable, &model, "default")?;
    Ok(Some((stage, model, attended)))
}

/// A call approved once, and answered with yes at the agent's prompt, uses up the consent: castellan asks about the
/// next.
pub fn check_approved_at_prompt() -> Result<()> {
    let Some((stage, _model, mut attended)) = at_prompt(2)? else { return Ok(()) };
    let home = &stage.home;
    let told = approve(home, &waiting(home)?, "touch asked-file")?;
    ensure!(told.contains("also answer Yes in Claude Code"), "{told}");
    ensure!(listed(home, &["--granted"])? == 1, "it is not granted");
    attended.agree()?;
    expect_listed(home, &["--granted"], 0)?;
    // The next call waits at the prompt again, and leaves the list after an answer there.
    expect_listed(home, &[], 1)?;
    attended.agree()?;
    expect_listed(home, &[], 0)?;
    let calls = stage.calls()?;
    for id in ["0-0-0", "0-1-0"] {
        expect_record(stage.call(&calls, id)?, json!({"verdict": "ask", "answer": "ask"}));
    }
    ensure!(home.workspace().join("asked-file").exists(), "no call has run");
    Ok(())
}

/// A no at the agent's own prompt revokes a single grant, and ends the wait.
pub fn check_declined_at_prompt() -> Result<()> {
    let Some((stage, _model, mut attended)) = at_prompt(1)? else { return Ok(()) };
    let home = &stage.home;
    approve(home, &waiting(home)?, "touch asked-file")?;
    attended.decline()?;
    expect_listed(home, &["--granted"], 0)?;
    ensure!(!home.workspace().join("asked-file").exists(), "the call has run");
    let Some((stage, _model, mut attended)) = at_prompt(1)? else { return Ok(()) };
    waiting(&stage.home)?;
    attended.decline()?;
    expect_listed(&stage.home, &[], 0)
}

/// A call is asked about, shown and approved at another terminal, and made again. It then runs, once.
pub fn check_approved(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::with_config(agent, "version = 1\n", Registered::User)? else { return Ok(()) };
    let (approved, is_approved) = mpsc::channel::<()>();
    let is_approved = std::sync::Mutex::new(is_approved);
    let turns = [
        vec![agent.shell("touch asked-file")],
        vec![agent.shell("touch asked-file")],
        vec![agent.shell("rm asked-file; touch asked-file")],
    ];
    let script = Script::main(turns).before(1, move || {
        let wait = is_approved.lock().map(|is_approved| is_approved.recv_timeout(AGENT_LIMIT));
        assert!(wait.is_ok_and(|wait| wait.is_ok()), "nobody has approved");
    });
    let model = Model::start(agent.api(), vec![script])?;
    let running = run::start(agent, &stage.executable, &stage.home, &model, &Options::default())?;
    approve(&stage.home, &waiting(&stage.home)?, "touch asked-file")?;
    approved.send(())?;
    let done = running.finish(AGENT_LIMIT)?;
    let calls = stage.calls()?;
    expect_record(stage.call(&calls, "0-0-0")?, json!({"verdict": "ask"}));
    expect_record(stage.call(&calls, "0-1-0")?, json!({"verdict": "allow", "answer": "allow"}));
    expect_record(stage.call(&calls, "0-2-0")?, json!({"verdict": "ask"}));
    stage.expect_file("asked-file", true, &done);
    Ok(())
}

/// A pending call that is approved in time runs at once, without being made again.
pub fn check_held(agent: Agent) -> Result<()> {
    let config = "version = 1\nask_wait = 300\n";
    let Some(stage) = Stage::with_config(agent, config, Registered::User)? else { return Ok(()) };
    let script = Script::main([vec![agent.shell("touch asked-file")]]);
    let model = Model::start(agent.api(), vec![script])?;
    let running = run::start(agent, &stage.executable, &stage.home, &model, &Options::default())?;
    approve(&stage.home, &waiting(&stage.home)?, "touch asked-file")?;
    let done = running.finish(AGENT_LIMIT)?;
    stage.expect_file("asked-file", true, &done);
    let calls = stage.calls()?;
    let answers: Vec<&Json> = calls.iter().map(|call| &call["answer"]).collect();
    ensure!(answers == ["hold", "allow"], "{answers:?}");
    Ok(())
}

/// A pending call that nobody approves in time does not run. A later approval does not run it either.
pub fn check_held_in_vain(agent: Agent) -> Result<()> {
    let config = "version = 1\nask_wait = 1\n";
    let Some(stage) = Stage::with_config(agent, config, Registered::User)? else { return Ok(()) };
    let script = Script::main([vec![agent.shell("touch asked-file")]]);
    let (model, done) = stage.play(vec![script], &Options::default())?;
    stage.expect_file("asked-file", false, &done);
    ensure!(done.took >= Duration::from_secs(1), "{done:?}");
    expect_told(&model, "0-0-0", "the test asks about this file");
    approve(&stage.home, &waiting(&stage.home)?, "touch asked-file")?;
    stage.expect_file("asked-file", false, &done);
    Ok(())
}
