//! Command lines, code and limits of program models.
#![cfg(test)]

mod code;
mod invoke;
mod limits;
mod readers;
