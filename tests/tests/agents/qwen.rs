//! castellan guards the real Qwen Code: see `castellan_tests::scenario`.

use anyhow::Result;
use castellan_tests::agents::Agent::Qwen;
use castellan_tests::model::Block;
use castellan_tests::run::Options;
use castellan_tests::scenario::{
    Case, KILL, Registered, SIGNALS, STOP, SwitchedOff, check, check_agreed_at_prompt, check_directory,
    check_late_answer, check_none_foreign, check_refused_at_prompt, check_signalled_hook, check_subagent,
    check_switched_off, check_write,
};
use serde_json::json;

castellan_tests::shared_plays!(Qwen, common);

#[test]
fn an_asked_call_is_denied_with_nobody_there() -> Result<()> {
    let told = "the test asks about this file";
    check(Qwen, Case::touch(Qwen, "asked-file", false, told, ("ask", "deny", true)))
}

/// In `yolo` Qwen asks nothing else.
#[test]
fn an_asked_call_waits_for_the_person_at_the_terminal() -> Result<()> {
    check_agreed_at_prompt()?;
    check_refused_at_prompt()
}

/// Qwen accepts no relative path.
#[test]
fn a_write_is_judged() -> Result<()> {
    check_write(Qwen, |file| Block::call("write_file", json!({"file_path": file, "content": "x"})))
}

#[test]
fn a_command_is_judged_where_it_runs() -> Result<()> {
    check_directory(Qwen, "directory")
}

#[test]
fn a_late_answer_is_a_deny() -> Result<()> {
    check_late_answer(Qwen)
}

#[test]
fn a_subagents_calls_are_judged() -> Result<()> {
    check_subagent(Qwen, &Options::default(), |task| {
        Block::call("agent", json!({"description": "x", "prompt": task, "subagent_type": "general-purpose"}))
    })
}

/// Qwen does not read its settings again.
#[test]
fn a_repository_switches_off_the_users_registration() -> Result<()> {
    check_switched_off(Qwen, Registered::User, SwitchedOff::BeforeStart, false)?;
    check_switched_off(Qwen, Registered::User, SwitchedOff::MidSession, true)
}

#[test]
fn strict_sees_no_hook_of_others_where_there_is_none() -> Result<()> {
    check_none_foreign(Qwen)
}

#[test]
fn a_call_whose_hook_is_signalled_does_not_run() -> Result<()> {
    SIGNALS.iter().try_for_each(|signal| check_signalled_hook(Qwen, *signal, false))
}

/// No hook can answer these signals. Qwen interprets a hook that was killed or timed out as no opinion.
#[test]
fn a_call_whose_hook_is_killed_or_stopped_runs() -> Result<()> {
    check_signalled_hook(Qwen, KILL, true)?;
    check_signalled_hook(Qwen, STOP, true)
}
