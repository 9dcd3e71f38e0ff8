//! The engine beside a scripted Falco, which judges rows by the exported rules and posts alerts over HTTP.
#![cfg(test)]

mod configured;
mod falco;
mod late;
mod one_call;
mod unreliable;
mod world;
