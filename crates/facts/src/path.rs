//! Paths: resolves an argument to its real location and classifies it. Asks the world for the targets of symlinks only.
//! Must not know the program of the argument.

mod lexical;
mod special;
mod windows;

use castellan_event::{Answer, PATH_BYTES_MAX, Query, Recorder, Scope, Why, path_components};
use castellan_programs::{Arg, Piece};

pub use crate::scope::Places;
pub use special::dev_tcp;
pub(crate) use special::is_stream;

use crate::limits::{COMPONENTS_MAX, UNSURE_COMPONENTS_MAX};
use crate::scope::{self, Kind, Part};
pub(crate) use lexical::collapse;
use lexical::{Component, Unsure, tidy};

/// The location and class of a path. Every field but `raw` is `None` if it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The path, symlinks resolved, without a trailing slash. Patterns remain as written.
    pub path: Option<String>,
    /// As written.
    pub raw: String,
    /// The most sensitive class that the path has or may have. For an unknown `path` it is set if the known parts show
    /// it, as in `$DIR/.ssh/id_rsa`.
    pub scope: Option<Scope>,
    /// The location's class.
    pub place: Option<Scope>,
    /// A description for people.
    pub about: Option<&'static str>,
    /// A symlink or `/proc` is on the way to it. If this is false, the last name of an entry may still be a symlink.
    pub is_linked: bool,
    /// Why `path` is unknown; set exactly if it is.
    pub why: Option<Why>,
}

/// The file of an operation if the path names a symlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Last {
    /// The target of the symlink: reading, writing, changing the mode.
    Followed,
    /// The symlink itself: deleting and renaming.
    Kept,
}

/// Resolves a path relative to `cwd` and classifies it. Symlinks are followed to the end.
///
/// The path as written is classified, too: a `~/.bashrc` that links to `~/dotfiles/rc` is still a startup file.
pub fn locate(raw: &Arg, cwd: Option<&str>, places: &Places, world: &mut Recorder<'_>) -> Located {
    find(raw, cwd, places, world, Last::Followed)
}

/// Like [`locate`], for operations on the name itself such as delete and rename: a symlink at the end is not followed.
pub fn locate_entry(raw: &Arg, cwd: Option<&str>, places: &Places, world: &mut Recorder<'_>) -> Located {
    find(raw, cwd, places, world, Last::Kept)
}

/// Classifies a path that is known to have no symlinks.
pub(crate) fn real(path: String, places: &Places) -> Located {
    let kind = scope::classify(&path, places);
    Located::found(path.clone(), path, kind)
}

/// Locates a path that begins with a drive or a server, for a language whose programs know them: it is absolute, and
/// outside of this system. Returns `None` for any other path.
pub(crate) fn on_drive(raw: &Arg, world: &mut Recorder<'_>, last: Last) -> Option<Located> {
    windows::begins_with_drive(raw.prefix()).then(|| find(raw, None, &Places::of_windows(), world, last))
}

/// Returns the directory after a change to `to`, as text. `has_drives`: the path may begin with a drive or a server.
pub(crate) fn directory(to: &Arg, cwd: Option<&str>, has_drives: bool) -> Option<String> {
    let text = to.as_str()?;
    let on_drive = has_drives && windows::begins_with_drive(text) || is_on_drive(text, cwd);
    if !on_drive {
        return collapse(cwd, text);
    }
    let path = windows::locate(text, cwd, &Places::of_windows()).path?;
    Some(match path.strip_prefix("//") {
        // With slashes a server would be a directory of this system.
        Some(server) => format!(r"\\{server}"),
        // The root of a drive needs its slash.
        None if path.ends_with(':') => path + "/",
        None => path,
    })
}

/// Returns true if a path is relative to a directory on a drive, on a system that has none.
fn is_on_drive(text: &str, cwd: Option<&str>) -> bool {
    !text.starts_with('/') && cwd.is_some_and(windows::begins_with_drive)
}

/// Returns the location of an unknown path.
pub(crate) fn unknown(raw: &Arg, why: Why) -> Located {
    Located::unknown(raw.written().into_owned(), why, None)
}

/// Classifies a path on another machine or in a container by its text: its symlinks and directory are unknown.
pub(crate) fn elsewhere(raw: &Arg, places: &Places) -> Located {
    let written = raw.written().into_owned();
    match (raw.as_str(), raw.why()) {
        (Some(text), _) => match collapse(None, text) {
            Some(path) => {
                let kind = scope::classify(&path, places);
                Located::found(path, written, kind)
            }
            None => Located { why: None, ..Located::unknown(written, Why::Dynamic, None) },
        },
        (None, why) => Located::unknown(written, why.unwrap_or_default(), None),
    }
}

