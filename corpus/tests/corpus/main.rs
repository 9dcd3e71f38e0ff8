//! The labelled calls and the list of limits.
#![cfg(test)]

mod labelled;
mod limits;
