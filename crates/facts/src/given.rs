//! What a program that is not understood is given of the session's guard: it may do anything to a file that it is told of, by an
//! argument, behind the `=` of one or behind the letter of an option. It must not know programs.

use castellan_event::{Effect, EffectKind, Role, Why};
use castellan_programs::{Arg, Piece};

use crate::sink::Sink;

/// Adds an opaque effect for each argument that may name a guarded file, or the directory of one.
pub(crate) fn add(args: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for arg in args {
        for path in paths(arg, sink.scene.places.home()) {
            sink.given(&path);
        }
    }
}

/// The paths that an argument may hold. A program may take `~` for the home where the shell has left it.
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
    whole.into_iter().chain(value.clone()).chain(attached.filter(|_| value.is_none())).map(|one| at_home(&one)).collect()
}

impl Sink<'_, '_, '_, '_> {
    /// The program, of which it is not known what it does, is told of a path.
    fn given(&mut self, arg: &Arg) {
        let located = self.locate(arg);
        let effect = Effect {
            kind: EffectKind::Opaque,
            role: Some(Role::Target),
            why: Some(Why::Unsupported),
            target: Some(located.raw.clone()),
            path: located.path,
            path_raw: Some(located.raw),
            scope: located.scope,
            place: located.place,
            ..Effect::default()
        };
        if self.guard_of(&effect).is_some() {
            self.push(effect);
        }
    }
}
