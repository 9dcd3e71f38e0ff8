//! Directory, variables and input of the commands that a program starts. Must not know what the commands do.

use castellan_event::{Facts, Why};
use castellan_languages::Language;
use castellan_programs::Arg;
use castellan_shell::{Start, Stdin};

use super::with_sink;
use crate::next::Place;
use crate::scene::Scene;
use crate::{environment, path, walk};

/// Returns the initial state of a shell or command that a program starts.
pub(crate) fn started(
    place: &Place,
    cwd: Option<&Arg>,
    env: &[(String, Arg)],
    scene: &Scene<'_, '_, '_>,
) -> Start {
    let mut start = walk::start_in(place.cwd.clone(), scene);
    if let Some(cwd) = cwd {
        start.cwd = path::directory(cwd, place.cwd.as_deref(), false);
    }
    start.env.clear();
    for (name, value) in environment_of(place, scene).iter().chain(env) {
        match value.as_str() {
            Some(value) => start.env.push((name.clone(), value.to_owned())),
            None => {
                start.env.retain(|(one, _)| one != name);
                // The known home does not apply then.
                start.home = start.home.filter(|_| name != "HOME");
            }
        }
    }
    start
}

/// Returns the environment of a command; the last value of a name applies.
pub(crate) fn environment_of(place: &Place, scene: &Scene<'_, '_, '_>) -> Vec<(String, Arg)> {
    let of_agent = scene.session.process.iter().flat_map(|process| &process.env);
    let known = of_agent.map(|(name, value)| (name.clone(), Arg::known(value.as_str())));
    // The order of commands and exports is unknown here, so an export may apply or not.
    let exported = scene.exports.names.iter().map(|name| match scene.exports.compilers.get(name) {
        Some(compiler) => (name.clone(), Arg::known(compiler.as_str())),
        None => (name.clone(), Arg::unknown(Why::Variable, format!("${name}"), true)),
    });
    known.chain(exported).chain(place.run.env.iter().cloned()).collect()
}

/// Returns the input of a command for which the program names none: a pipe, a connection, or the rest of the program's
/// own input. The commands of a shell read the shell's input, which may be empty.
pub(super) fn own_input(language: Language, place: &Place) -> Option<Arg> {
    let is_shell = matches!(language, Language::PowerShell | Language::Batch);
    (!is_shell || place.run.stdin != Stdin::Inherited).then(|| Arg::unknown(Why::Input, "", false))
}

/// Adds the effects of the variables that a program passes to a command.
pub(super) fn given(env: &[(String, Arg)], place: &Place, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if !env.is_empty() {
        with_sink(place, scene, facts, |sink| {
            env.iter().for_each(|(name, value)| environment::passed_on(name, value, sink));
        });
    }
}
