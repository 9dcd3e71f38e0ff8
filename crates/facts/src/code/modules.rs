//! The files behind what `python` runs by a name: a module, a directory.

use castellan_event::{Answer, FileKind, Query};
use castellan_languages::Language;
use castellan_programs::Arg;
use castellan_shell::Run;

use super::{From, Place, Program, beside, language_of, language_of_files};
use crate::path;
use crate::scene::Scene;

/// The files of a module that `python -m` runs as a program: those that stand in the directory that the command runs in are found
/// before the language's own.
pub(crate) fn module_programs(run: &Run, scene: &mut Scene<'_, '_, '_>) -> Vec<Program> {
    let interpreter = run.argv.first().and_then(Arg::as_str).unwrap_or_default();
    let language = language_of_files(interpreter.rsplit('/').next().unwrap_or_default());
    let language = language.filter(|word| language_of(word) == Some(Language::Python));
    let (Some(language), Some((name, behind)), true) =
        (language, module_of(&run.argv), run.remote.is_empty())
    else {
        return Vec::new();
    };
    let path = name.replace('.', "/");
    let files = [format!("{path}.py"), format!("{path}/__init__.py"), format!("{path}/__main__.py")];
    let place = Place::of(run, 0, run.cwd.clone());
    let found = files.into_iter().filter_map(|file| beside(&[file], &place, scene));
    let program = |file| Program {
        language: language.to_owned(),
        from: From::File(Arg::known(file)),
        cwd: run.cwd.clone(),
        args: run.argv.get(behind..).map(<[Arg]>::to_vec),
    };
    found.map(program).collect()
}

/// The module that `python -m` is given, alone or behind other letters, and where its arguments begin.
fn module_of(argv: &[Arg]) -> Option<(&str, usize)> {
    let mut at = 1;
    while let Some(letters) = argv.get(at).and_then(Arg::as_str)?.strip_prefix('-') {
        at += 1;
        let Some(place) = letters.find(['m', 'c', 'W', 'X']).filter(|_| !letters.starts_with('-')) else {
            continue;
        };
        let (_, rest) = letters.split_at(place);
        let value = match rest.get(1..).filter(|value| !value.is_empty()) {
            Some(value) => Some(value),
            None => {
                at += 1;
                argv.get(at - 1)?.as_str()
            }
        };
        match rest.chars().next() {
            Some('m') => return value.map(|value| (value, at)),
            Some('c') => return None,
            _ => {}
        }
    }
    None
}

/// The file that a directory stands for when it is run.
pub(super) fn main_of(
    file: &Arg,
    language: Option<Language>,
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
) -> Option<Arg> {
    let path = file.as_str().filter(|_| language == Some(Language::Python) && place.run.remote.is_empty())?;
    let path = path::collapse(place.cwd.as_deref(), path)?;
    let kind = scene.world.ask(Query::FileKind { path: path.clone() });
    matches!(kind, Some(Answer::FileKind(FileKind::Directory)))
        .then(|| Arg::known(format!("{path}/__main__.py")))
}
