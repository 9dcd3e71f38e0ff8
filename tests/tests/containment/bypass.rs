//! Inputs by which a model ends the sandbox of its agent, together with a contained call: castellan asks about them, and its own
//! containment does not depend on them.

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::Claude;
use castellan_tests::model::Block;
use castellan_tests::run::Options;
use serde_json::{Value as Json, json};

use crate::rig::{CANARY, Rig};
use crate::stage::{Stage, is_contained};

/// Switches off the rule that asks about the inputs, so that they meet containment alone.
const WITHOUT_THE_RULE: &str =
    "rules.select = [{ disable = { rule = \"Ask before leaving the sandbox of the agent\" } }]";

/// Inputs beside the command that end a sandbox of some agent.
fn inputs() -> [(&'static str, Json); 5] {
    [
        ("dangerouslyDisableSandbox", json!(true)),
        ("with_escalated_permissions", json!(true)),
        ("sandbox_permissions", json!("require_escalated")),
        ("sandbox", json!("danger-full-access")),
        ("permission_mode", json!("bypassPermissions")),
    ]
}

/// A call of a text that castellan does not read, with one more input.
fn call(rig: &Rig, command: &str, key: &str, value: &Json) -> Result<Json> {
    let mut call = rig.call(command, "first");
    let input = call.pointer_mut("/tool_input").and_then(Json::as_object_mut).context("no input")?;
    input.insert(key.to_owned(), value.clone());
    Ok(call)
}

#[test]
fn an_input_that_ends_a_sandbox_is_asked_about_where_the_call_would_be_contained() -> Result<()> {
    let rig = Rig::new()?;
    let command = rig.unread("echo ran > ran")?;
    ensure!(rig.ask(&command)?.is_contained(), "it proves nothing");
    for (key, value) in inputs() {
        let answer = rig.ask_with(&call(&rig, &command, key, &value)?)?;
        ensure!(!answer.is_contained() && !answer.is_free(), "{key}: {answer:?}");
    }
    Ok(())
}

#[test]
fn an_input_that_ends_a_sandbox_does_not_end_containment() -> Result<()> {
    let rig = Rig::with(WITHOUT_THE_RULE)?;
    let command = rig.unread("cat .env; echo x > ../outside; echo ran >> ran")?;
    for (number, (key, value)) in inputs().into_iter().enumerate() {
        let answer = rig.ask_with(&call(&rig, &command, key, &value)?)?;
        let rewrite = answer.rewrite.clone().filter(|_| answer.is_contained());
        let rewrite = rewrite.with_context(|| format!("{key}: not contained: {answer:?}"))?;
        let done = rig.shell(&rewrite)?;
        rig.done(&command, &rewrite)?;
        ensure!(rig.text("ran").lines().count() == number + 1, "{key}: it did not run: {done:?}");
        ensure!(!done.stdout.contains(CANARY) && !rig.file("../outside").exists(), "{key}: {done:?}");
    }
    Ok(())
}

/// Claude Code runs the command of castellan's answer outside of its own sandbox then. A call of Codex is in `answers`.
#[test]
fn claude_without_its_sandbox_runs_a_contained_call_contained() -> Result<()> {
    for (config, runs) in [("", false), (WITHOUT_THE_RULE, true)] {
        let Some(stage) = Stage::with(Claude, config, "")? else { return Ok(()) };
        let rig = &stage.rig;
        let command = rig.unread("cat .env; echo x > ../outside; echo ran > ran")?;
        let input = json!({ "command": command, "description": "a test", "dangerouslyDisableSandbox": true });
        let played = stage.play(vec![Block::call("Bash", input)], &Options::default())?;
        let heard = played.heard(0)?;
        let calls = stage.calls()?;
        let [call] = &calls[..] else { anyhow::bail!("{calls:?}") };
        ensure!(call["input"]["dangerouslyDisableSandbox"] == true, "the input is not there: {call}");
        ensure!(is_contained(call) == runs && rig.file("ran").exists() == runs, "{heard}: {call}");
        ensure!(runs || call["verdict"] == "ask", "{call}");
        ensure!(!heard.contains(CANARY) && !rig.file("../outside").exists(), "{heard}");
    }
    Ok(())
}
