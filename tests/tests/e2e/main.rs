//! Real hooks, daemons and command lines on real sockets.

mod bad_input;
mod daemon;
mod hook;
