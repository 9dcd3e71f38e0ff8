//! Locked-down agents: the real agents, with scripted models that call tools all the same.
#![cfg(test)]

mod observer;
mod run;
mod sdk;
mod settings;
