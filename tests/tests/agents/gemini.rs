//! castellan guards the real Gemini CLI: see `castellan_tests::scenario`.

use anyhow::Result;
use castellan_tests::agents::Agent::Gemini;
use castellan_tests::model::Block;
use castellan_tests::run::Options;
use castellan_tests::scenario::{
    Case, KILL, Registered, SIGNALS, SwitchedOff, check, check_directory, check_late_answer, check_named_off,
    check_none_foreign, check_signalled_hook, check_subagent, check_switched_off, check_write,
};
use serde_json::json;

castellan_tests::shared_plays!(Gemini, common);

/// Without a person, Gemini would wait forever.
#[test]
fn an_asked_call_is_denied() -> Result<()> {
    let told = "the test asks about this file";
    check(Gemini, Case::touch(Gemini, "asked-file", false, told, ("ask", "deny", true)))
}

#[test]
fn a_write_is_judged() -> Result<()> {
    check_write(Gemini, |file| Block::call("write_file", json!({"file_path": file, "content": "x"})))
}

#[test]
fn a_command_is_judged_where_it_runs() -> Result<()> {
    check_directory(Gemini, "dir_path")
}

#[test]
fn a_late_answer_is_a_deny() -> Result<()> {
    check_late_answer(Gemini)
}

/// Gemini does not mark a sub-agent's calls.
#[test]
fn a_subagents_calls_are_judged() -> Result<()> {
    check_subagent(Gemini, &Options::default(), |task| {
        Block::call("invoke_agent", json!({"agent_name": "generalist", "prompt": task}))
    })
}

/// Gemini does not read its settings again.
#[test]
fn a_repository_switches_off_the_users_registration() -> Result<()> {
    check_switched_off(Gemini, Registered::User, SwitchedOff::BeforeStart, false)?;
    check_switched_off(Gemini, Registered::User, SwitchedOff::MidSession, true)
}

/// A repository that knows the user's home can name castellan's hook.
#[test]
fn a_repository_switches_off_a_hook_by_its_name() -> Result<()> {
    check_named_off()
}

#[test]
fn strict_sees_no_hook_of_others_where_there_is_none() -> Result<()> {
    check_none_foreign(Gemini)
}

#[test]
fn a_call_whose_hook_is_signalled_does_not_run() -> Result<()> {
    SIGNALS.iter().try_for_each(|signal| check_signalled_hook(Gemini, *signal, false))
}

/// No hook can answer this signal. Gemini takes a killed hook as no opinion, and waits forever for a stopped hook.
#[test]
fn a_call_whose_hook_is_killed_runs() -> Result<()> {
    check_signalled_hook(Gemini, KILL, true)
}
