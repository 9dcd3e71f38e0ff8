//! castellan guards the real Codex: see `castellan_tests::scenario`.

use anyhow::Result;
use castellan_tests::agents::Agent::Codex;
use castellan_tests::model::Block;
use castellan_tests::run::{CODEX_CODE_MODE, CODEX_UNKNOWN_MODEL, Options};
use castellan_tests::scenario::{
    Absent, Case, Registered, SwitchedOff, check, check_absent_daemon, check_killed_daemon,
    check_parallel_calls, check_subagent, check_switched_off,
};
use serde_json::json;

fn case(
    file: &'static str,
    made: bool,
    told: &'static str,
    recorded: (&'static str, &'static str, bool),
) -> Case {
    let call = Codex.shell(&format!("touch {file}"));
    Case { mode: "enforce", options: Options::default(), call, file, made, told, recorded }
}

fn free_call(tool: &str, input: &str) -> Block {
    Block::FreeCall { tool: tool.to_owned(), input: input.to_owned() }
}

#[test]
fn a_call_that_no_rule_is_about_runs() -> Result<()> {
    check(Codex, case("other-file", true, "", ("defer", "defer", true)))
}

#[test]
fn a_denied_call_does_not_run() -> Result<()> {
    check(Codex, case("denied-file", false, "Test deny: the test denies this file", ("deny", "deny", true)))
}

#[test]
fn a_denied_patch_changes_nothing() -> Result<()> {
    let patch =
        "*** Begin Patch\n*** Add File: other-file\n+x\n*** Add File: denied-file\n+x\n*** End Patch\n";
    let case = case("other-file", false, "Test deny: the test denies this file", ("deny", "deny", true));
    check(Codex, Case { call: free_call("apply_patch", patch), ..case })
}

#[test]
fn a_denied_call_from_code_does_not_run() -> Result<()> {
    let call = free_call("exec", "text(await tools.exec_command({cmd: 'touch denied-file'}))");
    let options = Options { codex_model: CODEX_CODE_MODE, ..Options::default() };
    let case = case("denied-file", false, "Test deny: the test denies this file", ("deny", "deny", true));
    check(Codex, Case { call, options, ..case })
}

/// Codex would run it.
#[test]
fn an_asked_call_is_denied() -> Result<()> {
    check(Codex, case("asked-file", false, "Test ask: the test asks about this file", ("ask", "deny", true)))
}

#[test]
fn a_denied_call_runs_in_monitor_mode_and_is_recorded() -> Result<()> {
    let case = case("denied-file", true, "", ("deny", "defer", false));
    check(Codex, Case { mode: "monitor", ..case })
}

#[test]
fn nothing_runs_after_a_deliberate_stop() -> Result<()> {
    check_absent_daemon(Codex, Absent::Stopped)
}

#[test]
fn nothing_runs_without_the_daemons_binary() -> Result<()> {
    check_absent_daemon(Codex, Absent::NoBinary)
}

#[test]
fn a_call_does_not_run_when_the_daemon_is_killed_while_it_waits() -> Result<()> {
    check_killed_daemon(Codex)
}

#[test]
fn parallel_calls_are_judged_one_by_one() -> Result<()> {
    check_parallel_calls(Codex)
}

#[test]
fn a_subagents_calls_are_judged() -> Result<()> {
    let options = Options { codex_model: CODEX_UNKNOWN_MODEL, ..Options::default() };
    check_subagent(Codex, &options, |task| {
        Block::call("multi_agent_v1.spawn_agent", json!({"message": task}))
    })?;
    let options = Options { codex_model: CODEX_CODE_MODE, ..Options::default() };
    check_subagent(Codex, &options, |task| {
        let input = json!({"task_name": "maker", "message": task, "fork_turns": "none"});
        Block::call("collaboration.spawn_agent", input)
    })
}

#[test]
fn a_repository_switches_off_the_users_registration() -> Result<()> {
    check_switched_off(Codex, Registered::User, SwitchedOff::BeforeStart, false)?;
    // Codex does not read the file again.
    check_switched_off(Codex, Registered::User, SwitchedOff::MidSession, true)
}

#[test]
fn a_repository_does_not_switch_off_a_launched_agent() -> Result<()> {
    check_switched_off(Codex, Registered::Launcher, SwitchedOff::BeforeStart, true)?;
    check_switched_off(Codex, Registered::Launcher, SwitchedOff::MidSession, true)
}

#[test]
fn a_repository_does_not_switch_off_the_managed_registration() -> Result<()> {
    check_switched_off(Codex, Registered::Managed, SwitchedOff::BeforeStart, true)?;
    check_switched_off(Codex, Registered::Managed, SwitchedOff::MidSession, true)
}
