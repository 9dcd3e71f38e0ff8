//! Command lines, code and limits of program models.

mod code;
mod invoke;
mod limits;
