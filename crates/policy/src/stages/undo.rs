//! The demand for a checkpoint before a call that changes files of the workspace. It must not know how one is made.

use castellan_event::{Action, Fallback, Obligation};

use super::Found;
use crate::case::{Case, Reading};
use crate::undo::may_overwrite;

/// Demands a checkpoint. It exempts nothing: a call that can be taken back is judged like any other.
pub(super) fn undo(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let settings = case.settings().undo;
    if !settings.is_on || !may_overwrite(case.facts) {
        return Found::default();
    }
    let or_else = if settings.is_required { Fallback::Ask } else { Fallback::Findings };
    Found {
        findings: Vec::new(),
        obligations: vec![Obligation { action: Action::Checkpoint, exempts: Vec::new(), or_else }],
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::{
        Code, Effect, EffectKind, Facts, LocatedFile, ObligationKind, Recorder, Scope, Session, Verdict,
    };

    use super::*;
    use crate::decide::fulfil;
    use crate::policy::Policy;
    use crate::settings::Settings;
    use crate::state::{Failed, State};
    use crate::tests::{Lexical, call_in};
    use crate::undo::UndoSettings;

    /// Judges a call that deletes a file at a place. Returns the verdict, the number of checkpoints that were made, and
    /// whether an unmet obligation was found.
    fn judged(place: Scope, undo: UndoSettings, is_able: bool, succeeds: bool) -> (Verdict, usize, bool) {
        let file = LocatedFile { path: Some("/p".to_owned()), place: Some(place), ..LocatedFile::default() };
        let facts = Facts { effects: vec![Effect::on_file(EffectKind::Delete, file)], ..Facts::default() };
        let policy = Policy::new(Vec::new(), Settings { undo, ..Settings::default() });
        let session = Session::default();
        let able: &[ObligationKind] = if is_able { &ObligationKind::ALL } else { &[] };
        let state = State { able, ..State::plain(&session) };
        let mut made = 0;
        let mut meet = |action: &Action, _: &crate::Decision| {
            made += usize::from(succeeds && *action == Action::Checkpoint);
            let why = "the disk is full".to_owned();
            if succeeds { Ok(()) } else { Err(Failed { kind: action.kind(), why, denies: false }) }
        };
        let mut world = Recorder::new(&Lexical);
        let call = call_in("/w", "x");
        let (decision, _) = fulfil(&call, &facts, &policy, &state, &mut world, &mut meet);
        let is_unmet = decision.findings.iter().any(|finding| finding.code == Code::Unmet);
        (decision.verdict, made, is_unmet)
    }

    #[test]
    fn a_checkpoint_comes_first_and_its_failure_asks_only_if_it_is_required() {
        let on = UndoSettings::DEFAULT;
        let off = UndoSettings { is_on: false, ..on };
        let required = UndoSettings { is_required: true, ..on };
        for (place, undo, is_able, succeeds, expected) in [
            (Scope::Workspace, on, true, true, (Verdict::Defer, 1, false)),
            (Scope::Temporary, on, true, true, (Verdict::Defer, 0, false)),
            (Scope::Workspace, off, true, true, (Verdict::Defer, 0, false)),
            (Scope::Workspace, on, true, false, (Verdict::Defer, 0, true)),
            (Scope::Workspace, on, false, true, (Verdict::Defer, 0, true)),
            (Scope::Workspace, required, true, true, (Verdict::Defer, 1, false)),
            (Scope::Workspace, required, true, false, (Verdict::Ask, 0, true)),
            (Scope::Workspace, required, false, true, (Verdict::Ask, 0, true)),
            (Scope::Temporary, required, false, true, (Verdict::Defer, 0, false)),
        ] {
            assert_eq!(
                judged(place, undo, is_able, succeeds),
                expected,
                "{place:?} {undo:?} {is_able} {succeeds}"
            );
        }
    }
}
