//! Agents that castellan locks down beyond its hook.
#![cfg(test)]

mod settings;