/// Resolves a path as [`locate`] or as [`locate_entry`], by `last`.
pub(crate) fn find(
    raw: &Arg,
    cwd: Option<&str>,
    places: &Places,
    world: &mut Recorder<'_>,
    last: Last,
) -> Located {
    let written = raw.written().into_owned();
    if is_too_long(cwd, &written) {
        let telling = telling_of_long(&written, places);
        return Located::unknown(written, Why::Size, telling);
    }
    if written.contains('\0') {
        return Located::unknown(written, Why::Encoding, None);
    }
    if raw.pieces().len() > 2 * UNSURE_COMPONENTS_MAX {
        return Located::unknown(written, Why::Budget, None);
    }
    let split = at_slashes(raw);
    let raw = split.as_ref().unwrap_or(raw);
    let is_pattern = |piece: &Piece| match piece {
        Piece::Text(_) => true,
        // Castellan cannot match a glob with a slash in it.
        Piece::Unknown { why, written } => *why == Why::Glob && !written.contains('/'),
    };
    match raw.as_str() {
        Some(text) if places.is_windows => windows::locate(text, cwd, places),
        Some(text) if is_on_drive(text, cwd) => windows::locate(text, cwd, &Places::of_windows()),
        Some(text) => known(text, written.clone(), cwd, places, world, last),
        None if raw.pieces().iter().all(is_pattern) && !places.is_windows => {
            pattern(raw, written, cwd, places, world)
        }
        None if places.is_windows => partly_known(&with_slashes(raw), written, cwd, places),
        None => partly_known(raw, written, cwd, places),
    }
}

/// Returns true if a path, with its working directory, is too long to be resolved.
fn is_too_long(cwd: Option<&str>, written: &str) -> bool {
    let from = cwd.filter(|_| !written.starts_with('/')).unwrap_or_default();
    let components = |path: &str| path.split('/').filter(|component| !component.is_empty()).count();
    from.len() + written.len() > PATH_BYTES_MAX || components(from) + components(written) > COMPONENTS_MAX
}

/// Returns the most sensitive class that a too long path may have, by its last names. `.` is not a name here.
fn telling_of_long(written: &str, places: &Places) -> Option<Kind> {
    let names = written.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".");
    let mut last: Vec<&str> = names.rev().take(COMPONENTS_MAX).collect();
    last.reverse();
    hint_after_dots(&last, places)
}

fn with_slashes(raw: &Arg) -> Arg {
    let pieces = raw.pieces().iter().map(|piece| match piece {
        Piece::Text(text) => Piece::Text(text.replace('\\', "/")),
        unknown @ Piece::Unknown { .. } => unknown.clone(),
    });
    Arg::from_pieces(pieces.collect::<Vec<_>>(), raw.splits())
}

/// Splits patterns at their slashes, for patterns of a search such as `**/*.pyc`: a search never leaves the directory
/// that it begins in. Returns `None` if there is nothing to split, or if a pattern might go up with `..`.
fn at_slashes(raw: &Arg) -> Option<Arg> {
    let is_search =
        |piece: &Piece| matches!(piece, Piece::Unknown { why: Why::Glob, written } if written.contains('/'));
    let climbs = |piece: &Piece| is_search(piece) && piece.written().contains("..");
    if !raw.pieces().iter().any(is_search) || raw.pieces().iter().any(climbs) {
        return None;
    }
    let mut pieces = Vec::new();
    for piece in raw.pieces() {
        if !is_search(piece) {
            pieces.push(piece.clone());
            continue;
        }
        for (at, name) in piece.written().split('/').enumerate() {
            pieces.extend((at > 0).then(|| Piece::Text("/".to_owned())));
            pieces.push(match name.contains(['*', '?', '[']) {
                true => Piece::Unknown { why: Why::Glob, written: name.to_owned() },
                false => Piece::Text(name.to_owned()),
            });
        }
    }
    Some(Arg::from_pieces(pieces, raw.splits()))
}

fn known(
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

/// Locates a path with shell patterns, which remain in the result.
fn pattern(
    raw: &Arg,
    written: String,
    cwd: Option<&str>,
    places: &Places,
    world: &mut Recorder<'_>,
) -> Located {
    let mut components = lexical::components(raw, places);
    let first = components.iter().position(|component| component.unsure != Unsure::No).unwrap_or_default();
    let rest = components.split_off(first);
    // The parent of a matching directory depends on the match.
    let climbs = rest.iter().any(|component| component.written == "..");
    let names: Vec<&str> = components.iter().map(|component| component.written.as_str()).collect();
    let directory = if written.starts_with('/') { format!("/{}", names.join("/")) } else { names.join("/") };
    let parts: Vec<Part<'static>> = rest.iter().map(|component| component.part.clone()).collect();
    let lexical = collapse(cwd, &directory);
    let of = |directory: &str| {
        let directory = places.comparable(directory);
        let known: Vec<&str> = path_components(&directory).collect();
        let known: Vec<Part<'_>> = known.into_iter().map(Part::known).collect();
        let kinds = descents(&rest).map(|rest| scope::kind(&[known.clone(), rest].concat(), places));
        kinds.min_by_key(|kind| kind.scope).unwrap_or_else(|| scope::kind(&known, places))
    };
    let as_written = || lexical.as_deref().map(of);
    let why = match base_of(&written, cwd) {
        None => Why::Dynamic,
        Some(_) if climbs => Why::Glob,
        Some(base) => match real_path(base, &directory, world) {
            None => Why::Unreadable,
            Some(real) => {
                let kind = of(&real);
                let is_linked = lexical.as_ref() != Some(&real);
                let as_written = is_linked.then(as_written).flatten();
                let kind = as_written.map_or(kind, |as_written| kind.with_scope_of(as_written));
                let path = rest.iter().fold(real, |path, component| join(&path, &component.written));
                return Located { is_linked, ..Located::found(path, written, kind) };
            }
        },
    };
    let telling = as_written().filter(|kind| scope::is_telling(kind.scope));
    let anywhere = || scope::hint(&parts, places);
    Located::unknown(written, why, telling.or_else(anywhere))
}

/// Levels that a `**` is tried with. Sensitive files lie at most so far below the directory that holds them.
const DESCENT_LEVELS: usize = 4;

/// Returns the parts of a pattern, with `**` repeated for each number of directories that it may match.
fn descents<'c>(components: &'c [Component]) -> impl Iterator<Item = Vec<Part<'static>>> + 'c {
    let descent = components.iter().position(|component| component.written == "**");
    let levels = if descent.is_some() { 0..DESCENT_LEVELS } else { 1..2 };
    levels.map(move |levels| {
        let repeated = |(at, component): (usize, &Component)| {
            let times = if Some(at) == descent { levels } else { 1 };
            std::iter::repeat_n(component.part.clone(), times)
        };
        components.iter().enumerate().flat_map(repeated).collect()
    })
}

