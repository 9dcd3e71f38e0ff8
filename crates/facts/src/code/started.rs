//! What a program hands to the commands that it starts: its directory, its environment, its input. It must not know what they do.

use castellan_event::{Facts, Why};
use castellan_languages::Language;
use castellan_programs::Arg;
use castellan_shell::{Start, Stdin};

use super::{Place, with_sink};
use crate::scene::Scene;
use crate::{analyse, environment, path};

/// The shell or program that a program starts.
pub(crate) fn started(
    place: &Place<'_>,
    cwd: Option<&Arg>,
    env: &[(String, Arg)],
    scene: &Scene<'_, '_, '_>,
) -> Start {
    let mut start = analyse::start_in(place.cwd.clone(), scene);
    if let Some(cwd) = cwd {
        start.cwd = path::directory(cwd, place.cwd.as_deref(), false);
    }
    start.env.clear();
    for (name, value) in environment_of(place, scene).iter().chain(env) {
        match value.as_str() {
            Some(value) => start.env.push((name.clone(), value.to_owned())),
            None => {
                start.env.retain(|(one, _)| one != name);
                // The home that is known is not the one that counts.
                start.home = start.home.filter(|_| name != "HOME");
            }
        }
    }
    start
}

/// The environment that a command has; the last of a name counts.
pub(crate) fn environment_of(place: &Place<'_>, scene: &Scene<'_, '_, '_>) -> Vec<(String, Arg)> {
    let of_agent = scene.process.iter().flat_map(|process| &process.env);
    let known = of_agent.map(|(name, value)| (name.clone(), Arg::known(value.as_str())));
    // Whether a command stands where an export holds is not told.
    let exported = scene.exported.iter().map(|name| match scene.exported_compilers.get(name) {
        Some(compiler) => (name.clone(), Arg::known(compiler.as_str())),
        None => (name.clone(), Arg::unknown(Why::Variable, format!("${name}"), true)),
    });
    known.chain(exported).chain(place.run.env.iter().cloned()).collect()
}

/// What a program gives a command to read that it says nothing of: a pipe that it writes to, a connection, the rest of what it
/// was given itself. A shell's commands read what the shell does, which may be nothing.
pub(super) fn own_input(language: Language, place: &Place<'_>) -> Option<Arg> {
    let is_shell = matches!(language, Language::PowerShell | Language::Batch);
    (!is_shell || place.run.stdin != Stdin::Inherited).then(|| Arg::unknown(Why::Input, "", false))
}

/// The variables that a program gives to a command.
pub(super) fn given(
    env: &[(String, Arg)],
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    if !env.is_empty() {
        with_sink(place, scene, facts, |sink| {
            env.iter().for_each(|(name, value)| environment::effect(name, value, sink));
        });
    }
}
