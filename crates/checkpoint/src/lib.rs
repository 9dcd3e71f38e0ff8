//! L1: checkpoints. The crate lists a directory tree, compares two listings, keeps copies of files in a private store, and
//! puts them back.
//!
//! An agent owns the tree and may change it at any moment. So each file is opened from the descriptor of its directory,
//! without following a link and without crossing a mount. Contents have a hash, which is checked before they are put back.
//! Nothing is put in place before all of it is on the disk.
//!
//! The crate must not know calls, agents, verdicts and settings. It starts no program, and it knows nothing of git but
//! the name of its directory.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod beneath;
mod changes;
mod copy;
mod difference;
mod error;
mod gather;
mod left_out;
mod limits;
mod listing;
mod manifest;
mod restore;
mod stat;
mod store;

pub use changes::Changes;
pub use difference::{Comparison, Difference, Side};
pub use error::RestoreError;
pub use limits::{
    AGE_MAX, CEILING_BYTES, CHECKPOINT_BYTES_MAX, CHECKPOINT_FILES_MAX, COUNT_MAX, DEPTH_MAX, ENTRIES_MAX,
    FILE_BYTES_MAX, NAME_BYTES_MAX,
};
pub use listing::{Entry, Limits, ListError, Listing};
pub use restore::Restored;
pub use stat::{Kind, Stat, Time};
pub use store::{Budget, Checkpoint, Listed, Opened, Scope, Store, StoreError, TakeError, Usage};
