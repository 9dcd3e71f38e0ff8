//! Programs of each language, laws and limits.
#![cfg(test)]

mod apart;
mod cases;
mod hostile;
mod hostile_javascript;
mod hostile_php;
mod hostile_ruby;
mod laws;
mod limits;
mod prefixes;
mod shapes;
