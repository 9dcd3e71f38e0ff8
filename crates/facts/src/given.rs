//! Guarded files and secrets among the arguments of an Opaque program. Such a program may do anything to a file that it
//! receives: as an argument, behind the `=` of an argument or behind the letter of an option. Must not know programs.

mod sent;

use castellan_event::{Doubt, Effect, EffectKind, Facts, LocatedFile, Object, Operation, Role, Scope, Why};
use castellan_programs::{Arg, Piece, base_name, find};
use castellan_shell::Run;
use castellan_shell::tree::RedirectKind;

use crate::path::Located;
use crate::scene::Scene;
use crate::scope::PROGRAMS;
use crate::sink::Sink;

/// Adds an Opaque effect for each argument that may name a guarded file or its directory, or a secret if the command
/// sends something, if castellan does not know what the command does with it. Adds an upload for a secret that is the
/// input of a client. `at`: the command's position; its effects start at `before`.
pub(crate) fn add(run: &Run, at: usize, before: usize, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let own = facts.effects.get(before..).unwrap_or_default();
    if run.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read) {
        let own = own.to_vec();
        sent::input(run, &own, &mut Sink::new(scene, &mut facts.effects, Some(at), run.cwd.clone()));
    }
    let own = facts.effects.get(before..).unwrap_or_default();
    let is_understood = !own.iter().any(|effect| effect.command == Some(at) && may_do_anything(effect));
    if is_understood || !run.remote.is_empty() {
        return;
    }
    let mut sink = Sink::new(scene, &mut facts.effects, Some(at), run.cwd.clone());
    sink.comes_from(run.script.as_deref());
    let name = run.argv.first().and_then(Arg::as_str).map(base_name);
    let (is_unmodelled, is_sent) = (name.is_some_and(|name| find(name).is_none()), sent::is_told(run));
    for arg in run.argv.iter().skip(1) {
        for path in paths(arg, sink.scene.session.places.home()) {
            sink.given(&path, is_unmodelled, is_sent);
        }
    }
}

/// Returns true if an effect means that a program or code runs with unknown use of its arguments.
fn may_do_anything(effect: &Effect) -> bool {
    let is_program = effect.kind() == EffectKind::Execute
        && effect.system().is_none()
        && effect.why() != Some(Why::Language);
    let is_opaque = effect.is_opaque()
        && (matches!(effect.role(), Some(Role::Program | Role::Code)) || effect.why() == Some(Why::Flag));
    is_program || is_opaque
}

/// Returns the paths that an argument may hold. A program may expand a `~` that the shell has left.
fn paths(arg: &Arg, home: &str) -> Vec<Arg> {
    let at_home = |arg: &Arg| match arg.strip_prefix("~/") {
        Some(rest) => {
            let pieces = rest.pieces().iter().cloned();
            Arg::from_pieces(std::iter::once(Piece::Text(format!("{home}/"))).chain(pieces), false)
        }
        None => arg.clone(),
    };
    let prefix = arg.prefix();
    let value = prefix.find('=').and_then(|at| arg.strip_prefix(prefix.get(..=at)?));
    let attached = prefix.starts_with('-').then(|| prefix.find(['/', '~'])).flatten();
    let attached = attached.and_then(|at| arg.strip_prefix(prefix.get(..at)?));
    let whole = (!prefix.starts_with('-')).then(|| arg.clone());
    whole
        .into_iter()
        .chain(value.clone())
        .chain(attached.filter(|_| value.is_none()))
        .map(|one| at_home(&one))
        .collect()
}

impl Sink<'_, '_, '_, '_> {
    /// Adds an Opaque effect if a path that an Opaque program receives is guarded, or is a secret that may be sent. Also
    /// if a program without a model receives a file of the user's home on which more depends than its contents.
    fn given(&mut self, arg: &Arg, is_unmodelled: bool, is_sent: bool) {
        let located = self.locate(arg);
        let is_of_user = is_unmodelled && decides(&located);
        let is_secret = located.scope == Some(Scope::Secret) && is_of_user || is_sent && self.is_secret(arg);
        let op = Operation { target: Some(located.raw.clone()), ..Operation::of(EffectKind::Opaque) };
        let file = self.file(&op, located);
        if file.guard.is_some() || is_of_user || is_secret {
            let why = if is_secret { Why::Secret } else { Why::Unsupported };
            let doubt = Some(Doubt { role: Some(Role::Target), why });
            self.push(op, Object::File(Box::new(LocatedFile { doubt, ..file })));
        }
    }
}

/// Returns true for a login, a startup file or an agent's file in a home. Programs receive other programs by their paths.
fn decides(located: &Located) -> bool {
    located.place == Some(Scope::Home)
        && matches!(located.scope, Some(Scope::Secret | Scope::Agent | Scope::Startup | Scope::Hijack))
        && located.about != Some(PROGRAMS)
}
