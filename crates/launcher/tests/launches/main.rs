//! Real launches: each test starts the launcher at one or more levels and looks at what the command could do.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and owns its files"
)]

mod basics;
mod limits;
mod ordinary_user;
mod short_of;
mod terminal;
mod world;
