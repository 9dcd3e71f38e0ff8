//! Real hooks, daemons and command lines on real sockets.
#![cfg(test)]

mod bad_input;
mod daemon;
mod hook;
