//! Compilers and build tools that make files from the project's own sources. Must not know who wrote the sources.

use castellan_event::{Command, Effect, EffectKind, Facts, Scope};
use castellan_programs::Trait;

use crate::limits::LOADED_FILES_MAX;
use crate::owner::plain::is_plain as is_plain_text;
use crate::scene::Scene;
use crate::scripts;

/// Sources that compilers build programs from, and files that are no part of a program, by the endings of their names.
const SOURCES: &[&str] =
    &[".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".ino", ".md", ".rst", ".txt"];

/// Returns true if an effect only deletes or makes a directory, or is build output from the project's own sources.
pub(super) fn makes(effect: &Effect, facts: &Facts, workspace: &str) -> bool {
    if effect.kind() == EffectKind::Delete {
        return true;
    }
    let Some(at) = effect.command else { return false };
    let Some(command) = facts.commands.get(at) else { return false };
    let name = command.name.as_deref().unwrap_or_default();
    if name == "mkdir" {
        return effect.kind() == EffectKind::Write;
    }
    let stays = |effect: &Effect| {
        let is_of_it = effect.command == Some(at) && effect.path().is_some();
        !is_of_it
            || matches!(effect.place(), Some(Scope::Workspace | Scope::System | Scope::Temporary))
                && !(effect.place() == Some(Scope::Temporary) && effect.kind() == EffectKind::Read)
    };
    Trait::Builds.is_of(name)
        && effect.kind() == EffectKind::Write
        && is_plain(command, workspace)
        && facts.effects.iter().all(stays)
}

/// Returns true if a build tool of this call makes a file in a directory for temporary files, and nothing else writes it.
pub(super) fn is_built_aside(file: &str, facts: &Facts) -> bool {
    let mut writes = facts
        .effects
        .iter()
        .filter(|effect| effect.kind() == EffectKind::Write && effect.path() == Some(file))
        .peekable();
    let is_build = |effect: &Effect| {
        let command = effect.command.and_then(|at| facts.commands.get(at));
        let name = command.and_then(|command| command.name.as_deref());
        effect.place() == Some(Scope::Temporary) && name.is_some_and(|name| Trait::Builds.is_of(name))
    };
    writes.peek().is_some() && writes.all(is_build)
}

/// Returns true if all files that the session wrote are sources in which no word suggests more than computing. Programs
/// built from them may run as with `go run` and `cargo run`. `CMakeLists.txt` is excluded: it can run other programs.
pub(super) fn are_plain_sources(written: &[String], scene: &mut Scene<'_, '_, '_>) -> bool {
    written.len() <= LOADED_FILES_MAX
        && written.iter().all(|path| {
            let is_source =
                SOURCES.iter().any(|end| path.ends_with(end)) && !path.ends_with("CMakeLists.txt");
            is_source && scripts::text(path, scene).is_ok_and(|text| is_plain_text(&text))
        })
}

/// Returns true if no argument is outside of the project, is text instead of a file, or changes how the command builds.
fn is_plain(command: &Command, workspace: &str) -> bool {
    let is_here = |arg: &String| match arg.find('/') {
        Some(at) => {
            let (head, path) = arg.split_at(at);
            let is_absolute = head.is_empty()
                || head.ends_with(['=', ',', '@'])
                || head.starts_with('-') && head.len() == 2;
            !is_absolute
                || path.strip_prefix(workspace).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        None => arg != "-",
    };
    let is_text = |arg: &String| arg.contains(|c: char| c.is_whitespace() || "(;|$`~".contains(c));
    let is_above = |arg: &String| arg.starts_with('-') && arg.contains("..");
    command.env.is_empty()
        && command.remote.is_none()
        && command.pipe_from.is_none()
        && command.args.iter().all(|arg| is_here(arg) && !is_text(arg) && !is_above(arg))
}
