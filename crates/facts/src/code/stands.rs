//! The file in which a program stands. It must not know languages.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::{From, Place, Program};
use crate::path;

/// Where a program counts as standing that is not read: in what loads it, or in its own file where that is what is typed.
pub(super) fn unread<'p>(program: &Program, place: Place<'p>) -> Place<'p> {
    let own = match &program.from {
        From::File(file) if place.loader.is_none() && place.run.script.is_none() => file_of(file, &place),
        From::File(_) | From::Text(_) => None,
    };
    Place { file: place.loader.clone().or(own), ..place }
}

/// The file that is run, absolute; a pattern of files where it is one of them.
pub(super) fn file_of(file: &Arg, place: &Place<'_>) -> Option<String> {
    let is_pattern = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    // One that begins with a pattern may be an option.
    let is_known = file.as_str().is_some()
        || place.run.remote.is_empty()
            && file.prefix().starts_with(|first: char| first != '-')
            && file.pieces().iter().all(is_pattern);
    let path = is_known.then(|| path::collapse(place.cwd.as_deref(), &file.written()))?;
    path.filter(|path| !path::is_stream(path))
}
