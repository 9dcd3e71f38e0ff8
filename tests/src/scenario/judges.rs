//! Models by which a real client judges calls itself: the parts of a hook's answer that they read. A later version that
//! reads others fails here.

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use super::{Registered, Stage};
use crate::agents::Agent::{Claude, Codex};
use crate::anthropic::JUDGE;
use crate::attended::Attended;
use crate::model::{Block, Model, Script};
use crate::run::{self, AGENT_LIMIT, CODEX_REVIEWED, Options};
use crate::wait::until;

/// Texts of a hook for the agent's own model: before a call, and after it.
const BEFORE: &str = "text-of-a-hook-before";
const AFTER: &str = "text-of-a-hook-after";

/// castellan's text for a judge.
const RISK: &str = "castellan: this call, or code that it writes, changes files outside the workspace.";

/// Registers a hook beside castellan's that adds texts to each call. `more` are other settings.
fn add_hook(stage: &Stage, file: &str, more: &Json) -> Result<()> {
    let hook = |event: &str, text: &str| {
        let specific = json!({ "hookEventName": event, "additionalContext": text });
        let answer = json!({ "hookSpecificOutput": specific, "systemMessage": text });
        json!([{ "matcher": "*", "hooks": [{ "type": "command", "command": format!("echo '{answer}'") }] }])
    };
    let hooks =
        json!({ "PreToolUse": hook("PreToolUse", BEFORE), "PostToolUse": hook("PostToolUse", AFTER) });
    let mut settings = json!({ "hooks": hooks });
    if let (Some(settings), Some(more)) = (settings.as_object_mut(), more.as_object()) {
        settings.extend(more.clone());
    }
    stage.home.write(&stage.home.workspace().join(file), &settings.to_string())
}

/// Returns the requests with a text, each as a text.
fn requests(model: &Model, part: &str) -> Vec<String> {
    let heard = model.heard().requests;
    heard.iter().map(Json::to_string).filter(|request| request.contains(part)).collect()
}

/// Plays two calls in Claude Code's `auto` with a judge that lets both pass. Each has a risk. `is_local`: Claude Code asks
/// its judge itself; otherwise the verdict comes with the model's answer.
pub fn check_claudes_judge(is_local: bool, is_attended: bool) -> Result<()> {
    let Some(stage) = Stage::set(Claude, "enforce", Registered::User)? else { return Ok(()) };
    let more = if is_local { json!({ "env": { "CLAUDE_CODE_AUTO_MODE_SERVER": "0" } }) } else { json!({}) };
    add_hook(&stage, ".claude/settings.json", &more)?;
    // Without a judge, `auto` lets files be made in the workspace.
    let calls = ["touch ../user/first-file", "touch ../user/other-file"];
    let script = Script::main(calls.map(|command| vec![Claude.shell(command)]));
    let model = Model::start(Claude.api(), vec![script])?;
    if is_attended {
        let _attended = Attended::start(&stage.home, &stage.executable, &model, "auto")?;
        let ended = || Ok(model.result_of("0-1-0"));
        until(AGENT_LIMIT, ended)?.context("the second call has no result")?;
    } else {
        let options = Options { claude_permission_mode: "auto", ..Options::default() };
        run::run(Claude, &stage.executable, &stage.home, &model, &options)?;
    }
    ensure!(stage.home.user().join("other-file").exists(), "{:?}", model.result_of("0-1-0"));
    let judged = requests(&model, JUDGE);
    let is_told = judged.iter().any(|request| request.contains(RISK));
    ensure!(judged.is_empty() != is_local && is_told == is_local, "{} requests to the judge", judged.len());
    for request in &judged {
        ensure!(!request.contains(BEFORE) && !request.contains(AFTER), "the judge reads a hook: {request}");
        let is_told = request.contains(&format!(r#"\"host_context\":\"{RISK}\""#));
        ensure!(is_told == request.contains("other-file"), "{is_told}: {request}");
    }
    for request in model.heard().requests {
        // The part of a request that is for Anthropic's judge alone.
        let context = request.get("safeguards").map(Json::to_string).unwrap_or_default();
        ensure!(![BEFORE, AFTER, "castellan:"].iter().any(|part| context.contains(part)), "{context}");
        let is_judges = request.to_string().contains(JUDGE);
        ensure!(is_judges || !request.to_string().contains(RISK), "the model reads castellan's text");
    }
    // The agent's model reads the texts of the other hook, with its next request.
    let told = requests(&model, BEFORE);
    ensure!(!told.is_empty() && told.iter().all(|request| request.contains("0-0-0")), "{told:?}");
    Ok(())
}

/// Plays two calls that leave Codex's sandbox. Its reviewer, a model without an opinion here, reads no text of a hook.
pub fn check_codexs_reviewer() -> Result<()> {
    let Some(stage) = Stage::set(Codex, "enforce", Registered::User)? else { return Ok(()) };
    add_hook(&stage, ".codex/hooks.json", &json!({}))?;
    let call = |file: &str| {
        let command = format!("touch {}", stage.home.user().join(file).display());
        let input =
            json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "a test" });
        vec![Block::call("exec_command", input)]
    };
    let options = Options { codex_sandbox: CODEX_REVIEWED, ..Options::default() };
    let (model, done) = stage.play(vec![Script::main([call("first"), call("second")])], &options)?;
    let reviewed = requests(&model, REVIEWER);
    for file in ["first", "second"] {
        ensure!(reviewed.iter().any(|request| request.contains(file)), "{file} is not reviewed: {done:?}");
    }
    for request in reviewed {
        let read = [BEFORE, AFTER, "castellan:"].into_iter().find(|part| request.contains(part));
        ensure!(read.is_none(), "the reviewer reads {read:?}: {request}");
    }
    ensure!(!requests(&model, BEFORE).is_empty(), "Codex's own model does not read the hook");
    Ok(())
}

