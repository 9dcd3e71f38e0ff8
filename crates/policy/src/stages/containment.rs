//! The demand for a sandbox: the findings that it exempts, as one obligation. Does not depend on the way a sandbox is made.

use castellan_event::{
    AccessLevel, Action, CallRow, Code, Effect, EffectKind, Fallback, Mode, Obligation, ObligationKind, Role,
    Scope, ToolKind,
};

use super::Found;
use super::opaque;
use crate::case::{Case, Reading};
use crate::containment::{CONTAINED_EFFECTS, CONTAINED_UNREAD, ContainmentMode};
use crate::tags::RuleVerdict;

/// Demands a sandbox for a shell call, if unread code or rules with the tag alone stop it. An obligation that castellan
/// failed to meet is demanded again, so that the decision names the reason.
pub(super) fn containment(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let state = case.state;
    let is_possible = state.able.contains(&ObligationKind::Contain)
        || state.failed.iter().any(|failed| failed.kind == ObligationKind::Contain);
    let is_wanted = case.settings().containment == ContainmentMode::Prefer
        && is_possible
        && state.mode == Mode::Enforce
        && !state.is_refused
        && case.call.tool.kind == ToolKind::Shell;
    if !is_wanted {
        return Found::default();
    }
    let by_rule = reading.matches.iter().any(|found| found.of.verdict == RuleVerdict::Contain);
    let by_doubt = opaque::is_containable(case, reading);
    if !by_rule && !by_doubt {
        return Found::default();
    }
    if by_doubt && !reading.rows().iter().all(works_contained) {
        return Found::default();
    }
    let policy = if by_doubt { CONTAINED_UNREAD } else { CONTAINED_EFFECTS };
    let is_near = by_doubt && has_level(case, reading);
    let exempts = [(by_rule, Code::ContainRule), (by_doubt, Code::Opaque), (is_near, Code::Access)];
    let exempts = exempts.into_iter().filter(|(is_meant, _)| *is_meant).map(|(_, code)| code).collect();
    let action = Action::Contain { policy: policy.to_owned() };
    let demanded = Obligation { action, exempts, or_else: Fallback::Findings };
    Found { findings: Vec::new(), obligations: vec![demanded] }
}

/// Reports whether the session may change its workspace, as contained code can.
fn has_level(case: &Case<'_>, reading: &Reading<'_>) -> bool {
    let levels = [reading.level, case.settings().organisation_level];
    levels.into_iter().flatten().all(|level| level >= AccessLevel::WorkspaceWrite)
}

/// Reports whether a part of the call does the same in the sandbox for unread code. Only the workspace and temporary files can
/// be changed there. castellan asks about a command that would fail in it. It also asks about code that another system or
/// machine runs outside of it.
fn works_contained(row: &CallRow<'_>) -> bool {
    let is_here = row.command().is_none_or(|(_, command)| command.remote.is_none());
    is_here && row.effect().is_none_or(effect_works_contained)
}

fn effect_works_contained(effect: &Effect) -> bool {
    match effect.kind() {
        // The demand looks at the roles of unknown targets.
        EffectKind::Opaque => !matches!(effect.role(), None | Some(Role::Tool)),
        EffectKind::Execute | EffectKind::Environment => true,
        // The sandbox hides these.
        EffectKind::Read => {
            !matches!(effect.scope(), Some(Scope::Castellan | Scope::Secret | Scope::Agent))
                && is_shown(effect)
        }
        // Another system than a repository is behind a socket or the network.
        EffectKind::Query => is_near(effect),
        EffectKind::Write if effect.path().is_none() => true,
        EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission => {
            let is_plain = matches!(effect.scope(), None | Some(Scope::Workspace | Scope::Temporary));
            is_near(effect) && is_plain
        }
        EffectKind::Interactive
        | EffectKind::Connect
        | EffectKind::Upload
        | EffectKind::Download
        | EffectKind::Listen
        | EffectKind::Elevate
        | EffectKind::Install
        | EffectKind::Publish
        | EffectKind::Mutate
        | EffectKind::Destroy
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Spawn
        | EffectKind::Mcp => false,
    }
}

/// Reports whether the sandbox shows a path: it shows settings of the home, and no other projects and documents.
fn is_shown(effect: &Effect) -> bool {
    match effect.place() {
        Some(Scope::Home) => effect.home_path().is_some_and(|path| path.starts_with("/.")),
        place => place != Some(Scope::Outside),
    }
}

fn is_near(effect: &Effect) -> bool {
    matches!(effect.place(), Some(Scope::Workspace | Scope::Temporary))
}
