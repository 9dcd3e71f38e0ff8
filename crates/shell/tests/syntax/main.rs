//! The parser `syntax`: the tables of the old parser, its own tables, laws.

mod cases;
#[path = "../shared/collected.rs"]
mod collected;
mod dump;
mod hostile;
mod laws;
mod linear;
