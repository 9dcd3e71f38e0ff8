//! The parser `syntax`: the tables of the old parser, its own tables, laws.

mod cases;
#[path = "../shared/collected.rs"]
mod collected;
#[path = "../parse/dump.rs"]
mod dump;
mod laws;
mod linear;
