//! The real Claude Code and Codex after a contained call: their second question, a later session, and a rewrite that they do not
//! carry out.

use std::fs;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Claude, Codex, Gemini, Qwen};
use castellan_tests::attended::Attended;
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::run::{CODEX_REVIEWED, Options};
use castellan_tests::wait;
use serde_json::{Map, Value as Json, json};

use crate::rig::{CANARY, LIMIT};
use crate::stage::{Stage, is_contained};

/// Adds hooks of the workspace, each an event and a shell text.
fn add_hooks(stage: &Stage, hooks: &[(&str, &str)]) -> Result<()> {
    let file = if stage.agent == Claude { ".claude/settings.json" } else { ".codex/hooks.json" };
    let hook = |script: &str| json!([{ "hooks": [{ "type": "command", "command": script }] }]);
    let hooks: Map<String, Json> =
        hooks.iter().map(|(event, script)| ((*event).to_owned(), hook(script))).collect();
    stage.rig.write(file, &json!({ "hooks": hooks }).to_string())
}

/// Adds a key to the user's settings of Claude Code.
fn set_for_claude(stage: &Stage, key: &str, value: Json) -> Result<()> {
    let file = stage.agent.settings(&stage.rig.home);
    let mut settings: Json = serde_json::from_str(&fs::read_to_string(&file)?)?;
    settings.as_object_mut().context("no object")?.insert(key.to_owned(), value);
    stage.rig.home.write(&file, &settings.to_string())
}

/// Writes down the agent's second question.
const SECOND: (&str, &str) = ("PermissionRequest", "cat > ../second.new; mv ../second.new ../second");

/// A text that must stay inside.
const INSIDE: &str = "echo x > ../outside; cat .env; echo ran > made";

/// Checks that the second question showed castellan's command, that castellan judged no new call, and that the text ran
/// contained.
fn expect_one_contained_call(stage: &Stage) -> Result<()> {
    let (agent, rig) = (stage.agent, &stage.rig);
    let second = rig.text("../second");
    let shown: Json =
        serde_json::from_str(&second).with_context(|| format!("{agent:?} asks nothing: {second}"))?;
    let shown = shown.pointer("/tool_input/command").and_then(Json::as_str).unwrap_or_default();
    ensure!(shown.contains(" contained ") && !shown.contains("eval"), "{agent:?}: {shown}");
    let calls = stage.calls()?;
    ensure!(calls.iter().all(is_contained) && calls.len() == 1, "{agent:?}: {calls:?}");
    ensure!(rig.text("made") == "ran\n" && !rig.file("../outside").exists(), "{agent:?}: {calls:?}");
    ensure!(
        stage.ungoverned()?.iter().all(|why| why == "foreign_hook"),
        "{agent:?}: {:?}",
        stage.ungoverned()?
    );
    Ok(())
}

/// A rule of Claude Code about castellan's command, and not about the model's, opens its prompt. Its second question leaves the
/// decision to the person, who can let the call run, contained.
#[test]
fn a_person_at_claudes_prompt_lets_a_contained_call_run_contained() -> Result<()> {
    let Some(stage) = Stage::set(Claude)? else { return Ok(()) };
    let rig = &stage.rig;
    set_for_claude(&stage, "permissions", json!({ "ask": ["Bash(*contained*)"] }))?;
    add_hooks(&stage, &[SECOND])?;
    let script = Script::main([vec![Claude.shell(&rig.unread(INSIDE)?)]]);
    let model = Model::start(Claude.api(), vec![script])?;
    let mut attended = Attended::start(&rig.home, &stage.executable, &model, "default")?;
    ensure!(wait::file(&rig.file("../second"), true, LIMIT)?, "Claude asks nothing");
    ensure!(!rig.file("made").exists(), "it did not wait");
    attended.agree()?;
    let heard = || Ok(model.result_of("0-0-0"));
    let heard = wait::until(LIMIT, heard)?.context("the call has not ended")?;
    ensure!(!heard.contains(CANARY), "{heard}");
    expect_one_contained_call(&stage)
}

