//! Programs that the settings of other programs start. Must not know the formats of settings.

use castellan_event::{EffectKind, Operation, Role, Why};
use castellan_programs::Arg;

use super::repository;
use super::there::{is_file, is_of_session};
use crate::builds::Source;
use crate::language::GIT;
use crate::limits::{PATHS_PER_WORK, WORK_OF_PATH};
use crate::next::From;
use crate::packages;
use crate::path;
use crate::settings::Starts;
use crate::sink::Sink;
use crate::targets;

/// Converts the start of one setting into a program of the command.
pub(crate) fn start(language: &str, one: Starts, file: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) {
    let beside = |path: &str, sink: &Sink<'_, '_, '_, '_>| {
        let directory = file.and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
        let here = directory.or(sink.cwd.as_deref());
        match path.strip_prefix("~/") {
            Some(rest) => Some(format!("{}/{rest}", sink.scene.session.places.home())),
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
        Starts::Module(language, name) => {
            if let Some(path) = module(&name, file, sink) {
                let path = Arg::known(path);
                sink.path(EffectKind::Execute, &path);
                sink.program(language, From::File(path));
            }
        }
        Starts::Package(system, url) => packages::package(system, &Arg::known(url), sink),
        Starts::Registry(url) => registry(url, sink),
        Starts::Later(text) => sink.on(EffectKind::Schedule, "editor", "open", Some(&Arg::known(text))),
        Starts::Text(language, text) => sink.program(language, From::Text(Arg::known(text))),
        Starts::Tree(directory) => {
            let (kind, recursive) = (EffectKind::Write, Some(true));
            let directory = beside(&directory, sink).unwrap_or(directory);
            let effect = Operation { kind, recursive, ..Operation::default() };
            sink.path_effect(effect, &Arg::known(directory));
        }
        Starts::Unknown(text) => sink.opaque(Role::Code, Why::Unsupported, &text),
    }
}

/// Converts the source of a build file into a program of the command, if the session wrote it, or into a package. Each
/// file is read once for each command.
pub(crate) fn source(
    (language, command): (&str, usize),
    one: Source,
    file: Option<&str>,
    sink: &mut Sink<'_, '_, '_, '_>,
) {
    match one {
        Source::Address(system, url) => packages::package(system, &Arg::known(url), sink),
        Source::Registry(url) => registry(url, sink),
        Source::File(name) => {
            let directory = file.and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
            let path = path::collapse(directory.or(sink.cwd.as_deref()), &name);
            let Some(path) = path.filter(|_| sink.spend(WORK_OF_PATH)) else { return };
            if !sink.scene.files.modules.insert((command, path.clone())) {
                return;
            }
            if is_file(&path, sink) && is_of_session(&path, sink) {
                let path = Arg::known(path);
                sink.path(EffectKind::Execute, &path);
                sink.program(language, From::File(path));
            }
        }
    }
}

/// Adds the connection to a registry that settings name instead of the usual one.
fn registry(url: String, sink: &mut Sink<'_, '_, '_, '_>) {
    targets::url(EffectKind::Connect, &Arg::known(url), sink);
}

/// Endings that a name of a module may lack.
const ENDINGS: &[&str] = &["", ".js", ".cjs", ".mjs", ".ts", ".py", ".rb", "/index.js", "/__init__.py"];

/// Returns the file of a module that settings name, if the session wrote one: other files are the project's.
fn module(name: &str, file: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let setting = sink.scene.session.setting;
    let (number, is_full) = (setting.written.len(), setting.written_is_full);
    if !sink.spend(1 + (number / PATHS_PER_WORK) as u64) {
        return None;
    }
    let name = PREFIXES.iter().fold(name, |name, prefix| name.strip_prefix(prefix).unwrap_or(name));
    let name = name.trim_start_matches("./");
    let below = |directory: &str| path::collapse(Some(directory), name);
    let of_file = file.and_then(|file| file.rsplit_once('/')).and_then(|(directory, _)| below(directory));
    let bases: Vec<String> = of_file.into_iter().chain(sink.cwd.as_deref().and_then(below)).collect();
    // A module may be in a directory that other settings name.
    let end = format!("/{name}");
    let is_it = |path: &str| {
        let bare = ENDINGS.iter().filter_map(|ending| path.strip_suffix(ending));
        bare.into_iter().any(|bare| {
            bases.iter().any(|base| base == bare) || path.ends_with(".py") && bare.ends_with(&end)
        })
    };
    let found = sink.scene.written_where("", is_it);
    let first = found.iter().find(|path| bases.iter().any(|base| path.starts_with(base)));
    first.or(found.first()).cloned().or_else(|| {
        // The session wrote more than is stored, so any file may be its own.
        let names =
            || ENDINGS.iter().flat_map(|ending| bases.iter().map(move |base| format!("{base}{ending}")));
        if is_full { names().find(|path| sink.scene.is_file_there(path)) } else { None }
    })
}

/// Names of the directory of the settings.
const PREFIXES: &[&str] = &["<rootDir>/", "${workspaceFolder}/", "${sourceDir}/"];
