//! castellan guards the real Claude Code: see `castellan_tests::scenario`.

use anyhow::Result;
use castellan_tests::agents::Agent::Claude;
use castellan_tests::model::Block;
use castellan_tests::run::Options;
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
    let call = Claude.shell(&format!("touch {file}"));
    Case { mode: "enforce", options: Options::default(), call, file, made, told, recorded }
}

fn prompting() -> Options {
    Options { claude_permission_mode: "default", ..Options::default() }
}

#[test]
fn a_call_that_no_rule_is_about_runs_when_claude_lets_it() -> Result<()> {
    check(Claude, case("other-file", true, "", ("defer", "defer", true)))
}

#[test]
fn a_call_that_no_rule_is_about_is_left_to_claudes_own_prompt() -> Result<()> {
    let case = case("other-file", false, "needs approval", ("defer", "defer", true));
    check(Claude, Case { options: prompting(), ..case })
}

#[test]
fn an_allowed_call_runs_without_claudes_prompt() -> Result<()> {
    let case = case("allowed-file", true, "", ("allow", "allow", true));
    let call = Block::call("Write", json!({"file_path": "allowed-file", "content": "x"}));
    check(Claude, Case { call, options: prompting(), ..case })
}

#[test]
fn a_denied_call_does_not_run() -> Result<()> {
    check(Claude, case("denied-file", false, "Test deny: the test denies this file", ("deny", "deny", true)))
}

#[test]
fn an_asked_call_does_not_run_with_nobody_there() -> Result<()> {
    for options in [Options::default(), prompting()] {
        let case = case("asked-file", false, "Test ask: the test asks about this file", ("ask", "ask", true));
        check(Claude, Case { options, ..case })?;
    }
    Ok(())
}

#[test]
fn a_denied_call_runs_in_monitor_mode_and_is_recorded() -> Result<()> {
    let case = case("denied-file", true, "", ("deny", "defer", false));
    check(Claude, Case { mode: "monitor", ..case })
}

#[test]
fn nothing_runs_after_a_deliberate_stop() -> Result<()> {
    check_absent_daemon(Claude, Absent::Stopped)
}

#[test]
fn nothing_runs_without_the_daemons_binary() -> Result<()> {
    check_absent_daemon(Claude, Absent::NoBinary)
}

#[test]
fn a_call_does_not_run_when_the_daemon_is_killed_while_it_waits() -> Result<()> {
    check_killed_daemon(Claude)
}

#[test]
fn parallel_calls_are_judged_one_by_one() -> Result<()> {
    check_parallel_calls(Claude)
}

#[test]
fn a_subagents_calls_are_judged() -> Result<()> {
    check_subagent(Claude, &Options::default(), |task| {
        Block::call("Agent", json!({"description": "x", "prompt": task, "subagent_type": "general-purpose"}))
    })
}

#[test]
fn a_repository_switches_off_the_users_registration() -> Result<()> {
    check_switched_off(Claude, Registered::User, SwitchedOff::BeforeStart, false)?;
    check_switched_off(Claude, Registered::User, SwitchedOff::MidSession, false)
}

#[test]
fn a_repository_does_not_switch_off_a_launched_agent() -> Result<()> {
    check_switched_off(Claude, Registered::Launcher, SwitchedOff::BeforeStart, true)?;
    check_switched_off(Claude, Registered::Launcher, SwitchedOff::MidSession, true)
}

#[test]
fn a_repository_does_not_switch_off_the_managed_registration() -> Result<()> {
    check_switched_off(Claude, Registered::Managed, SwitchedOff::BeforeStart, true)?;
    check_switched_off(Claude, Registered::Managed, SwitchedOff::MidSession, true)
}
