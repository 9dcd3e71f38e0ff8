//! [`covers`]: the strict test for a plan that a person approved. Every effect must be of a kind that plans cover, and
//! inside a list that the plan has. It must not know the finding that a caller would lift.

use castellan_event::{Command, Effect, EffectKind, FileOrigin, HostClass, LocatedFile, Scope};

use crate::call::CallView;
use crate::check::{Branches, CheckedOut, check, is_protected, is_steering, remote_of, subject_of};
use crate::departure::{Departure, DepartureKind};
use crate::limits::DEPARTURES_MAX;
use crate::pattern::{CommandPattern, below};
use crate::plan::Plan;

/// The result of [`covers`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covering {
    /// The parts of the call that are not covered. At least one if the call is not covered.
    pub outside: Vec<Departure>,
}

impl Covering {
    /// Reports whether every effect of the call is inside the plan.
    pub fn is_covered(&self) -> bool {
        self.outside.is_empty()
    }
}

/// Tests that every command and effect of a call is inside a plan. A part that castellan does not understand, a secret,
/// a guarded file and an effect of an unlisted kind are not covered. Nor is a part for which the plan has no list.
pub fn covers(plan: &Plan, view: &CallView<'_>) -> Covering {
    let mut outside = check(plan, view);
    let facts = view.facts;
    let mut add = |kind, subject: &str| {
        let departure = Departure::new(kind, subject, None);
        let is_same = |one: &Departure| one.kind == kind && one.subject == departure.subject;
        if outside.len() < DEPARTURES_MAX && !outside.iter().any(is_same) {
            outside.push(departure);
        }
    };
    if facts.commands.is_empty() && facts.effects.is_empty() {
        add(DepartureKind::Nothing, "");
    }
    for command in &facts.commands {
        if let Some(kind) = command_outside(plan, view, command) {
            add(kind, &command.line);
        }
    }
    let checked_out = CheckedOut::of(view);
    for effect in &facts.effects {
        if let Some(kind) = effect_outside(plan, view, effect, &checked_out) {
            let text = effect.text();
            add(kind, if effect.is_opaque() { effect.target().unwrap_or(&text) } else { &text });
        }
    }
    if facts.background {
        add(DepartureKind::Rights, "&");
    }
    for path in &facts.secret_copies {
        add(DepartureKind::Secret, path);
    }
    // Files that the call may load and castellan did not read, or that the call itself changes.
    let scripts = facts.scripts.iter().filter(|script| script.is_written).map(|script| &script.path);
    for path in facts.unread.iter().chain(&facts.session_scripts).chain(&facts.changed_trees).chain(scripts) {
        add(DepartureKind::Changed, path);
    }
    Covering { outside }
}

/// Returns the reason why a command is not covered. [`check`] has compared its name and arguments.
fn command_outside(plan: &Plan, view: &CallView<'_>, command: &Command) -> Option<DepartureKind> {
    if command.remote.is_some() {
        return Some(DepartureKind::Remote);
    }
    if !command.wrappers_are_neutral || !command.env.is_empty() || command.background {
        return Some(DepartureKind::Rights);
    }
    if is_steering(command) {
        return None;
    }
    if plan.scope().commands.is_none() {
        return Some(DepartureKind::Unlimited);
    }
    // A program of the workspace is another one than that of the same name on the machine.
    let path = command.path.as_deref().unwrap_or_default();
    let is_program = |pattern: &CommandPattern| match pattern.path(view.root) {
        Some(named) => named == path,
        None => below(view.root, path).is_none(),
    };
    let is_named = |pattern: &CommandPattern| is_program(pattern) && pattern.matches_arguments(&command.args);
    let is_named = plan.commands_of(command.name.as_deref().unwrap_or_default()).any(is_named);
    (!is_named).then_some(DepartureKind::Command)
}

