//! Checkpoints on a real file system.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod attacks;
mod damage;
mod destructions;
mod limits;
mod listing;
mod odd;
mod systems;
mod world;
