//! Walks of shell text and command lines that something in the call runs, with the remaining work of the call. Must not
//! know effects.

use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::{Arg, Piece};
use castellan_shell::{Files, Found, Item, SH, Start, Stdin, commands_within, program_within};

use crate::scene::Scene;
use crate::scripts;

/// A variable in shell text that represents an unknown value.
pub(crate) const UNKNOWN: &str = "castellan_unknown_value";

/// Walks a shell text.
pub(crate) fn text(text: &str, start: &Start, scene: &mut Scene<'_, '_, '_>) -> Found {
    let mut work = std::mem::take(&mut scene.budget.work);
    let mut read = |path: &str| scripts::text(path, scene);
    let found = commands_within(text, start, &mut work, Files::new(&mut read));
    scene.budget.work = work;
    found
}

/// Walks a command line. `stdin`: its input, if known.
pub(crate) fn command_line(
    argv: Vec<Arg>,
    stdin: Option<&Arg>,
    start: &Start,
    scene: &mut Scene<'_, '_, '_>,
) -> Found {
    let mut work = std::mem::take(&mut scene.budget.work);
    let mut read = |path: &str| scripts::text(path, scene);
    let found = program_within(argv, stdin, start, &mut work, Files::new(&mut read));
    scene.budget.work = work;
    found
}

/// Returns the initial state of `sh`, which a program of the call starts, as far as the agent's process shows it.
pub(crate) fn start_in(cwd: Option<String>, scene: &Scene<'_, '_, '_>) -> Start {
    Start {
        cwd,
        home: Some(scene.session.places.home().to_owned()).filter(|home| !home.is_empty()),
        env: scene.session.process.as_ref().map(|process| process.env.clone()).unwrap_or_default(),
        shells: SH.to_vec(),
        ..Start::default()
    }
}

/// Restores unknown parts that were in quotes, in which a shell does not expand a variable.
pub(crate) fn unquoted(item: &mut Item) {
    let Item::Command(run) = item else { return };
    let env = run.env.iter_mut().map(|(_, value)| value);
    run.argv.iter_mut().chain(env).for_each(unknown_again);
    for redirect in run.redirects.iter_mut().filter(|redirect| redirect.target.written().contains(UNKNOWN)) {
        unknown_again(&mut Rc::make_mut(redirect).target);
    }
    match &mut run.stdin {
        Stdin::Text(arg) | Stdin::File(arg) => unknown_again(arg),
        Stdin::Inherited => {}
    }
    run.cwd.take_if(|cwd| cwd.contains(UNKNOWN));
}

fn unknown_again(arg: &mut Arg) {
    let is_literal = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(UNKNOWN));
    if !arg.pieces().iter().any(is_literal) {
        return;
    }
    let open = format!("${{{UNKNOWN}");
    let mut pieces = Vec::new();
    for piece in arg.pieces() {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        for (at, part) in text.split(&open).enumerate() {
            let (marker, part) =
                if at == 0 { ("", part) } else { part.split_once('}').unwrap_or((part, "")) };
            if at > 0 {
                // A number marks the output of a command.
                let why = if marker.is_empty() { Why::Dynamic } else { Why::Substitution };
                pieces.push(Piece::Unknown { why, written: format!("{open}}}") });
            }
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
    *arg = Arg::from_pieces(pieces, arg.splits());
}
