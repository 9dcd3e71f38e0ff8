//! castellan guards the real Claude Code: see `castellan_tests::scenario`.

use anyhow::Result;
use castellan_tests::agents::Agent::Claude;
use castellan_tests::consent::{
    check_approved, check_approved_at_prompt, check_declined_at_prompt, check_held, check_held_in_vain,
};
use castellan_tests::freeing::check_freeing;
use castellan_tests::machine::check_each_users_claude;
use castellan_tests::model::Block;
use castellan_tests::run::Options;
use castellan_tests::scenario::{
    Case, KILL, Registered, SIGNALS, STOP, SwitchedOff, check, check_asks, check_asks_before_code_runs,
    check_ceiling, check_claudes_judge, check_forged_prompt, check_none_foreign, check_noticed, check_plugin,
    check_presented_plan, check_prompt_hooks, check_prompts, check_repository, check_reviews,
    check_rewritten, check_signalled_hook, check_strict_plan, check_subagent, check_switched_off,
    check_warned_plan,
};
use serde_json::json;

castellan_tests::shared_plays!(Claude);

fn prompting() -> Options {
    Options { claude_permission_mode: "default", ..Options::default() }
}

#[test]
fn a_call_that_no_rule_is_about_is_left_to_claudes_own_prompt() -> Result<()> {
    let case = Case::touch(Claude, "other-file", false, "needs approval", ("defer", "defer", true));
    check(Claude, Case { options: prompting(), ..case })
}

#[test]
fn an_allowed_call_runs_without_claudes_prompt() -> Result<()> {
    let case = Case::touch(Claude, "allowed-file", true, "", ("allow", "allow", true));
    let call = Block::call("Write", json!({"file_path": "allowed-file", "content": "x"}));
    check(Claude, Case { call, options: prompting(), ..case })
}

#[test]
fn claude_asks_before_it_runs_code_of_the_workspace() -> Result<()> {
    check_asks_before_code_runs()
}

#[test]
fn quiet_opens_far_fewer_prompts_than_claude_alone() -> Result<()> {
    check_prompts()
}

#[test]
fn a_review_of_a_call_obeys_the_reviewer_and_asks_in_doubt() -> Result<()> {
    check_reviews()
}

#[test]
fn a_reviewer_never_sees_a_prompt_that_a_call_forges() -> Result<()> {
    check_forged_prompt()
}

#[test]
fn a_strict_plan_holds_against_its_agent() -> Result<()> {
    check_strict_plan(Claude)
}

#[test]
fn a_plan_in_warn_only_records() -> Result<()> {
    check_warned_plan(Claude)
}

#[test]
fn a_plan_that_claude_presents_waits_for_a_person() -> Result<()> {
    check_presented_plan()
}

#[test]
fn claudes_own_judge_reads_the_risks_of_earlier_calls_and_no_other_text_of_hooks() -> Result<()> {
    for is_attended in [false, true] {
        check_claudes_judge(true, is_attended)?;
        check_claudes_judge(false, is_attended)?;
    }
    Ok(())
}

#[test]
fn a_prompt_hook_does_not_answer_castellans_ask() -> Result<()> {
    check_prompt_hooks()
}

#[test]
fn an_asked_call_does_not_run_with_nobody_there() -> Result<()> {
    for (options, answer) in [(Options::default(), "deny"), (prompting(), "ask")] {
        let case = Case::touch(
            Claude,
            "asked-file",
            false,
            "castellan blocked this; tell the user: request",
            ("ask", answer, true),
        );
        check(Claude, Case { options, ..case })?;
    }
    Ok(())
}

#[test]
fn an_ask_that_a_mode_would_drop_is_a_deny() -> Result<()> {
    check_asks("bypassPermissions", "deny")?;
    check_asks("auto", "deny")
}

#[test]
fn a_mode_that_holds_every_ask_is_told_every_ask() -> Result<()> {
    check_asks("default", "ask")?;
    check_asks("acceptEdits", "ask")?;
    check_asks("dontAsk", "ask")
}

#[test]
fn a_subagents_calls_are_judged() -> Result<()> {
    check_subagent(Claude, &Options::default(), |task| {
        Block::call("Agent", json!({"description": "x", "prompt": task, "subagent_type": "general-purpose"}))
    })
}

#[test]
fn a_subagent_has_no_more_than_the_agent_that_it_works_for() -> Result<()> {
    check_ceiling()
}

#[test]
fn a_repository_switches_off_the_users_registration() -> Result<()> {
    check_switched_off(Claude, Registered::User, SwitchedOff::BeforeStart, false)?;
    check_switched_off(Claude, Registered::User, SwitchedOff::MidSession, false)
}

#[test]
fn a_call_that_is_approved_at_another_terminal_runs_when_it_is_made_again() -> Result<()> {
    check_approved(Claude)
}

#[test]
fn a_call_that_is_approved_once_and_answered_at_claudes_prompt_runs_once() -> Result<()> {
    check_approved_at_prompt()
}

#[test]
fn a_no_at_claudes_prompt_ends_what_was_granted_once() -> Result<()> {
    check_declined_at_prompt()
}

#[test]
fn a_held_call_runs_when_it_is_approved_in_time() -> Result<()> {
    check_held(Claude)
}

#[test]
fn a_held_call_that_nobody_approves_does_not_run() -> Result<()> {
    check_held_in_vain(Claude)
}

#[test]
fn each_users_claude_asks_their_own_daemon() -> Result<()> {
    check_each_users_claude()
}

#[test]
fn an_agent_does_not_free_itself() -> Result<()> {
    check_freeing(Claude)
}

#[test]
fn what_a_repository_of_ordinary_files_starts_does_not_run() -> Result<()> {
    let write = |path: &str, text: &str| Block::call("Write", json!({"file_path": path, "content": text}));
    check_repository(Claude, true, write)?;
    // Without enforcement the command runs.
    check_repository(Claude, false, write)
}

#[test]
fn a_call_that_another_hook_rewrites_is_recorded() -> Result<()> {
    check_rewritten()
}

#[test]
fn strict_runs_nothing_beside_a_hook_of_a_plugin() -> Result<()> {
    check_plugin(true)?;
    check_plugin(false)
}

#[test]
fn hooks_that_are_switched_off_in_a_session_are_noticed() -> Result<()> {
    check_noticed()
}

#[test]
fn strict_sees_no_hook_of_others_where_there_is_none() -> Result<()> {
    check_none_foreign(Claude)
}

/// Claude Code blocks a call whose hook was ended by a signal (`onFailure: "block"`), or timed out.
#[test]
fn a_call_whose_hook_is_signalled_does_not_run() -> Result<()> {
    for signal in SIGNALS {
        check_signalled_hook(Claude, *signal, false)?;
    }
    check_signalled_hook(Claude, KILL, false)?;
    check_signalled_hook(Claude, STOP, false)
}
