//! Opaque parts of a call, by role. An Opaque operand of a harmless command gives no finding; the profile decides about
//! other roles. Does not depend on the reason why a part is Opaque.

mod unknown;

pub use unknown::opaque_reason;

use castellan_event::{Effect, Finding, Role, Verdict, Why};

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
    verdict(case) == Verdict::Ask && is_code(case, reading)
}

/// Reports whether the finding is about programs and code alone. Their harm is limited by a sandbox. An unknown target of
/// something dangerous is in a place that the user chose.
pub(super) fn is_code(case: &Case<'_>, reading: &Reading<'_>) -> bool {
    let parts = parts(case, reading);
    let is_code = |effect: &Effect| matches!(effect.role(), Some(Role::Program | Role::Code));
    !parts.is_empty() && parts.iter().all(|(_, effect)| is_code(effect))
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