/// The model asks to leave Codex's sandbox, by an argument that no hook sees. castellan answers the second question as the first
/// one, and its own sandbox stays.
#[test]
fn the_second_question_of_codex_about_a_contained_call_has_the_first_answer() -> Result<()> {
    let Some(stage) = Stage::set(Codex)? else { return Ok(()) };
    add_hooks(&stage, &[SECOND])?;
    let command = stage.rig.unread(INSIDE)?;
    let input =
        json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "a test" });
    let options = Options { codex_sandbox: CODEX_REVIEWED, ..Options::default() };
    let played = stage.play(vec![Block::call("exec_command", input)], &options)?;
    ensure!(!played.heard(0)?.contains(CANARY), "{}", played.heard(0)?);
    expect_one_contained_call(&stage)
}

/// Plays a session whose contained call writes a script, and a session of a new process that runs it and reads it.
fn remembers_in_a_later_session(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent)? else { return Ok(()) };
    let rig = &stage.rig;
    rig.write("run.sh", "echo judged\n")?;
    stage.play_commands(&[rig.unread("echo 'echo later' > run.sh")?])?;
    let commands = ["bash run.sh", "cat run.sh"].map(str::to_owned);
    let (heard, _) = stage.play_commands(&commands)?;
    let calls = stage.calls()?;
    let contained: Vec<bool> = calls.iter().map(is_contained).collect();
    ensure!(contained == [true, true, false], "{agent:?}: {calls:?}");
    let sessions: Vec<&Json> = calls.iter().map(|call| &call["session_id"]).collect();
    ensure!(matches!(&sessions[..], [first, second, _] if first != second), "{agent:?}: {sessions:?}");
    let [ran, read] = heard.as_slice() else { anyhow::bail!("{heard:?}") };
    ensure!(ran.contains("later") && !ran.contains("judged"), "{agent:?}: {ran}");
    ensure!(read.contains("echo later"), "{agent:?}: {read}");
    Ok(())
}

#[test]
fn a_later_session_of_claude_and_codex_contains_what_a_contained_call_wrote() -> Result<()> {
    remembers_in_a_later_session(Claude)?;
    remembers_in_a_later_session(Codex)
}

/// Plays a contained call beside a hook of the workspace that puts the model's command back. The agent runs that one, outside of
/// the sandbox, and castellan finds out by the report about the call.
fn notices_an_ignored_rewrite(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent)? else { return Ok(()) };
    let rig = &stage.rig;
    let command = rig.unread("echo x > ../outside")?;
    let input = match agent {
        Claude => json!({ "command": command, "description": "a test" }),
        Codex | Gemini | Qwen => json!({ "command": command }),
    };
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input,
    }});
    rig.write("answer.json", &answer.to_string())?;
    // After castellan's answer: the last hook wins.
    add_hooks(&stage, &[("PreToolUse", "sleep 2; cat answer.json")])?;
    let (heard, done) = stage.play_commands(&[command])?;
    ensure!(stage.contained()? == 1, "{agent:?}: castellan did not contain it: {:?}", stage.calls()?);
    ensure!(rig.file("../outside").exists(), "{agent:?} ran castellan's command: {heard:?} {done:?}");
    let is_noticed = || Ok(stage.ungoverned()?.contains(&"rewrite_ignored".to_owned()).then_some(()));
    wait::until(LIMIT, is_noticed)?.with_context(|| format!("{agent:?}: {:?}", rig.home.records()))?;
    Ok(())
}

#[test]
fn an_ignored_rewrite_of_claude_is_noticed() -> Result<()> {
    notices_an_ignored_rewrite(Claude)
}

#[test]
fn an_ignored_rewrite_of_codex_is_noticed() -> Result<()> {
    notices_an_ignored_rewrite(Codex)
}
