//! L0: castellan's way to open, read and write files. A pipe, a folder, a device or an endless file can be in the place
//! of any file, and another user can have written it. So castellan opens a file without waiting, requires a regular
//! file, and reads within a limit. It writes a file whole or not at all.
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
pub use read::{
    at_most, is_changed, of_system, open_guarded, read_bytes, read_guarded, read_opened, read_text, text,
};
