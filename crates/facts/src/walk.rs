//! Walks of shell text and command lines that something in the call runs, with the remaining work of the call. Must not
//! know effects.

use castellan_programs::Arg;
use castellan_shell::{Files, Found, SH, Start, commands_within, program_within};

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
