//! [`Workspace`]: the workspace of a session.

use serde::{Deserialize, Serialize};

/// The workspace of a session, fixed at its first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workspace {
    /// The repository or else the directory, with symlinks resolved; empty if castellan could not read the directory.
    pub(crate) path: String,
    /// Paths can be inside the workspace. False for `/`, for a home and for a directory that contains a home.
    pub(crate) is_border: bool,
}

impl Workspace {
    /// The workspace of a session whose first directory could not be read. It stays empty for the whole session.
    pub(crate) fn nowhere() -> Workspace {
        Workspace { path: String::new(), is_border: false }
    }

    /// The directory whose contents belong to the workspace; empty if there is none.
    pub(crate) fn inside(&self) -> &str {
        if self.is_border { &self.path } else { "" }
    }
}
