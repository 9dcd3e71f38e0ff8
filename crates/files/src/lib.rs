//! L0: how castellan opens, reads and writes files. A pipe, a folder, a device or a file without an end can lie in the place of any
//! file, and somebody else can have written it. So a file is opened without waiting, must be a regular file, and is read within
//! a limit; it is written whole or not at all.
//!
//! The crate knows no path and no format. Lints keep other crates from opening files in another way (`clippy.toml`).

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod explain;
mod guard;
mod new;
mod open;
mod read;

pub use explain::explained;
pub use guard::{Guard, is_distrusted};
pub use new::{Access, NewFile, remove_leftovers, sync_folder, write_private, write_private_by};
pub use open::{Links, open_to_read, open_with};
pub use read::{at_most, is_changed, of_system, open_guarded, read_bytes, read_guarded, read_text};
