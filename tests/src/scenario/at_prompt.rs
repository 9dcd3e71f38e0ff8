//! Qwen Code with a person at its terminal, in a mode in which only castellan's ask opens a prompt.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{Registered, Stage, expect_record};
use crate::agents::Agent::Qwen;
use crate::model::{Model, Script};
use crate::run;
use crate::terminal::{self, Session};

/// The last but one line of the prompt; the reason is above it.
const PROMPT: &str = "Yes, allow once";

/// The text of the input line while Qwen waits for the person's next prompt.
const IDLE: &str = "Type your message";

/// Plays a call that a rule asks about. It runs only after the person answers yes.
pub fn check_agreed_at_prompt() -> Result<()> {
    let Some((stage, model, mut session)) = at_prompt()? else { return Ok(()) };
    session.answer(PROMPT, "")?;
    ensure!(!stage.home.workspace().join("asked-file").exists(), "it did not wait");
    session.answer("", "\r")?;
    // The model's last message.
    session.answer("done", "")?;
    ensure!(model.result_of("0-0-0").is_some(), "the model is told nothing");
    ensure!(stage.home.workspace().join("asked-file").exists(), "the call has not run");
    expect_asked(&stage)
}

/// Plays the same call, and the person answers no.
pub fn check_refused_at_prompt() -> Result<()> {
    let Some((stage, _model, mut session)) = at_prompt()? else { return Ok(()) };
    session.answer(PROMPT, "\x1b")?;
    session.answer(IDLE, "")?;
    ensure!(!stage.home.workspace().join("asked-file").exists(), "the call has run");
    expect_asked(&stage)
}

fn at_prompt() -> Result<Option<(Stage, Model, Session)>> {
    let Some(stage) = Stage::set(Qwen, "enforce", Registered::User)? else { return Ok(None) };
    let script = Script::main([vec![Qwen.shell("touch asked-file")]]);
    let model = Model::start(Qwen.api(), vec![script])?;
    // The terminal is both input and output.
    let at_terminal = ["-c", r#"stty rows 40 cols 120 </dev/tty; exec "$@" >/dev/tty 2>&1"#, "sh"];
    let executable = stage.executable.to_str().context("a path that is not UTF-8")?;
    let qwen = [executable, "--yolo", "--prompt-interactive", "go"];
    let mut environment = run::qwen_environment(&model);
    environment.push(("TERM", "xterm-256color".to_owned()));
    let arguments = [&at_terminal[..], &qwen[..]].concat();
    let session = terminal::start_in(&stage.home, Path::new("sh"), &arguments, &environment)?;
    Ok(Some((stage, model, session)))
}

fn expect_asked(stage: &Stage) -> Result<()> {
    let calls = stage.calls()?;
    let [call] = &calls[..] else { anyhow::bail!("one call, but {} records: {calls:?}", calls.len()) };
    expect_record(call, json!({"verdict": "ask", "answer": "ask", "permission_mode": "yolo"}));
    Ok(())
}
