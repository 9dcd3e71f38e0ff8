//! L0: macOS's answers about processes, peers of sockets, mounts and accounts.
//!
//! [`entry`], [`start`] and [`places`] read the bytes that the kernel returns. They are pure and compile on every system, so
//! that tests on Linux run them. `system` makes the calls and exists on macOS only. Its unsafe code is in `sys.rs`.
//!
//! The crate must not know the use of an answer.
//!
//! The offsets in the bytes are those of Apple's headers. `layout.c` states them as assertions, and `cargo xtask
//! check-macos` compiles it for both processors.

mod bytes;
mod entry;
mod limits;
mod places;
mod start;
#[cfg(target_os = "macos")]
mod sys;
#[cfg(target_os = "macos")]
mod system;

pub use entry::{Entry, State, entries, entry};
pub use places::{Places, places};
pub use start::{Start, start};
#[cfg(target_os = "macos")]
pub use system::{
    Account, Mount, Peer, account, account_named, boot_session, deny_debuggers, executable_of, mounts,
    peer_of, places_of, process, processes, start_of,
};
