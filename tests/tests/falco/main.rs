//! The same scripted sessions with castellan's own engine and with a Falco: each answer, each command of a person, and each
//! record are equal. The Falco is scripted, or the one that `CASTELLAN_TEST_FALCO` names (`cargo xtask test falco`).
#![cfg(test)]

mod compare;
mod monitor;
mod sessions;
mod steady;
mod step;
