//! The labelled calls and the list of limits.

mod labelled;
mod limits;
