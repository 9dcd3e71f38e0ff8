//! Attacks on sandboxes, and the harness that runs each attack in each sandbox.
//!
//! The program `castellan-attack` tries one attack of [`attempts`]. The harness prepares what it aims at, runs it without a
//! sandbox and in sandboxes, and looks itself at whether the attack got anything. The attacks must not know any sandbox.

pub mod attempts;
pub mod harness;
pub mod outcome;
pub mod sys;
pub mod targets;
