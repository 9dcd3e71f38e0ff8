//! The parser `syntax`: the tables of the old parser, its own tables, laws, and a comparison with the old parser.

mod cases;
#[path = "../shared/collected.rs"]
mod collected;
mod compared;
#[path = "../parse/dump.rs"]
mod dump;
mod laws;
mod linear;
