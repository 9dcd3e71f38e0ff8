//! Effects of a call, compared with the lists of a plan.

use castellan_event::{Command, Effect, EffectKind, Facts, Remote, Role};

use super::Found;
use super::branches::{Branches, CheckedOut};
use crate::call::CallView;
use crate::departure::DepartureKind;
use crate::pattern::Subject;

pub(super) fn check(found: &mut Found<'_>) {
    let view = found.view;
    let checked_out = CheckedOut::of(view);
    for effect in &view.facts.effects {
        let command = effect.command.and_then(|at| view.facts.commands.get(at));
        if effect.is_opaque() {
            opaque(found, effect, command);
        }
        let compared = compared(effect.kind());
        if compared.writes {
            write(found, effect, command);
        }
        let is_named = compared.hosts == Contact::Named && effect.remote().is_some();
        if is_named || compared.hosts == Contact::Always {
            host(found, effect, command);
        }
        if compared.branches {
            branches(found, effect, &checked_out, command);
        }
        // A plan with commands names all that it starts. It has no list for tools and agents.
        let is_start =
            matches!(effect.kind(), EffectKind::Mcp | EffectKind::Spawn) && effect.command.is_none();
        if is_start && found.plan.scope().commands.is_some() {
            found.add(DepartureKind::Kind, &effect.text(), command);
        }
    }
    // Version control changes files there that no effect names.
    for tree in &view.facts.changed_trees {
        let subject = Subject::new(tree, None, view.root, false);
        if found.plan.scope().writes.is_some() && !is_writable(found, subject.as_ref()) {
            found.add(DepartureKind::Write, tree, None);
        }
    }
}

/// Returns the path of an effect, to be compared with patterns.
pub(crate) fn subject_of<'e>(effect: &'e Effect, view: &CallView<'_>) -> Option<Subject<'e>> {
    Subject::new(effect.path()?, effect.home_path(), view.root, effect.command.is_some())
}

/// Returns the machine of an effect. A sent file may have its URL only; another effect of the command has the host.
pub(crate) fn remote_of<'f>(effect: &'f Effect, facts: &'f Facts) -> Option<&'f Remote> {
    let remote = effect.remote()?;
    let is_same = |other: &&Effect| {
        other.command == effect.command && other.host().is_some() && other.url() == remote.url.as_deref()
    };
    let has_only_url = remote.host.is_none() && remote.url.is_some();
    let other = facts.effects.iter().filter(|_| has_only_url).find(is_same);
    other.and_then(Effect::remote).or(Some(remote))
}

fn opaque(found: &mut Found<'_>, effect: &Effect, command: Option<&Command>) {
    let is_own = effect.script_path().is_some_and(|path| found.view.facts.own_scripts.contains(path));
    let kind = match effect.role() {
        _ if is_own => DepartureKind::OwnCode,
        Some(Role::Operand) => DepartureKind::Operand,
        Some(Role::Program | Role::Target | Role::Code | Role::Tool) | None => DepartureKind::Unclear,
    };
    let line = command.map(|command| command.line.as_str());
    found.add(kind, effect.target().or(line).unwrap_or_default(), command);
}

fn write(found: &mut Found<'_>, effect: &Effect, command: Option<&Command>) {
    let subject = subject_of(effect, found.view);
    if found.plan.scope().writes.is_some() && !is_writable(found, subject.as_ref()) {
        let path = effect.path().or(effect.path_raw()).or(effect.target()).unwrap_or("an unknown path");
        found.add(DepartureKind::Write, path, command);
    }
}

fn is_writable(found: &Found<'_>, subject: Option<&Subject<'_>>) -> bool {
    let mut writes = found.plan.scope().writes.iter().flatten();
    subject.is_some_and(|subject| writes.any(|pattern| pattern.matches(subject)))
}

fn host(found: &mut Found<'_>, effect: &Effect, command: Option<&Command>) {
    let Some(hosts) = &found.plan.scope().hosts else { return };
    let host = remote_of(effect, found.view.facts).and_then(|remote| remote.host.as_deref());
    if !host.is_some_and(|host| hosts.iter().any(|pattern| pattern.matches(host))) {
        let subject = host.or(effect.url()).or(effect.target()).unwrap_or("an unknown host");
        found.add(DepartureKind::Host, subject, command);
    }
}

fn branches(found: &mut Found<'_>, effect: &Effect, checked_out: &CheckedOut, command: Option<&Command>) {
    let Some(permitted) = &found.plan.scope().branches else { return };
    let Branches::Some(changed) = Branches::of(effect, found.view.facts, checked_out) else { return };
    for branch in changed {
        let name = branch.as_deref();
        if !name.is_some_and(|name| permitted.iter().any(|pattern| pattern.matches(name))) {
            found.add(DepartureKind::Branch, name.unwrap_or("an unknown branch"), command);
        }
    }
}

/// The lists that an effect is compared with.
#[derive(Debug, Clone, Copy)]
struct Compared {
    writes: bool,
    hosts: Contact,
    branches: bool,
}

/// The effects of a kind that contact another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contact {
    Never,
    /// Those with a known machine. A registry of packages is not known as one.
    Named,
    Always,
}

fn compared(kind: EffectKind) -> Compared {
    let of = |writes, hosts, branches| Compared { writes, hosts, branches };
    match kind {
        EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission => {
            of(true, Contact::Named, false)
        }
        EffectKind::Connect | EffectKind::Upload | EffectKind::Download => of(false, Contact::Always, false),
        EffectKind::Mutate | EffectKind::Destroy | EffectKind::Publish => of(false, Contact::Named, true),
        EffectKind::Read
        | EffectKind::Execute
        | EffectKind::Interactive
        | EffectKind::Elevate
        | EffectKind::Install
        | EffectKind::Query
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Spawn
        | EffectKind::Environment
        | EffectKind::Mcp => of(false, Contact::Named, false),
        EffectKind::Listen | EffectKind::Opaque => of(false, Contact::Never, false),
    }
}
