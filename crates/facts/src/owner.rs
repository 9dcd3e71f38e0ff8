//! Owners of the code that a call runs: the project's own files, files that are missing, and files that version control
//! changes. Code is the project's own if neither this call nor an earlier one of the session has created or changed it.

mod missing;
mod operations;
mod own;
mod plain;
mod trees;

pub(crate) use missing::{settle, why_missing};
pub(crate) use operations::LAYOUT;
pub(crate) use operations::REMOTE;
pub use operations::{changes_tree, keeps_code, sets_remote};
pub(crate) use own::owned_opaque_files;
pub(crate) use plain::is_plain;
pub(crate) use trees::{changed_trees, root};
