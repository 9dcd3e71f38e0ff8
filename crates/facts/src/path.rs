//! Paths: resolves an argument to its real location and classifies it. Asks the world for the targets of symlinks only.
//! Must not know the program of the argument.

mod escape;
mod known;
mod lexical;
mod partly;
mod pattern;
mod special;
mod windows;

use castellan_event::{PATH_BYTES_MAX, Recorder, Scope, Why};
use castellan_programs::{Arg, Piece};

pub use crate::scope::Places;
pub(crate) use escape::leaves_workspace;
pub use special::dev_tcp;
pub(crate) use special::is_stream;

use crate::limits::{COMPONENTS_MAX, UNSURE_COMPONENTS_MAX};
use crate::scope::{self, Kind};
use known::known;
pub(crate) use lexical::collapse;
use partly::{partly_known, telling_of_long};
use pattern::pattern;

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
