//! Shell text to trees: cases in `tests/data/parse_*.txt`, text that was made to break parsers, and laws.

mod cases;
mod dump;
mod hostile;
mod laws;
