//! castellan as a service: with programs in the place of `systemctl` and `launchctl` that record what they are asked, with
//! castellan's own supervising process, and with a real systemd in a namespace. How a daemon gets its sockets, and how the
//! next one takes over. Pauses, and hooks that follow the service.
#![cfg(test)]

mod activation;
mod background;
mod ci;
mod devcontainer;
mod hooks;
mod kit;
mod launchd;
mod managed;
mod namespaces;
mod outside;
mod pause;
mod privacy;
mod real;
mod rig;
mod speed;
mod system;
mod systemd;
mod upgrade;
mod versions;
