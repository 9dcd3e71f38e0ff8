//! Programs that the settings of other programs start. Must not know the formats of settings.

use castellan_event::{EffectKind, Operation, Role, Why};
use castellan_programs::Arg;

use super::repository;
use crate::language::GIT;
use crate::next::From;
use crate::path;
use crate::settings::Starts;
use crate::sink::Sink;

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
        Starts::Tree(directory) => {
            let (kind, recursive) = (EffectKind::Write, Some(true));
            let directory = beside(&directory, sink).unwrap_or(directory);
            let effect = Operation { kind, recursive, ..Operation::default() };
            sink.path_effect(effect, &Arg::known(directory));
        }
        Starts::Unknown(text) => sink.opaque(Role::Code, Why::Unsupported, &text),
    }
}
