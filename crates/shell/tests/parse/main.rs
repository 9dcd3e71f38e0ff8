//! Shell text to trees: cases in `tests/data/parse_*.txt`, hostile text, and laws.

mod dump;
mod hostile;
mod laws;
