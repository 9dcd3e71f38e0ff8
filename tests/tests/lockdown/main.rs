//! Locked-down agents: the real agents, with scripted models that call tools all the same.
#![cfg(test)]

mod sdk;
mod settings;
