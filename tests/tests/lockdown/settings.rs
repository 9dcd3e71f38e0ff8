//! The settings of `castellan settings render`, obeyed by the real agents with castellan's hook removed.

use anyhow::Result;
use castellan_tests::agents::Agent::{Claude, Codex, Gemini};
use castellan_tests::scenario::{
    check_native, check_native_arguments, check_native_auto, check_native_run, check_native_sandbox,
};

#[test]
fn claude_obeys_the_rendered_settings_without_a_hook() -> Result<()> {
    check_native(Claude)
}

#[test]
fn codex_obeys_the_rendered_settings_without_a_hook() -> Result<()> {
    check_native(Codex)
}

#[test]
fn gemini_obeys_the_rendered_settings_without_a_hook() -> Result<()> {
    check_native(Gemini)
}

#[test]
fn in_auto_mode_what_is_allowed_needs_no_judging_model() -> Result<()> {
    check_native_auto()
}

#[test]
fn claudes_sandbox_holds_for_programs_that_are_allowed() -> Result<()> {
    check_native_sandbox()
}

#[test]
fn a_run_with_a_plan_uses_the_settings_beside_the_hook() -> Result<()> {
    check_native_run()
}

#[test]
fn a_trusted_repository_cannot_add_rights_to_the_arguments() -> Result<()> {
    check_native_arguments()
}
