//! Files that run by their own path, with the interpreter in their first line. Must not know what the interpreter does.

use std::vec::IntoIter;

use castellan_event::Why;
use castellan_programs::{Arg, SlotRole, find, invoke};
use castellan_shell::{Run, is_for_shells, shebang};

use super::{commands, opaque, started};
use crate::language;
use crate::next::{From, Next, Place, Program, Progress};
use crate::path;
use crate::scene::Scene;
use crate::{scripts, walk};
use castellan_programs::base_name;

/// The program behind a path that a command runs, by the first line of the file.
pub(crate) enum Own {
    /// A program in a supported language.
    Program(Program),
    /// A file that another program receives; its absolute path.
    Given(String),
}

/// Returns the program behind a path, unless a shell runs the file: the walk of shell text finds shell scripts.
pub(crate) fn own_program(name: &str, run: &Run, scene: &mut Scene<'_, '_, '_>) -> Option<Own> {
    let path =
        path::collapse(run.cwd.as_deref(), name).filter(|_| name.contains('/') && run.remote.is_empty())?;
    let texts = texts(&path, run, scene);
    let text = texts.iter().flatten().find(|text| !is_for_shells(text))?;
    let first = shebang(text)?;
    let Some(language) = read_by(&first, name) else { return Some(Own::Given(path)) };
    Some(Own::Program(Program {
        language: language.to_owned(),
        from: From::File(Arg::known(name)),
        cwd: run.cwd.clone(),
        args: run.argv.get(1..).map(<[Arg]>::to_vec),
    }))
}

/// Returns the language of an interpreter that reads the file as its program, if its other arguments do not matter.
fn read_by(first: &[String], file: &str) -> Option<&'static str> {
    let (program, own) = first.split_first()?;
    let language = language::of_files(base_name(program)).filter(|language| *language != "sh")?;
    let words = own.iter().map(String::as_str).chain([file]);
    let argv: Vec<Arg> = std::iter::once(program.as_str()).chain(words).map(Arg::known).collect();
    let read = invoke(find(base_name(program))?, &argv);
    let is_program = read.operands.first().is_some_and(|first| first.slot.role == SlotRole::Execute);
    let is_plain = read.options.iter().all(|used| used.value.is_none());
    (is_program && is_plain && language::of_word(language).is_some()).then_some(language)
}

/// Returns the possible contents of a file when the command runs it.
fn texts(path: &str, run: &Run, scene: &mut Scene<'_, '_, '_>) -> Vec<Result<String, Why>> {
    let made = run.made.iter().filter(|(one, _)| **one == *path);
    let texts: Vec<_> = made.map(|(_, text)| Ok(text.prefix().to_owned())).collect();
    if texts.is_empty() { vec![scripts::text(path, scene).map(|text| text.to_string())] } else { texts }
}

/// Returns true if the file at an absolute path may be a script. Machine code is not; an unknown file may be.
pub(crate) fn is_script(path: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    !matches!(scripts::text(path, scene), Err(Why::Encoding | Why::Unresolved))
}

/// Adds the effects of a script at a path, run by the interpreter in its first line with the command's arguments.
pub(crate) fn script(path: String, place: Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let texts = texts(&path, &place.run, scene);
    script_texts(path, texts.into_iter(), place, scene, progress);
}

/// Adds the effects of the remaining possible texts of such a script, up to the first that leaves work.
pub(crate) fn script_texts(
    path: String,
    mut texts: IntoIter<Result<String, Why>>,
    place: Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let Some(text) = texts.next() else { return };
    if !scene.budget.counts_program() {
        return opaque(&place, (Why::Nesting, &path), scene, &mut progress.facts);
    }
    let text = match text {
        Ok(text) => text,
        Err(why) => return opaque(&place, (why, &path), scene, &mut progress.facts),
    };
    let first = shebang(&text).unwrap_or_else(|| vec!["sh".to_owned()]);
    let words = first.into_iter().map(Arg::known).chain([Arg::known(path.as_str())]);
    let argv: Vec<Arg> = words.chain(place.run.argv.iter().skip(1).cloned()).collect();
    let found = walk::command_line(argv, None, &started(&place, None, &[], scene), scene);
    commands(found, &place, progress);
    progress.next.push(Next::ScriptTexts(path, texts, place));
}

/// Resolves a name without a directory. `cmd` looks for a program in its directory before the `PATH`.
pub(super) fn before_path(argv: &mut [Arg], place: &Place, scene: &mut Scene<'_, '_, '_>) {
    let Some(first) = argv.first_mut().filter(|_| place.run.remote.is_empty()) else { return };
    let Some(name) = first.as_str().filter(|name| !name.contains(['/', '\\', ':'])).map(str::to_owned) else {
        return;
    };
    let file = ["", ".com", ".exe", ".bat", ".cmd"].iter().map(|end| format!("./{name}{end}"));
    let file = file.into_iter().find(|file| {
        path::collapse(place.cwd.as_deref(), file).is_some_and(|path| scene.is_file_there(&path))
    });
    if let Some(file) = file {
        *first = Arg::known(file);
    }
}
