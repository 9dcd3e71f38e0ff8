//! Guarded files and secrets among the arguments of an Opaque program. Such a program may do anything to a file that it
//! receives: as an argument, behind the `=` of an argument or behind the letter of an option. Must not know programs.

mod sent;

use castellan_event::{Doubt, Effect, EffectKind, Facts, LocatedFile, Object, Operation, Role, Why};
use castellan_programs::{Arg, Piece};
use castellan_shell::Run;
use castellan_shell::tree::RedirectKind;

use crate::scene::Scene;
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
    let is_sent = sent::is_told(run);
    for arg in run.argv.iter().skip(1) {
        for path in paths(arg, sink.scene.session.places.home()) {
            sink.given(&path, is_sent);
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
    /// Adds an Opaque effect if a path that an Opaque program receives is guarded, or is a secret that may be sent.
    fn given(&mut self, arg: &Arg, is_sent: bool) {
        let is_secret = is_sent && self.is_secret(arg);
        let located = self.locate(arg);
        let op = Operation { target: Some(located.raw.clone()), ..Operation::of(EffectKind::Opaque) };
        let file = self.file(&op, located);
        if file.guard.is_some() || is_secret {
            let why = if is_secret { Why::Secret } else { Why::Unsupported };
            let doubt = Some(Doubt { role: Some(Role::Target), why });
            self.push(op, Object::File(Box::new(LocatedFile { doubt, ..file })));
        }
    }
}
