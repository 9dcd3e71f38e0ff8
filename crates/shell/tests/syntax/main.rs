//! The parser `syntax`: the tables of the old parser, its own tables, laws.

#[path = "../shared/accepted.rs"]
mod accepted;
mod cases;
#[path = "../shared/collected.rs"]
mod collected;
mod dump;
#[path = "../shared/generated.rs"]
mod generated;
mod hostile;
mod laws;
mod linear;
#[path = "../shared/print.rs"]
mod print;
mod round;
mod shells;
