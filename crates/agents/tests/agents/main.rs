//! Payloads, replies and settings of each agent.
#![cfg(test)]

mod agents;
mod golden;
mod native;
mod settings;
mod strangers;
mod transcript;
mod trust;

// The build script reads the data files of agents.
#[path = "../../build/payloads.rs"]
mod payloads;
#[path = "../../build/read.rs"]
mod read;
#[path = "../../build/shape.rs"]
mod shape;
#[path = "../../build/write.rs"]
mod write;
