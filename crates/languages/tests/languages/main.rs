//! Programs of each language, laws and limits.
#![cfg(test)]

mod cases;
mod laws;
mod limits;
