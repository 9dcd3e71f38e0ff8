//! castellan as a service: how a daemon gets its sockets, and how the next one takes over.
#![cfg(test)]

mod activation;
mod rig;
mod upgrade;
mod versions;
