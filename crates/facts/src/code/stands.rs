//! The file of a program, for its effects. Must not know languages.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use crate::next::{From, Place, Program};
use crate::path;

/// Returns the place of a program that is not read: the file that loads it, or its own file if the agent typed it.
pub(super) fn unread(program: &Program, place: Place) -> Place {
    let own = match &program.from {
        From::File(file) if place.loader.is_none() && place.run.script.is_none() => file_of(file, &place),
        From::File(_) | From::Text(_) => None,
    };
    Place { file: place.loader.clone().or(own), ..place }
}

/// Returns the absolute path of the file that runs, or a pattern that matches it.
pub(super) fn file_of(file: &Arg, place: &Place) -> Option<String> {
    let is_pattern = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    // A pattern at the beginning may match an option.
    let is_known = file.as_str().is_some()
        || place.run.remote.is_empty()
            && file.prefix().starts_with(|first: char| first != '-')
            && file.pieces().iter().all(is_pattern);
    let path = is_known.then(|| path::collapse(place.cwd.as_deref(), &file.written()))?;
    path.filter(|path| !path::is_stream(path))
}
