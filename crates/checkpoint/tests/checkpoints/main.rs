//! Checkpoints on a real file system.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod destructions;
mod world;
