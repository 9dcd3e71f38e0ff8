//! Opaque parts of a call, by role. An Opaque operand of a harmless command gives no finding; the profile decides about
//! other roles. Does not depend on the reason why a part is Opaque.

mod unknown;

pub use unknown::opaque_reason;

use castellan_event::{CallRow, Effect, EffectKind, Finding, Role, Verdict, Why};

use crate::case::{Case, Reading};
use crate::stages::Found;

/// Finds Opaque programs, targets and code, as one finding. Excludes parts that are left to the project's own code. The
/// profile decides about code in a missing file of the project: nothing runs until somebody creates the file.
pub(super) fn opaque(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let parts = parts(case, reading);
    let Some((_, first)) = parts.first() else { return Found::default() };
    let rows = parts.iter().map(|(position, _)| *position).collect();
    let finding = unknown::finding(verdict(case), first, parts.len() - 1);
    Some(Finding { rows, ..finding }).into()
}

/// Reports whether a reviewer may exempt the finding: it asks about programs and code alone. A reviewer cannot compare an
/// unknown target with the user's request.
pub(super) fn is_reviewable(case: &Case<'_>, reading: &Reading<'_>) -> bool {
    let parts = parts(case, reading);
    let is_code = |effect: &Effect| matches!(effect.role(), Some(Role::Program | Role::Code));
    verdict(case) == Verdict::Ask && !parts.is_empty() && parts.iter().all(|(_, effect)| is_code(effect))
}

/// Reports whether a sandbox limits the harm of every part of the finding: it is about programs and code, or about a file
/// that is written at an unknown place. A sandbox writes no file outside of the workspace.
pub(super) fn is_containable(case: &Case<'_>, reading: &Reading<'_>) -> bool {
    let parts = parts(case, reading);
    let writes = |part: &Effect| {
        let is_of_part = |effect: &Effect| effect.command == part.command && effect.script == part.script;
        let is_unknown = |effect: &Effect| effect.kind() == EffectKind::Write && effect.path().is_none();
        let mut effects = reading.rows().iter().filter_map(CallRow::effect);
        effects.any(|effect| is_of_part(effect) && is_unknown(effect))
    };
    let is_containable = |effect: &Effect| match effect.role() {
        Some(Role::Program | Role::Code) => true,
        Some(Role::Target) => writes(effect),
        None | Some(Role::Operand | Role::Tool) => false,
    };
    !parts.is_empty() && parts.iter().all(|(_, effect)| is_containable(effect))
}

/// The verdict of the profile.
fn verdict(case: &Case<'_>) -> Verdict {
    case.settings().opaque_verdict(case.state.headless).verdict()
}

/// Returns the parts that give a finding, each with the position of its row.
fn parts<'r>(case: &Case<'_>, reading: &'r Reading<'_>) -> Vec<(usize, &'r Effect)> {
    let with_missing = case.settings().minds_missing_code();
    let counts = |effect: &Effect| {
        let is_meant = with_missing || effect.why() != Some(Why::Missing);
        counts(effect) && is_meant && !reading.own_parts.has(effect)
    };
    let rows = reading.rows().iter().enumerate();
    rows.filter_map(|(position, row)| Some((position, row.effect().filter(|effect| counts(effect))?)))
        .collect()
}

fn counts(effect: &Effect) -> bool {
    effect.is_opaque()
        && match effect.role() {
            // The role is unknown, so the part may be anything.
            None | Some(Role::Program | Role::Target | Role::Code) => true,
            // Tools have their own stage.
            Some(Role::Operand | Role::Tool) => false,
        }
}
