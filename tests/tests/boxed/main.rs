//! Sandboxes by castellan's own commands: `castellan sandbox run`, and `castellan run --sandbox` with scripts and with the
//! real agents.
#![cfg(test)]

mod agents;
mod command;
mod require;
mod rig;
mod run;
mod terminal;
