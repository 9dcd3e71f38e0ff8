//! Packages of `cargo xtask dist`: the archive with its install script, the Debian package, and the agents' own forms,
//! installed and driven by the real agents with scripted models.
#![cfg(test)]

mod archive;
mod claude;
mod debian;
mod falco;
mod others;
mod rig;
mod skills;
