//! The access level that a call needs, by its effects, against the one that its session has. It must not know rules.

use castellan_event::{
    AccessLevel, Call, CallRow, Code, Effect, EffectKind, Finding, HostClass, Layer, Level, Role, Row as _,
    Scope, ToolKind,
};

use crate::case::{Case, Reading};
use crate::settings::Settings;
use crate::stages::own_code::OwnCode;
use crate::stages::{Found, is_safe};
use crate::state::Standing;

/// Why a call needs its level: the first of its parts that needs as much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) level: AccessLevel,
    /// The row of that part.
    row: Option<usize>,
    /// What it does, as a person says it.
    because: String,
}

/// The level that the session has: the profile's, unless the agent's own mode lowers it, or nobody has said that the workspace
/// is trusted.
pub(crate) fn active_level(
    settings: &Settings,
    standing: Standing,
    ceiling: AccessLevel,
) -> Option<AccessLevel> {
    let of_unknown = settings.unknown_workspace.filter(|_| standing != Standing::Trusted);
    settings.level.map(|level| level.min(ceiling).min(of_unknown.unwrap_or(AccessLevel::FullAccess)))
}

/// A call that needs more than the session has, or than the organisation gives, which no allow list lifts. What the organisation gives means
/// what it does in its own profile: there, other code may be the project's own.
pub(super) fn level(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let settings = case.settings();
    if let Some(given) = settings.organisation_level {
        let rows = reading.rows();
        let allows = settings.organisation_allows_understood;
        let own_code = OwnCode::of(rows, &case.facts.scripts, is_safe, allows);
        let need = need(case.call, rows, &own_code);
        if given < need.level {
            return Some(short_of(&need, given, Some(Layer::Organisation), settings)).into();
        }
    }
    let active = reading.level.filter(|active| *active < reading.need.level);
    active.map(|active| short_of(&reading.need, active, None, settings)).into()
}

fn short_of(need: &Need, active: AccessLevel, layer: Option<Layer>, settings: &Settings) -> Finding {
    let Need { level, row, because } = need;
    let message = format!("this needs {level}, and the session has {active}: {because}");
    let rows = row.iter().copied().collect();
    Finding { layer, rows, ..Finding::new(settings.on_insufficient, Code::Access, message) }
}

/// What a call needs: the most that one of its parts needs. `own_code`: what counts as a part of the workspace, and not as one more
/// program.
pub(crate) fn need(call: &Call, rows: &[CallRow<'_>], own_code: &OwnCode<'_>) -> Need {
    let mut most = Need {
        level: of_tool(call, rows),
        row: None,
        because: format!("the tool {} is not read further", call.tool.name),
    };
    for (position, row) in rows.iter().enumerate() {
        let (level, because) = match (row.effect(), row.command()) {
            (Some(effect), _) if is_elsewhere(row) => {
                (AccessLevel::FullAccess, format!("on another machine: {}", effect.text()))
            }
            (Some(effect), _) if own_code.runs(effect) => (AccessLevel::WorkspaceWrite, effect.text()),
            (Some(effect), _) => (of_effect(effect), effect.text()),
            (None, Some((_, command))) if command.remote.is_some() => {
                (AccessLevel::FullAccess, format!("on another machine: {}", command.line))
            }
            _ => continue,
        };
        if level > most.level {
            most = Need { level, row: Some(position), because };
        }
    }
    most
}

/// What a tool needs whatever its effects are: all that is known of one that has none.
fn of_tool(call: &Call, rows: &[CallRow<'_>]) -> AccessLevel {
    let has_effects = rows.iter().any(|row| row.level() == Level::Effect);
    match call.tool.kind {
        ToolKind::Shell if call.command.is_none() => AccessLevel::FullAccess,
        ToolKind::Shell | ToolKind::Read | ToolKind::Internal => AccessLevel::ReadOnly,
        // A sub-agent's own calls are judged.
        ToolKind::Subagent => AccessLevel::ReadOnly,
        ToolKind::Web => AccessLevel::WorkspaceWrite,
        ToolKind::Write | ToolKind::Edit | ToolKind::Patch if has_effects => AccessLevel::ReadOnly,
        ToolKind::Write | ToolKind::Edit | ToolKind::Patch | ToolKind::Mcp | ToolKind::Unknown => {
            AccessLevel::FullAccess
        }
    }
}

fn is_elsewhere(row: &CallRow<'_>) -> bool {
    row.command().is_some_and(|(_, command)| command.remote.is_some())
}

fn of_effect(effect: &Effect) -> AccessLevel {
    use AccessLevel::{FullAccess, ReadOnly, WorkspaceWrite};
    match effect.kind {
        EffectKind::Read | EffectKind::Query => ReadOnly,
        EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission => {
            of_place(effect)
        }
        // A repository in the workspace is a part of it; any other system is not.
        EffectKind::Mutate | EffectKind::Destroy => of_place(effect),
        EffectKind::Connect | EffectKind::Download => WorkspaceWrite,
        EffectKind::Upload if effect.host_class == Some(HostClass::Loopback) => WorkspaceWrite,
        EffectKind::Listen if effect.host_class == Some(HostClass::Loopback) => WorkspaceWrite,
        // A sub-agent's own calls are judged; an agent that a command starts is another matter.
        EffectKind::Spawn if effect.command.is_none() => ReadOnly,
        EffectKind::Opaque if effect.role == Some(Role::Operand) => ReadOnly,
        EffectKind::Upload
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
        | EffectKind::Spawn
        | EffectKind::Environment
        | EffectKind::Mcp
        | EffectKind::Opaque => FullAccess,
    }
}

/// What changes the workspace or temporary files, unless other programs take their orders from it.
fn of_place(effect: &Effect) -> AccessLevel {
    let is_near = matches!(effect.place, Some(Scope::Workspace | Scope::Temporary));
    let is_plain =
        matches!(effect.scope, None | Some(Scope::Workspace | Scope::Temporary | Scope::Secret | Scope::Vcs));
    if is_near && is_plain { AccessLevel::WorkspaceWrite } else { AccessLevel::FullAccess }
}
