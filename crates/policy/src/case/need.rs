//! The access level that a call needs by its effects, and the level of its session. Does not depend on rules.

use castellan_event::{
    AccessLevel, Call, CallRow, Effect, EffectKind, FileOrigin, HostClass, Level, Role, Row as _, Scope,
    ToolKind,
};

use super::own_code::{OwnCode, is_declared};
use super::own_parts::OwnParts;
use super::safe::{is_of_files, is_own_job};
use crate::settings::Settings;
use crate::state::WorkspaceTrust;

/// The access level of a call, and the first of its parts that needs this level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) level: AccessLevel,
    pub(crate) row: Option<usize>,
    /// Its effect, in words for a person.
    pub(crate) because: String,
}

/// The level of the session: the profile's, lowered by the agent's own mode and in a workspace without trust.
pub(crate) fn active_level(
    settings: &Settings,
    workspace_trust: WorkspaceTrust,
    ceiling: AccessLevel,
) -> Option<AccessLevel> {
    let of_unknown = settings.unknown_workspace.filter(|_| workspace_trust != WorkspaceTrust::Trusted);
    settings.level.map(|level| level.min(ceiling).min(of_unknown.unwrap_or(AccessLevel::FullAccess)))
}

/// The highest level that a part of the call needs. `own_code` belongs to the workspace and is no additional program.
/// `prompted`: the parts of the project, if the agent itself asks a person before it runs code of the workspace.
pub(crate) fn need(
    call: &Call,
    rows: &[CallRow<'_>],
    own_code: &OwnCode<'_>,
    prompted: Option<&OwnParts<'_>>,
) -> Need {
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
            (Some(effect), _)
                if own_code.permits(effect) || prompted.is_some_and(|parts| is_prompted(effect, parts)) =>
            {
                (AccessLevel::WorkspaceWrite, effect.text())
            }
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

/// The level that a tool needs independently of its effects. For a tool without effects nothing else is known.
fn of_tool(call: &Call, rows: &[CallRow<'_>]) -> AccessLevel {
    let has_effects = rows.iter().any(|row| row.level() == Level::Effect);
    match call.tool.kind {
        ToolKind::Shell if call.command.is_none() => AccessLevel::FullAccess,
        ToolKind::Shell | ToolKind::Read | ToolKind::Internal => AccessLevel::ReadOnly,
        // castellan judges a sub-agent's own calls.
        ToolKind::Subagent => AccessLevel::ReadOnly,
        ToolKind::Web => AccessLevel::WorkspaceWrite,
        ToolKind::Write | ToolKind::Edit | ToolKind::Patch if has_effects => AccessLevel::ReadOnly,
        ToolKind::Write | ToolKind::Edit | ToolKind::Patch | ToolKind::Mcp | ToolKind::Unknown => {
            AccessLevel::FullAccess
        }
    }
}

/// Reports whether the agent's own prompt is enough for an effect of the workspace's code.
fn is_prompted(effect: &Effect, parts: &OwnParts<'_>) -> bool {
    let is_fetched = effect.file_origin() == Some(FileOrigin::Downloaded);
    match effect.kind() {
        // A program of the machine, or of the session: the stages before have judged its contents.
        EffectKind::Execute => {
            let is_near =
                matches!(effect.place(), None | Some(Scope::Workspace | Scope::Temporary | Scope::System));
            let is_plain = matches!(
                effect.scope(),
                None | Some(Scope::Workspace | Scope::Hijack | Scope::Temporary | Scope::System)
            );
            !is_fetched && is_near && is_plain
        }
        // A file of the workspace sets it, such as the `activate` of a virtual environment.
        EffectKind::Environment => effect.script_path().is_some(),
        EffectKind::Install => !is_fetched && is_declared(effect),
        EffectKind::Opaque => parts.has(effect),
        // Each unknown path also has an Opaque part.
        EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission => {
            effect.path().is_none() && parts.is_of_project(effect)
        }
        EffectKind::Listen => parts.is_of_project(effect),
        EffectKind::Read
        | EffectKind::Interactive
        | EffectKind::Connect
        | EffectKind::Download
        | EffectKind::Upload
        | EffectKind::Elevate
        | EffectKind::Publish
        | EffectKind::Query
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

fn is_elsewhere(row: &CallRow<'_>) -> bool {
    row.command().is_some_and(|(_, command)| command.remote.is_some())
}

fn of_effect(effect: &Effect) -> AccessLevel {
    use AccessLevel::{FullAccess, ReadOnly, WorkspaceWrite};
    match effect.kind() {
        EffectKind::Read | EffectKind::Query => ReadOnly,
        EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission => {
            of_place(effect)
        }
        EffectKind::Mutate if is_of_files(effect) => ReadOnly,
        EffectKind::Signal if is_own_job(effect) => ReadOnly,
        // A repository in the workspace is part of it; any other system is not.
        EffectKind::Mutate | EffectKind::Destroy => of_place(effect),
        EffectKind::Connect | EffectKind::Download => WorkspaceWrite,
        EffectKind::Upload if effect.host_class() == Some(HostClass::Loopback) => WorkspaceWrite,
        EffectKind::Listen if effect.host_class() == Some(HostClass::Loopback) => WorkspaceWrite,
        // castellan judges a sub-agent's own calls. It may not judge those of an agent that a command starts.
        EffectKind::Spawn if effect.command.is_none() => ReadOnly,
        EffectKind::Opaque if effect.role() == Some(Role::Operand) => ReadOnly,
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

/// The level for a change of the workspace or of temporary files, unless other programs read instructions there.
fn of_place(effect: &Effect) -> AccessLevel {
    let is_near = matches!(effect.place(), Some(Scope::Workspace | Scope::Temporary));
    let is_plain = matches!(
        effect.scope(),
        None | Some(Scope::Workspace | Scope::Temporary | Scope::Secret | Scope::Vcs)
    );
    if is_near && is_plain { AccessLevel::WorkspaceWrite } else { AccessLevel::FullAccess }
}
