//! castellan guards the real Codex: see `castellan_tests::scenario`.

use anyhow::Result;
use castellan_tests::agents::Agent::Codex;
use castellan_tests::consent::{check_approved, check_held, check_held_in_vain};
use castellan_tests::freeing::check_freeing;
use castellan_tests::model::Block;
use castellan_tests::run::{CODEX_CODE_MODE, CODEX_REVIEWED, CODEX_UNKNOWN_MODEL, Options};
use castellan_tests::scenario::{
    Case, KILL, Registered, SIGNALS, STOP, SwitchedOff, check, check_codexs_reviewer, check_none_foreign,
    check_repository, check_reviews_of_codex, check_signalled_hook, check_strict_plan, check_subagent,
    check_switched_off, check_typed, check_warned_plan,
};
use serde_json::json;

castellan_tests::shared_plays!(Codex);

fn free_call(tool: &str, input: &str) -> Block {
    Block::FreeCall { tool: tool.to_owned(), input: input.to_owned() }
}

#[test]
fn a_denied_patch_changes_nothing() -> Result<()> {
    let patch =
        "*** Begin Patch\n*** Add File: other-file\n+x\n*** Add File: denied-file\n+x\n*** End Patch\n";
    let case = Case::touch(Codex, "other-file", false, "the test denies this file", ("deny", "deny", true));
    check(Codex, Case { call: free_call("apply_patch", patch), ..case })
}

/// Codex applies such a patch itself, and calls its hook for the shell text only.
#[test]
fn a_denied_patch_inside_shell_text_changes_nothing() -> Result<()> {
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: patched-file\n+x\n*** End Patch\nEOF\n";
    let told = "the test denies this patch";
    let case = Case::touch(Codex, "patched-file", false, told, ("deny", "deny", true));
    check(Codex, Case { call: Codex.shell(patch), ..case })
}

#[test]
fn a_strict_plan_holds_against_its_agent() -> Result<()> {
    check_strict_plan(Codex)
}

#[test]
fn a_plan_in_warn_only_records() -> Result<()> {
    check_warned_plan(Codex)
}

#[test]
fn a_review_of_a_call_obeys_the_reviewer_and_denies_in_doubt() -> Result<()> {
    check_reviews_of_codex()
}

/// Codex interprets an empty answer as a yes.
#[test]
fn an_allowed_call_runs() -> Result<()> {
    let patch = "*** Begin Patch\n*** Add File: allowed-file\n+x\n*** End Patch\n";
    let case = Case::touch(Codex, "allowed-file", true, "", ("allow", "allow", true));
    check(Codex, Case { call: free_call("apply_patch", patch), ..case })
}

/// Outside of its sandbox, Codex asks at PermissionRequest before its own reviewer, here a model without an opinion.
#[test]
fn an_allowed_call_runs_without_codexs_own_review() -> Result<()> {
    let options = Options { codex_sandbox: CODEX_REVIEWED, ..Options::default() };
    // Codex removes the final line break of a patch from its second question, which is still about the same call.
    let patch = |file: &str| {
        free_call("apply_patch", &format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n"))
    };
    for (file, made, verdict) in
        [("../user/allowed-file", true, "allow"), ("../user/other-file", false, "defer")]
    {
        let case = Case::touch(Codex, file, made, "", (verdict, verdict, true));
        check(Codex, Case { call: patch(file), options, ..case })?;
    }
    Ok(())
}

#[test]
fn codexs_own_reviewer_reads_no_text_of_hooks() -> Result<()> {
    check_codexs_reviewer()
}

#[test]
fn a_denied_call_from_code_does_not_run() -> Result<()> {
    let call = free_call("exec", "text(await tools.exec_command({cmd: 'touch denied-file'}))");
    let options = Options { codex_model: CODEX_CODE_MODE, ..Options::default() };
    let case = Case::touch(Codex, "denied-file", false, "the test denies this file", ("deny", "deny", true));
    check(Codex, Case { call, options, ..case })
}

/// Codex would run it.
#[test]
fn an_asked_call_is_denied() -> Result<()> {
    check(
        Codex,
        Case::touch(Codex, "asked-file", false, "the test asks about this file", ("ask", "deny", true)),
    )
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
fn a_call_that_is_approved_at_another_terminal_runs_when_it_is_made_again() -> Result<()> {
    check_approved(Codex)
}

#[test]
fn a_held_call_runs_when_it_is_approved_in_time() -> Result<()> {
    check_held(Codex)
}

#[test]
fn a_held_call_that_nobody_approves_does_not_run() -> Result<()> {
    check_held_in_vain(Codex)
}

#[test]
fn an_agent_does_not_free_itself() -> Result<()> {
    check_freeing(Codex)
}

#[test]
fn what_a_repository_of_ordinary_files_starts_does_not_run() -> Result<()> {
    let write = |path: &str, text: &str| {
        let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
        free_call("apply_patch", &format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"))
    };
    check_repository(Codex, true, write)?;
    // In monitor mode Codex runs it.
    check_repository(Codex, false, write)
}

#[test]
fn what_is_typed_into_a_running_program_is_recorded() -> Result<()> {
    check_typed()
}

#[test]
fn strict_sees_no_hook_of_others_where_there_is_none() -> Result<()> {
    check_none_foreign(Codex)
}

#[test]
fn a_call_whose_hook_is_signalled_does_not_run() -> Result<()> {
    SIGNALS.iter().try_for_each(|signal| check_signalled_hook(Codex, *signal, false))
}

/// No hook can answer these signals. Codex interprets a hook that was killed or timed out as no opinion.
#[test]
fn a_call_whose_hook_is_killed_or_stopped_runs() -> Result<()> {
    check_signalled_hook(Codex, KILL, true)?;
    check_signalled_hook(Codex, STOP, true)
}