/// A part of the answer format in a request to Codex's reviewer.
const REVIEWER: &str = "risk_level";

/// Plays a call that castellan asks about, beside hooks of the type `prompt` whose model agrees. Claude Code's prompt opens
/// all the same, and `castellan doctor` names the hooks.
pub fn check_prompt_hooks() -> Result<()> {
    let Some(stage) = Stage::set(Claude, "enforce", Registered::User)? else { return Ok(()) };
    let hook = json!([{ "hooks": [{ "type": "prompt", "prompt": "Is it fine? $ARGUMENTS" }] }]);
    let settings = json!({ "hooks": { "PreToolUse": hook, "PermissionRequest": hook } });
    stage.home.write(&stage.home.workspace().join(".claude/settings.json"), &settings.to_string())?;
    let script = Script::main([vec![Claude.shell("touch asked-file")]]);
    let model = Model::start(Claude.api(), vec![script])?;
    let mut attended = Attended::start(&stage.home, &stage.executable, &model, "default")?;
    let both = || {
        let asked = requests(&model, "You are evaluating a hook in Claude Code.");
        let events = ["PreToolUse", "PermissionRequest"];
        let is_asked =
            |event: &str| asked.iter().any(|one| one.contains(event) && one.contains("asked-file"));
        Ok(events.iter().all(|event| is_asked(event)).then_some(()))
    };
    until(AGENT_LIMIT, both)?.context("a prompt hook is not asked")?;
    attended.decline()?;
    ensure!(
        !stage.home.workspace().join("asked-file").exists(),
        "a prompt hook has answered castellan's ask"
    );
    let doctor = stage.home.run_castellan(&["doctor"]).map(|done| done.stdout);
    let doctor = doctor.unwrap_or_else(|error| error.to_string());
    for event in ["PreToolUse", "PermissionRequest"] {
        let named = doctor.lines().any(|line| line.contains(event) && line.contains("Is it fine?"));
        ensure!(named, "doctor does not name the hook for {event}: {doctor}");
    }
    Ok(())
}
