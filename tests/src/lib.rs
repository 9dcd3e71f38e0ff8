//! The rig of the end-to-end tests: real agents, driven by scripted models on loopback, in temporary homes. It uses
//! castellan only like a user: by its binaries, its configuration files and its log.

pub mod agents;
pub mod attended;
pub mod consent;
pub mod control;
pub mod falco;
pub mod freeing;
pub mod home;
pub mod hook;
pub mod machine;
pub mod model;
pub mod plays;
pub mod plugin;
pub mod process;
pub mod run;
pub mod scenario;
pub mod sdk;
pub mod terminal;
pub mod wait;
pub mod walks;

mod anthropic;
mod chat;
mod etc;
mod gemini;
mod http;
mod openai;
mod tmux;
