//! What the autonomous profile lets run without a prompt: a call of which every part was understood and is safe. It must not
//! know rules: what a rule asks or denies stands whatever this says.

use castellan_event::{
    AccessLevel, Call, CallRow, Code, Effect, EffectKind, FileOrigin, Finding, Role, Scope, ToolKind,
    Verdict, Why,
};

use crate::stages::access::Need;
use crate::stages::own_code::OwnCode;

/// A call that stays within its level. `active`: the session's, where the profile lets such calls run.
pub(crate) fn understood(
    call: &Call,
    rows: &[CallRow<'_>],
    need: &Need,
    active: Option<AccessLevel>,
) -> Option<Finding> {
    let stays_within = active.is_some_and(|active| need.level <= active);
    let is_safe = stays_within && is_known(call) && is_each_safe(rows) && is_untouched(rows);
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

/// Whether nothing runs that the session has put there itself, and it is known which task runs: what one of the project starts counts
/// as the project's own.
fn is_untouched(rows: &[CallRow<'_>]) -> bool {
    let is_strange = |effect: &Effect| {
        effect.kind == EffectKind::Execute
            && matches!(effect.file_origin, Some(FileOrigin::Downloaded | FileOrigin::Written))
    };
    let effects = || rows.iter().filter_map(CallRow::effect);
    let opaque: Vec<&str> =
        effects().filter(|effect| effect.is_opaque()).filter_map(|effect| effect.target.as_deref()).collect();
    let is_unknown = |effect: &Effect| {
        let is_named = |target: &String| opaque.iter().any(|one| *one == target);
        effect.kind == EffectKind::Execute && effect.target.as_ref().is_some_and(is_named)
    };
    !effects().any(|effect| is_strange(effect) || is_unknown(effect))
}

fn is_each_safe(rows: &[CallRow<'_>]) -> bool {
    let own_code = OwnCode::of(rows);
    let mut effects = rows.iter().filter_map(CallRow::effect);
    effects.all(|effect| is_safe(effect) || own_code.runs(effect) || is_plain_operand(effect, rows))
}

/// An operand of something harmless that is known only when it runs, and that no file is made of. An option that is not known may
/// change what is done; in a task of the project that is the project's.
fn is_plain_operand(effect: &Effect, rows: &[CallRow<'_>]) -> bool {
    if effect.kind != EffectKind::Opaque || effect.role != Some(Role::Operand) {
        return false;
    }
    let makes_a_file = || {
        let mut same =
            rows.iter().filter_map(CallRow::effect).filter(|other| other.command == effect.command);
        same.any(|other| other.kind == EffectKind::Write)
    };
    match effect.why {
        // Which files it may be is told of each.
        Some(Why::Glob) => true,
        Some(Why::Flag) => effect.script_path.is_some(),
        Some(
            Why::Variable
            | Why::Parameter
            | Why::Substitution
            | Why::Arithmetic
            | Why::Expansion
            | Why::Dynamic,
        ) => !makes_a_file(),
        _ => false,
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
        // What these are depends on what else the call does.
        EffectKind::Execute | EffectKind::Opaque => false,
        EffectKind::Link
        | EffectKind::Destroy
        | EffectKind::Connect
        | EffectKind::Download
        | EffectKind::Upload
        | EffectKind::Listen
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
        | EffectKind::Mcp => false,
    }
}

const CHANGEABLE: &[Scope] = &[Scope::Workspace, Scope::Temporary];
const READABLE: &[Scope] = &[Scope::Workspace, Scope::Temporary, Scope::Vcs, Scope::System];

fn is_plain(scope: Option<Scope>, plain: &[Scope]) -> bool {
    scope.is_some_and(|scope| plain.contains(&scope))
}
