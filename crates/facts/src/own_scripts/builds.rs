//! Compilers and build tools that make files of the project's own sources. It must not know whose those are.

use castellan_event::{Command, Effect, EffectKind, Facts, Scope};

use crate::code::unread;
use crate::limits::LOADED_FILES_MAX;
use crate::scene::Scene;
use crate::scripts;

/// Sources of which a compiler makes programs, and what no program comes of, by the endings of their names.
const SOURCES: &[&str] =
    &[".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".ino", ".md", ".rst", ".txt"];

/// Those that make what they are told of what lies in the project, as it says itself.
const BUILDERS: &[&str] = &[
    "babel", "c++", "cargo", "cc", "clang", "clang++", "cmake", "esbuild", "g++", "gcc", "go", "javac",
    "make", "meson", "ninja", "rollup", "rustc", "swc", "swift", "swiftc", "tsc", "tsup", "vite", "webpack",
];

/// Whether an effect only makes room, or is what a build makes of the project's own sources.
pub(super) fn makes(effect: &Effect, facts: &Facts, workspace: &str) -> bool {
    if effect.kind == EffectKind::Delete {
        return true;
    }
    let Some(at) = effect.command else { return false };
    let Some(command) = facts.commands.get(at) else { return false };
    let name = command.name.as_deref().unwrap_or_default();
    if name == "mkdir" {
        return effect.kind == EffectKind::Write;
    }
    let stays = |effect: &Effect| {
        let is_of_it = effect.command == Some(at) && effect.path.is_some();
        !is_of_it
            || matches!(effect.place, Some(Scope::Workspace | Scope::System | Scope::Temporary))
                && !(effect.place == Some(Scope::Temporary) && effect.kind == EffectKind::Read)
    };
    BUILDERS.contains(&name)
        && effect.kind == EffectKind::Write
        && is_plain(command, workspace)
        && facts.effects.iter().all(stays)
}

/// Whether files that the session wrote are sources of which no word tells of more than computing: what is built of them is run as
/// `go run` and `cargo run` run theirs. `CMakeLists.txt` says what else is run.
pub(super) fn are_plain_sources(written: &[String], scene: &mut Scene<'_, '_, '_>) -> bool {
    written.len() <= LOADED_FILES_MAX
        && written.iter().all(|path| {
            let is_source =
                SOURCES.iter().any(|end| path.ends_with(end)) && !path.ends_with("CMakeLists.txt");
            is_source && scripts::text(path, scene).is_ok_and(|text| unread::is_plain(&text))
        })
}

/// Whether nothing that the command is given lies outside of the project, is text in place of a file, or says how else it builds.
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
