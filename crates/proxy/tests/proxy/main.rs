//! The proxy: its readers of what clients send, as cases in files and as laws, and real sockets from end to end.
#![cfg(test)]

mod bench;
mod cases;
mod clients;
mod ended;
mod hello;
mod laws;
mod limits;
#[expect(unreachable_pub, reason = "the file is a module of castellan-corpus")]
#[path = "../../../../corpus/src/limits.rs"]
mod listed;
mod plain;
mod support;
mod tunnels;
