//! Opaque parts of a call, by role. An Opaque operand of a harmless command gives no finding; the profile decides about
//! other roles. Does not depend on the reason why a part is Opaque.

mod unknown;

pub use unknown::opaque_reason;

use castellan_event::{Effect, Finding, Role, Why};

use crate::case::{Case, Reading};
use crate::stages::Found;

/// Finds Opaque programs, targets and code, as one finding. Excludes parts that are left to the project's own code. The
/// profile decides about code in a missing file of the project: nothing runs until somebody creates the file.
pub(super) fn opaque(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let (settings, rows) = (case.settings(), reading.rows());
    let with_missing = settings.minds_missing_code();
    let counts = |effect: &Effect| {
        let is_meant = with_missing || effect.why() != Some(Why::Missing);
        counts(effect) && is_meant && !reading.own_parts.has(effect)
    };
    let parts: Vec<(usize, &Effect)> = rows
        .iter()
        .enumerate()
        .filter_map(|(position, row)| Some((position, row.effect().filter(|effect| counts(effect))?)))
        .collect();
    let Some((_, first)) = parts.first() else { return Found::default() };
    let rows = parts.iter().map(|(position, _)| *position).collect();
    let verdict = settings.opaque_verdict(case.state.headless).verdict();
    let finding = unknown::finding(verdict, first, parts.len() - 1);
    Some(Finding { rows, ..finding }).into()
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