/// Returns the reason why an effect is not covered. [`check`] has compared it with the lists that the plan has.
fn effect_outside(
    plan: &Plan,
    view: &CallView<'_>,
    effect: &Effect,
    checked_out: &CheckedOut,
) -> Option<DepartureKind> {
    if effect.guard().is_some() {
        return Some(DepartureKind::Guarded);
    }
    if effect.doubt().is_some() {
        return Some(DepartureKind::Unclear);
    }
    let scope = plan.scope();
    match effect.kind() {
        EffectKind::Read => read_outside(view, effect),
        EffectKind::Write | EffectKind::Delete | EffectKind::Permission => {
            let is_plain = matches!(
                effect.scope(),
                Some(Scope::Workspace | Scope::Temporary | Scope::Home | Scope::Outside)
            );
            match effect.scope() {
                _ if scope.writes.is_none() => Some(DepartureKind::Unlimited),
                Some(Scope::Secret) => Some(DepartureKind::Secret),
                _ if !is_plain || effect.remote().is_some() => Some(DepartureKind::Place),
                _ => None,
            }
        }
        EffectKind::Execute => execute_outside(effect),
        EffectKind::Connect | EffectKind::Download | EffectKind::Upload => {
            if effect.located().is_some() {
                read_outside(view, effect).or(host_outside(plan, view, effect))
            } else {
                host_outside(plan, view, effect)
            }
        }
        EffectKind::Query if effect.located().is_some() => read_outside(view, effect),
        EffectKind::Query if effect.remote().is_some() => host_outside(plan, view, effect),
        EffectKind::Query => (effect.place() != Some(Scope::Workspace)).then_some(DepartureKind::Kind),
        EffectKind::Mutate => mutate_outside(plan, view, effect, checked_out),
        EffectKind::Opaque => Some(DepartureKind::Unclear),
        // Another name for a path, a change for good, other rights, code of others, or something that runs on.
        EffectKind::Link
        | EffectKind::Destroy
        | EffectKind::Interactive
        | EffectKind::Listen
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
        | EffectKind::Mcp => Some(DepartureKind::Kind),
    }
}

/// A file of the workspace that is no secret. A tree may contain one.
fn read_outside(view: &CallView<'_>, effect: &Effect) -> Option<DepartureKind> {
    let is_below = subject_of(effect, view).is_some_and(|subject| subject.is_in_workspace());
    match effect.scope() {
        Some(Scope::Secret) => Some(DepartureKind::Secret),
        Some(Scope::Workspace | Scope::Vcs | Scope::Hijack) if is_below && !effect.is_recursive() => None,
        _ => Some(DepartureKind::Place),
    }
}

/// A program of the machine or the project's own, in a file that no session wrote or downloaded.
fn execute_outside(effect: &Effect) -> Option<DepartureKind> {
    let Some(LocatedFile { path: Some(_), scope, place, origin, .. }) = effect.located() else {
        return Some(DepartureKind::Unclear);
    };
    let is_near = matches!(place, Some(Scope::Workspace | Scope::System));
    let is_plain = matches!(scope, Some(Scope::Workspace | Scope::System | Scope::Hijack));
    match origin {
        Some(FileOrigin::Downloaded | FileOrigin::Written) => Some(DepartureKind::Changed),
        _ if effect.command.is_none() => Some(DepartureKind::Kind),
        _ if !is_near || !is_plain => Some(DepartureKind::Place),
        Some(FileOrigin::Repository) | None => None,
    }
}

/// A host of the plan's list, of a kind that is known.
fn host_outside(plan: &Plan, view: &CallView<'_>, effect: &Effect) -> Option<DepartureKind> {
    let remote = remote_of(effect, view.facts);
    let class = remote.and_then(|remote| remote.class);
    let is_known = matches!(class, Some(HostClass::Public | HostClass::Private | HostClass::Loopback));
    match &plan.scope().hosts {
        None => Some(DepartureKind::Unlimited),
        Some(_) if !is_known || remote.is_none_or(|remote| remote.host.is_none()) => {
            Some(DepartureKind::Host)
        }
        Some(_) => None,
    }
}

/// A change of the workspace's own repository, on branches of the plan's list.
fn mutate_outside(
    plan: &Plan,
    view: &CallView<'_>,
    effect: &Effect,
    checked_out: &CheckedOut,
) -> Option<DepartureKind> {
    if effect.system() != Some("git") || effect.place() != Some(Scope::Workspace) || effect.remote().is_some()
    {
        return Some(DepartureKind::Kind);
    }
    match Branches::of(effect, view.facts, checked_out) {
        Branches::None if is_plain_verb(effect.verb()) => None,
        Branches::None => Some(DepartureKind::Kind),
        Branches::Some(_) if plan.scope().branches.is_none() => Some(DepartureKind::Unlimited),
        Branches::Some(branches) if branches.iter().flatten().any(|branch| is_protected(branch)) => {
            Some(DepartureKind::Protected)
        }
        Branches::Some(branches) => branches.contains(&None).then_some(DepartureKind::Branch),
    }
}

/// Verbs of git that change no branch, no setting and no file beyond those that the call names.
fn is_plain_verb(verb: Option<&str>) -> bool {
    matches!(verb, Some("add" | "rm" | "mv" | "tag" | "switch" | "checkout"))
}
