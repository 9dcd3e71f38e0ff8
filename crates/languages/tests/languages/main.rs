//! Programs of each language, laws and limits.

mod cases;
mod laws;
mod limits;
