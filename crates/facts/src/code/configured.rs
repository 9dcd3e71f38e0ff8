//! Files of settings, some of which start programs. Converts their text into the programs that they start. Must not
//! know where a program looks for such a file.

mod git;
mod others;

use castellan_event::{Effect, EffectKind, Facts, Role, Why};
use castellan_programs::Arg;

use super::{From, Place, SHELL, inner, known, opaque, small, with_sink};
use crate::loaded::repository;
use crate::path;
use crate::scene::Scene;
use crate::sink::Sink;

pub(crate) use git::{includes as git_includes, starts as git_starts, text_of as git_text};

/// Settings of git: a repository's own, the user's, or a file that such a file includes.
pub(crate) const GIT: &str = "git-config";
/// A file `.git`, which names the directory of the repository.
pub(crate) const GIT_LINK: &str = "git-link";
/// A file `commondir`, which names the directory that a work tree shares with others.
pub(crate) const GIT_COMMON: &str = "git-commondir";
/// A hook of git: its first line selects the interpreter, not its name.
pub(crate) const GIT_HOOK: &str = "git-hook";

/// The start of a setting: the code or files that it makes a program use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Starts {
    /// Shell text, or a program by its path.
    Shell(String),
    /// The settings of another file, as written.
    Settings(String),
    /// The hooks in a directory, as written.
    Hooks(String),
    /// A program file in this language, as written.
    Program(&'static str, String),
    /// A directory that the program writes into instead of its own, as written.
    Tree(String),
    /// Opaque code.
    Unknown(String),
}

/// Returns true if a language is one of settings.
pub(super) fn is_one(language: &str) -> bool {
    matches!(language, GIT | GIT_LINK | GIT_COMMON) || others::is_one(language)
}

/// Adds the effects of the settings in a text.
pub(super) fn add(
    language: &str,
    text: &str,
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let mut programs = Vec::new();
    let file = place.file.clone();
    with_sink(place, scene, facts, |sink| {
        let file = file.as_deref();
        match language {
            GIT_LINK => repository::linked(text, file, sink),
            GIT_COMMON => repository::shared(text, file, sink),
            _ => match starts(language, text) {
                Ok(found) => found.into_iter().for_each(|one| start(language, one, file, sink)),
                Err(why) => sink.opaque(Role::Code, why, file.unwrap_or(language)),
            },
        }
        programs = std::mem::take(&mut sink.programs);
    });
    for program in &programs {
        match &program.from {
            // The text belongs to the file of the setting.
            From::Text(text) if program.language == SHELL => match known(text) {
                Ok(text) => small(SHELL, &text, place, scene, facts),
                Err(why) => opaque(place, (why, &text.written()), scene, facts),
            },
            From::Text(_) | From::File(_) => inner(program, place, scene, facts),
        }
    }
}

/// Returns the starts of the settings in a text.
fn starts(language: &str, text: &str) -> Result<Vec<Starts>, Why> {
    match language {
        GIT => Ok(git::settings(text)?.iter().filter_map(git::Setting::starts).collect()),
        other => others::starts(other, text),
    }
}

/// Converts the start of one setting into a program of the command.
pub(crate) fn start(language: &str, one: Starts, file: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) {
    let beside = |path: &str, sink: &Sink<'_, '_, '_, '_>| {
        let directory = file.and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
        let here = directory.or(sink.cwd.as_deref());
        match path.strip_prefix("~/") {
            Some(rest) => Some(format!("{}/{rest}", sink.scene.places.home())),
            None => path::collapse(here, path),
        }
    };
    match one {
        Starts::Shell(text) => sink.shell(Arg::known(text)),
        Starts::Settings(path) => match beside(&path, sink) {
            Some(path) if language == GIT => repository::settings(&path, true, sink),
            Some(path) if sink.scene.is_file_there(&path) => {
                sink.program(language, From::File(Arg::known(path)));
            }
            Some(_) => {}
            None => sink.opaque(Role::Code, Why::File, &path),
        },
        Starts::Hooks(directory) => repository::hooks(&directory, sink),
        Starts::Program(language, path) => {
            let path = beside(&path, sink).map_or_else(|| Arg::known(path), Arg::known);
            sink.path(EffectKind::Execute, &path);
            sink.program(language, From::File(path));
        }
        Starts::Tree(directory) => {
            let (kind, recursive) = (EffectKind::Write, Some(true));
            let directory = beside(&directory, sink).unwrap_or(directory);
            let effect = Effect { kind, recursive, ..Effect::default() };
            sink.path_effect(effect, &Arg::known(directory));
        }
        Starts::Unknown(text) => sink.opaque(Role::Code, Why::Unsupported, &text),
    }
}
