//! [`joined`]: several arguments as one text.

use crate::arg::{Arg, Piece};

/// Joins arguments by blanks.
pub(super) fn joined(args: &[Arg]) -> Arg {
    let splits = args.iter().any(Arg::splits);
    let blank = || Piece::Text(" ".to_owned());
    let pieces = args
        .iter()
        .enumerate()
        .flat_map(|(number, arg)| (number > 0).then(blank).into_iter().chain(arg.pieces().iter().cloned()));
    Arg::from_pieces(pieces, splits)
}
