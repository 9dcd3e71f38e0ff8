//! A command with its own directory, files that a tool writes, and a repository that names castellan's hook.

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use super::{Registered, Stage, expect_record, expect_told};
use crate::agents::Agent;
use crate::model::{Block, Script};
use crate::run::Options;

/// Plays a shell call that names a directory under `key`, and one without. The rule denies the file only in the former.
pub fn check_directory(agent: Agent, key: &str) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let sub = stage.home.workspace().canonicalize()?.join("sub");
    stage.home.write(&sub.join("a-file"), "")?;
    let mut there = agent.shell("touch placed-file");
    let here = there.clone();
    if let Block::Call { input: Json::Object(input), .. } = &mut there {
        input.insert(key.to_owned(), json!(sub));
    }
    let (model, done) = stage.play(vec![Script::main([vec![there], vec![here]])], &Options::default())?;
    stage.expect_file("sub/placed-file", false, &done);
    stage.expect_file("placed-file", true, &done);
    expect_told(&model, "0-0-0", "the test denies a file in this place");
    let calls = stage.calls()?;
    expect_record(stage.call(&calls, "0-0-0")?, json!({"verdict": "deny", "enforced": true}));
    expect_record(stage.call(&calls, "0-1-0")?, json!({"verdict": "defer"}));
    Ok(())
}

/// Plays three files that a tool writes, by absolute path: one rule denies, one rule allows, and no rule matches the
/// third.
pub fn check_write(agent: Agent, write: fn(&str) -> Block) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let workspace = stage.home.workspace().canonicalize()?;
    let files = ["denied-file", "allowed-file", "other-file"];
    let turns = files.map(|file| vec![write(&workspace.join(file).display().to_string())]);
    let (model, done) = stage.play(vec![Script::main(turns)], &Options::default())?;
    stage.expect_file("denied-file", false, &done);
    stage.expect_file("allowed-file", true, &done);
    stage.expect_file("other-file", true, &done);
    expect_told(&model, "0-0-0", "the test denies this file");
    let calls = stage.calls()?;
    for (turn, verdict) in ["deny", "allow", "defer"].into_iter().enumerate() {
        let record = stage.call(&calls, &format!("0-{turn}-0"))?;
        expect_record(record, json!({"tool": "Write", "verdict": verdict, "answer": verdict}));
    }
    Ok(())
}

/// Plays a denied call with Gemini CLI in a repository that switches off hooks by name: first another name, then
/// castellan's. The name of a hook without a name is its command.
pub fn check_named_off() -> Result<()> {
    let agent = Agent::Gemini;
    for is_ours in [false, true] {
        let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
        let settings: Json = serde_json::from_str(&std::fs::read_to_string(agent.settings(&stage.home))?)?;
        let command = settings.pointer("/hooks/BeforeTool/0/hooks/0/command").context("no hook")?;
        let name = if is_ours { command.clone() } else { "castellan-hook".into() };
        let off = json!({"hooksConfig": {"disabled": [name]}});
        stage.home.write(&stage.home.workspace().join(".gemini/settings.json"), &off.to_string())?;
        let script = Script::main([vec![agent.shell("touch denied-file")]]);
        let (_model, done) = stage.play(vec![script], &Options::default())?;
        stage.expect_file("denied-file", is_ours, &done);
        ensure!(stage.calls()?.is_empty() == is_ours, "castellan was asked: {}", !is_ours);
    }
    Ok(())
}
