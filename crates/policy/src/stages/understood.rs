//! What the autonomous profile lets run without a prompt: a call of which every part was understood and is safe. It must not
//! know rules: what a rule asks or denies stands whatever this says.

use castellan_event::{
    AccessLevel, Call, CallRow, Code, Effect, EffectKind, Finding, Scope, ToolKind, Verdict,
};

use crate::stages::access::Need;

/// A call that stays within its level. `active`: the session's, where the profile lets such calls run.
pub(crate) fn understood(
    call: &Call,
    rows: &[CallRow<'_>],
    need: &Need,
    active: Option<AccessLevel>,
) -> Option<Finding> {
    let stays_within = active.is_some_and(|active| need.level <= active);
    let is_safe = stays_within && is_known(call) && rows.iter().filter_map(CallRow::effect).all(is_safe);
    is_safe.then(|| Finding::new(Verdict::Allow, Code::Understood, "every part of it is understood and safe"))
}

/// Whether a call's effects are all that it does. Searches read more than the one path that they name, and what changes the
/// agent's own state may change what it is let do.
fn is_known(call: &Call) -> bool {
    match call.tool.kind {
        ToolKind::Shell => call.command.is_some(),
        ToolKind::Read => call.tool.name == "Read" && !call.files.is_empty(),
        ToolKind::Write | ToolKind::Edit | ToolKind::Patch => !call.files.is_empty(),
        ToolKind::Subagent => true,
        ToolKind::Internal | ToolKind::Web | ToolKind::Mcp | ToolKind::Unknown => false,
    }
}

/// Reads what is no secret, changes what lies in the workspace, and sends nothing anywhere.
fn is_safe(effect: &Effect) -> bool {
    // What lies below a directory may be anything.
    let is_tree = effect.recursive == Some(true);
    match effect.kind {
        EffectKind::Read | EffectKind::Delete | EffectKind::Permission if is_tree => false,
        EffectKind::Read => effect.path.is_some() && is_plain(effect.scope, READABLE),
        EffectKind::Write | EffectKind::Delete | EffectKind::Permission => {
            effect.path.is_some() && is_plain(effect.scope, CHANGEABLE)
        }
        // Of the repository in the workspace; another system's have no place.
        EffectKind::Query | EffectKind::Mutate => is_plain(effect.place, CHANGEABLE),
        EffectKind::Spawn => effect.command.is_none(),
        EffectKind::Link
        | EffectKind::Destroy
        | EffectKind::Connect
        | EffectKind::Download
        | EffectKind::Upload
        | EffectKind::Listen
        | EffectKind::Execute
        | EffectKind::Interactive
        | EffectKind::Elevate
        | EffectKind::Install
        | EffectKind::Publish
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Environment
        | EffectKind::Mcp
        | EffectKind::Opaque => false,
    }
}

const CHANGEABLE: &[Scope] = &[Scope::Workspace, Scope::Temporary];
const READABLE: &[Scope] = &[Scope::Workspace, Scope::Temporary, Scope::Vcs, Scope::System];

fn is_plain(scope: Option<Scope>, plain: &[Scope]) -> bool {
    scope.is_some_and(|scope| plain.contains(&scope))
}
