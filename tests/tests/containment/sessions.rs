//! Ordinary work of the real Claude Code and Codex: each edits with its own tool and runs with its own shell tool. castellan
//! asks no question, contains the expected calls, and the work has the expected results.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Claude, Codex};
use castellan_tests::model::Block;
use castellan_tests::run::Options;
use serde_json::json;

use crate::ecosystems::Step::{After, Edit, Free, Unread};
use crate::ecosystems::{Session, play_each};
use crate::stage::{Stage, is_contained, told_code, waited_shell};

/// Returns the call by which an agent writes a file. `before`: the text that it wrote there.
fn edit(agent: Agent, workspace: &Path, file: &str, before: Option<&str>, text: &str) -> Block {
    let place = workspace.join(file);
    let lines =
        |sign: &str, text: &str| -> String { text.lines().map(|line| format!("{sign}{line}\n")).collect() };
    match (agent, before) {
        (Codex, None) => patch(&format!("*** Add File: {file}\n{}", lines("+", text))),
        (Codex, Some(before)) => {
            patch(&format!("*** Update File: {file}\n@@\n{}{}", lines("-", before), lines("+", text)))
        }
        (_, None) => Block::call("Write", json!({ "file_path": place, "content": text })),
        (_, Some(before)) => {
            Block::call("Edit", json!({ "file_path": place, "old_string": before, "new_string": text }))
        }
    }
}

fn patch(change: &str) -> Block {
    Block::FreeCall {
        tool: "apply_patch".to_owned(),
        input: format!("*** Begin Patch\n{change}*** End Patch\n"),
    }
}

fn play(agent: Agent, session: &Session) -> Result<()> {
    let Some(stage) = Stage::set(agent)? else { return Ok(()) };
    let rig = &stage.rig;
    let mut texts: HashMap<&str, &str> = HashMap::new();
    let mut calls = Vec::new();
    for step in session.steps {
        calls.push(match step {
            Edit(file, text) => {
                let before = texts.insert(file, text);
                edit(agent, &rig.home.workspace(), file, before, text)
            }
            Free(command, ..) | After(command, ..) => waited_shell(agent, command),
            Unread(command, ..) => waited_shell(agent, &rig.unread(command)?),
        });
    }
    let played = stage.play(calls, &Options::default())?;
    let records = stage.calls()?;
    ensure!(records.len() == session.steps.len(), "{agent:?}: {} records: {records:?}", records.len());
    for (number, step) in session.steps.iter().enumerate() {
        let id = format!("0-{number}-0");
        let record = records.iter().find(|call| call["use_id"] == id);
        let record = record.with_context(|| format!("no record of {id}: {records:?}"))?;
        let heard = played.heard(number)?;
        let runs = record["answer"] == "allow" || record["answer"] == "defer";
        ensure!(runs, "{agent:?}: a question about {record}");
        let (contained, expected) = match *step {
            Edit(..) => (false, None),
            Free(_, succeeds, text) => (false, Some((succeeds, text))),
            After(_, succeeds, text) | Unread(_, succeeds, text) => (true, Some((succeeds, text))),
        };
        ensure!(
            is_contained(record) == contained,
            "{agent:?}: contained is not {contained}: {} {}",
            record["input"],
            record["findings"]
        );
        if let Some((succeeds, text)) = expected {
            let code = told_code(agent, &heard).with_context(|| format!("no exit code in {heard}"))?;
            ensure!((code == 0) == succeeds && heard.contains(text), "{agent:?}: `{text}` in {heard}");
        }
    }
    for (file, text) in texts {
        ensure!(rig.text(file).trim_end() == text.trim_end(), "{agent:?}: `{file}` is {:?}", rig.text(file));
    }
    ensure!(stage.ungoverned()?.is_empty(), "{agent:?}: {:?}", stage.ungoverned()?);
    Ok(())
}

#[test]
fn claude_works_in_each_ecosystem_without_a_question() -> Result<()> {
    play_each(|session| play(Claude, session))
}

#[test]
fn codex_works_in_each_ecosystem_without_a_question() -> Result<()> {
    play_each(|session| play(Codex, session))
}
