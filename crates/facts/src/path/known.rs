//! Known paths: the world resolves their symlinks.

use castellan_event::{Answer, Query, Recorder, Why};

use super::lexical::{collapse, tidy};
use super::partly::hint_after_dots;
use super::{Last, Located, is_stream, special};
use crate::scope::{self, Places};

/// Locates a path whose text is known.
pub(super) fn known(
    text: &str,
    raw: String,
    cwd: Option<&str>,
    places: &Places,
    world: &mut Recorder<'_>,
    last: Last,
) -> Located {
    // Only an absolute path can be a special file.
    let tidied = text.starts_with('/').then(|| tidy(text));
    if let Some(stream) = tidied.as_deref().filter(|path| is_stream(path)) {
        let kind = scope::classify(stream, places);
        return Located::found(stream.to_owned(), raw, kind);
    }
    let through_proc = tidied.as_deref().and_then(|path| special::of_process(path, cwd));
    let text = through_proc.as_deref().unwrap_or(text);
    let lexical = collapse(cwd, text);
    let as_written = || lexical.as_ref().map(|path| scope::classify(path, places));
    let Some(base) = base_of(text, cwd) else {
        let parts = text.split('/').collect::<Vec<_>>();
        return Located::unknown(raw, Why::Dynamic, hint_after_dots(&parts, places));
    };
    let real = match (last, entry(text)) {
        (Last::Kept, Some((directory, name))) => {
            real_path(base, directory, world).map(|directory| join(&directory, name))
        }
        (Last::Kept, None) | (Last::Followed, _) => real_path(base, text, world),
    };
    let Some(real) = real else {
        let telling = as_written().filter(|kind| scope::is_telling(kind.scope));
        return Located::unknown(raw, Why::Unreadable, telling);
    };
    let kind = scope::classify(&real, places);
    let is_linked = lexical.as_ref() != Some(&real);
    let as_written = is_linked.then(as_written).flatten();
    let kind = as_written.map_or(kind, |as_written| kind.with_scope_of(as_written));
    Located { is_linked: is_linked || through_proc.is_some(), ..Located::found(real, raw, kind) }
}

/// Returns the directory that a path is relative to; `None` if unknown.
pub(super) fn base_of<'c>(text: &str, cwd: Option<&'c str>) -> Option<&'c str> {
    if text.starts_with('/') { Some("/") } else { cwd.filter(|cwd| cwd.starts_with('/')) }
}

/// Splits a path that ends in a name, as of a removable entry, into directory and name.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (directory, name) = match text.rfind('/') {
        Some(at) => text.split_at_checked(at + 1)?,
        None => ("", text),
    };
    (!matches!(name, "" | "." | "..")).then_some((directory, name))
}

pub(super) fn real_path(base: &str, path: &str, world: &mut Recorder<'_>) -> Option<String> {
    let path = if path.is_empty() { "." } else { path };
    match world.ask(Query::RealPath { base: base.to_owned(), path: path.to_owned() })? {
        Answer::RealPath(real) => Some(real),
        Answer::FileKind(_)
        | Answer::Contents(_)
        | Answer::Executable(_)
        | Answer::Repository(_)
        | Answer::Newest(_)
        | Answer::Inode(_)
        | Answer::Head(_)
        | Answer::OtherNames(_)
        | Answer::Process(_) => None,
    }
}

pub(super) fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}