/// Locates a path with parts that may be anything, also `..` and slashes. Only the parts beside them classify it.
fn partly_known(raw: &Arg, written: String, cwd: Option<&str>, places: &Places) -> Located {
    let why = raw.why().unwrap_or_default();
    let components = lexical::components(raw, places);
    let mut best: Option<Kind> = None;
    let mut tell = |kind: Option<Kind>| {
        let better = kind.filter(|kind| best.is_none_or(|best| kind.scope < best.scope));
        best = better.or(best);
    };
    let mut start = 0;
    for (at, component) in components.iter().enumerate() {
        let is_last = at + 1 == components.len();
        if component.unsure != Unsure::Anything && !is_last {
            continue;
        }
        let run = components.get(start..=at).unwrap_or_default();
        let run: Vec<Part<'_>> = run.iter().map(|component| component.part.clone()).collect();
        // The part that breaks a run still has known text beside the unknown: `.env$x`.
        let before = if component.unsure == Unsure::Anything { at } else { at + 1 };
        let directory: Vec<Part<'_>> = run.get(..before - start).unwrap_or_default().to_vec();
        for parts in [&directory, &run] {
            let ends_blank = parts.last().is_none_or(Part::is_blank);
            if !ends_blank && !parts.iter().any(|part| matches!(part, Part::Text(text) if text == "..")) {
                tell(scope::hint(parts, places));
                let from_root =
                    (start == 0).then(|| lexical::from_root(&written, cwd, parts, places)).flatten();
                let kind = from_root.map(|parts| scope::kind(&parts, places));
                tell(kind.filter(|kind| scope::is_telling(kind.scope)));
            }
        }
        start = at + 1;
    }
    Located::unknown(written, why, best)
}

/// Classifies the names after the last `..`, in any location.
fn hint_after_dots(names: &[&str], places: &Places) -> Option<Kind> {
    let start = names.iter().rposition(|name| *name == "..").map_or(0, |at| at + 1);
    let joined = names.get(start..).unwrap_or_default().join("/");
    let text = places.comparable(&joined);
    scope::hint(&path_components(&text).map(Part::known).collect::<Vec<_>>(), places)
}

/// Returns the directory that a path is relative to; `None` if unknown.
fn base_of<'c>(text: &str, cwd: Option<&'c str>) -> Option<&'c str> {
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

fn real_path(base: &str, path: &str, world: &mut Recorder<'_>) -> Option<String> {
    let path = if path.is_empty() { "." } else { path };
    match world.ask(Query::RealPath { base: base.to_owned(), path: path.to_owned() })? {
        Answer::RealPath(real) => Some(real),
        Answer::FileKind(_)
        | Answer::Contents(_)
        | Answer::Executable(_)
        | Answer::Repository(_)
        | Answer::Newest(_)
        | Answer::Process(_) => None,
    }
}

fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

impl Located {
    fn found(path: String, raw: String, kind: Kind) -> Located {
        Located {
            path: Some(path),
            raw,
            scope: Some(kind.scope),
            place: Some(kind.place),
            about: Some(kind.about),
            is_linked: false,
            why: None,
        }
    }

    /// Converts the location to unknown, for a path that cannot be resolved to its end.
    pub(crate) fn without_end(self) -> Located {
        let scope = self.scope.filter(|scope| scope::is_telling(*scope));
        Located { path: None, scope, place: None, why: Some(Why::Unreadable), ..self }
    }

    /// `telling`: the class that the known parts show. The location is unknown even then.
    fn unknown(raw: String, why: Why, telling: Option<Kind>) -> Located {
        Located {
            path: None,
            raw,
            scope: telling.map(|kind| kind.scope),
            place: None,
            about: telling.map(|kind| kind.about),
            is_linked: false,
            why: Some(why),
        }
    }
}
