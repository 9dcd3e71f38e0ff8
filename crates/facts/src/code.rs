//! Effects of programs in other languages, as [`castellan_languages`] reads them. Commands that such a program starts
//! are left as work. Must not know languages.

mod configured;
mod effects;
mod held;
mod lifted;
mod modules;
mod own;
mod reading;
mod small;
mod stands;
mod started;
mod unread;

pub(crate) use effects::opaque;
pub(crate) use modules::module_programs;
pub(crate) use own::{Own, is_script, own_program, script, script_texts};
pub(crate) use reading::{commands, read_on};
pub(crate) use small::{does, shell};
pub(crate) use started::{environment_of, started};

use castellan_event::{EffectKind, Why};
use castellan_languages::{Language, encoded};
use castellan_programs::{Arg, base_name};

use crate::language::{ENCODED, GIT_HOOK, SHELL, SQL, of_word};
use crate::limits::PROGRAM_DEPTH_MAX;
use crate::next::{From, Place, Program, Progress, Reading};
use crate::packages;
use crate::scene::Scene;
use crate::{builds, declared, path, settings};
use effects::with_sink;
use held::held;
use stands::{file_of, unread};

/// Files that a program reads in another language than its own, by the endings of their names.
const OTHERS: &[(&str, &str, &str)] =
    &[("ex", ".lua", "lua"), ("gdb", ".py", "python"), ("lldb", ".py", "python")];

/// The language of a program's text.
fn language_in(program: &Program) -> &str {
    let own = program.language.as_str();
    let From::File(file) = &program.from else { return own };
    let written = file.written();
    let other = OTHERS.iter().find(|(language, end, _)| *language == own && written.ends_with(end));
    other.map_or(own, |(.., language)| language)
}

/// Adds the effects of a program, up to the first command that it starts.
pub(crate) fn add(
    program: Program,
    mut place: Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let word = language_in(&program);
    let language = of_word(word);
    let is_small = word == SHELL
        || lifted::is_one(word)
        || builds::is_one(word)
        || settings::is_one(word)
        || word.starts_with(SQL)
        || castellan_programs::reads(word);
    if word == GIT_HOOK {
        return hook(&program.from, place, scene, progress);
    }
    if language.is_none() && !is_small {
        return unread::add(&program, word, place, scene, &mut progress.facts);
    }
    if !scene.budget.counts_program() || place.depth > PROGRAM_DEPTH_MAX {
        return opaque(&unread(&program, place), (Why::Nesting, word), scene, &mut progress.facts);
    }
    // The code that reads the argument adds the effects of a URL.
    if matches!(&program.from, From::File(file) if file.prefix().contains("://")) {
        return;
    }
    if let Some(package) = package_of(&program.from, &place) {
        return with_sink(&place, scene, &mut progress.facts, |sink| {
            packages::package("npm", &package, sink)
        });
    }
    let texts = match &program.from {
        From::Text(text) if word == ENCODED => {
            vec![known(text).and_then(|text| encoded(&text).ok_or(Why::Encoding))]
        }
        From::Text(text) => vec![known(text)],
        From::File(file) => match of_file(file, &program, &mut place, scene, progress) {
            Some(texts) => texts,
            None => return,
        },
    };
    // A database client without its file does nothing, and settings without their file start nothing.
    let is_optional = word.starts_with(SQL) || settings::is_one(word);
    if is_optional && place.file.as_deref().is_some_and(|path| !scene.is_file_there(path)) {
        return;
    }
    let (texts, modules, acts) = (texts.into_iter(), Vec::new().into_iter(), Vec::new().into_iter());
    read_on(Box::new(Reading { program, place, texts, modules, acts }), scene, progress);
}

/// Returns the possible texts of a program's file, and stores the file in the place. `None` if the file is not read as
/// code.
fn of_file(
    file: &Arg,
    program: &Program,
    place: &mut Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) -> Option<Vec<Result<String, Why>>> {
    let word = language_in(program);
    let language = of_word(word);
    if language == Some(Language::JavaScript) && is_of_package(file, place, scene) {
        return None;
    }
    let main = modules::main_of(file, language, place, scene);
    let file = main.as_ref().unwrap_or(file);
    // A program loads each module once, and a file with data is not code.
    if place.depth > 0 && language == Some(Language::JavaScript) {
        let path = file.as_str().and_then(|path| path::collapse(place.cwd.as_deref(), path));
        if path.is_some_and(|path| !scene.files.modules.insert((place.command, path))) {
            return None;
        }
        if file.as_str().is_some_and(|path| path.ends_with(".json")) {
            with_sink(place, scene, &mut progress.facts, |sink| sink.path(EffectKind::Read, file));
            return None;
        }
    }
    let mut texts = held(file, place, !settings::is_written_by_its_program(word), scene);
    // An agent that types a command or a program knows the file that it runs, or creates the file first.
    if place.run.script.is_none() {
        let missing = texts.iter_mut().filter(|text| **text == Err(Why::Missing));
        missing.for_each(|text| *text = Err(Why::File));
    }
    place.file = file_of(file, place);
    Some(texts)
}

/// Adds the effects of a hook. Its first line names its interpreter.
fn hook(from: &From, place: Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    match from {
        From::File(file) if file.as_str().is_some() => {
            with_sink(&place, scene, &mut progress.facts, |sink| sink.path(EffectKind::Execute, file));
            let own = Place::of(&place.run, place.command, place.run.cwd.clone());
            script(file.written().into_owned(), own, scene, progress);
        }
        From::File(arg) | From::Text(arg) => {
            opaque(&place, (Why::File, &arg.written()), scene, &mut progress.facts);
        }
    }
}

/// Returns the package that Deno runs by its name (`npm:vitest`, `jsr:@std/cli`). No file has such a name.
fn package_of(from: &From, place: &Place) -> Option<Arg> {
    let From::File(file) = from else { return None };
    let is_deno =
        || place.run.argv.first().and_then(Arg::as_str).is_some_and(|name| base_name(name) == "deno");
    let name = ["npm:", "jsr:"].iter().find_map(|scheme| file.as_str()?.strip_prefix(scheme))?;
    is_deno().then(|| Arg::known(name.trim_start_matches('/')))
}

/// Returns true for a file of an installed package that the project declares. castellan does not read such a file.
fn is_of_package(file: &Arg, place: &Place, scene: &mut Scene<'_, '_, '_>) -> bool {
    let path = file.as_str().filter(|_| place.run.remote.is_empty());
    let path = path.and_then(|path| path::collapse(place.cwd.as_deref(), path));
    path.is_some_and(|path| declared::is_of_package(&path, scene))
}

fn known(text: &Arg) -> Result<String, Why> {
    text.as_str().map(str::to_owned).ok_or_else(|| text.why().unwrap_or_default())
}
