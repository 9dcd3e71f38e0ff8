//! Programs of each language, laws and limits.
#![cfg(test)]

mod apart;
mod cases;
mod hostile;
mod laws;
mod limits;
