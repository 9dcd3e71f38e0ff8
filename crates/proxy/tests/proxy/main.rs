//! The proxy: its readers of what clients send, as cases in files and as laws, and real sockets from end to end.

mod cases;
mod ended;
mod hello;
mod plain;
mod support;
mod tunnels;
