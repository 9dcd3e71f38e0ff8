//! Enforced versus requested, for people and for the audit record.

use serde::{Deserialize, Serialize};

/// What the kernel enforces of a policy, item by item. It holds once the launcher has started the command, because the
/// launcher applies all of a plan or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// One item for each part of the request, in the order of the policy.
    pub items: Vec<Item>,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The part.
    pub aspect: Aspect,
    /// The path, or the value; empty where the aspect says all.
    pub requested: String,
    /// Reports whether the kernel enforces it wholly.
    pub enforced: bool,
    /// How the kernel enforces it, or why it does not.
    pub how: String,
}

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Writing is limited to the writable paths.
    Writes,
    /// Reading is limited to the listed paths.
    Reads,
    /// A path stays read-only in a writable directory.
    Protected,
    /// A path cannot be read.
    Secret,
    /// A socket cannot be reached.
    Socket,
    /// Devices other than the harmless ones cannot be used.
    Devices,
    /// A private `/tmp`.
    PrivateTmp,
    /// Other processes can be neither seen nor touched.
    Processes,
    /// Processes end with the command.
    End,
    /// The network.
    Network,
    /// No new privileges, no capabilities.
    Privileges,
    /// Dangerous system calls.
    SystemCalls,
    /// Input into the caller's terminal.
    Terminal,
    /// A limit of processes.
    ProcessLimit,
    /// A limit of memory.
    MemoryLimit,
    /// A limit of processor time.
    CpuLimit,
    /// A limit of file sizes.
    FileLimit,
    /// A limit of open files.
    OpenFilesLimit,
    /// A limit of time.
    TimeLimit,
    /// A limit of private places.
    SpaceLimit,
}

impl Report {
    pub(crate) fn add(
        &mut self,
        aspect: Aspect,
        requested: impl Into<String>,
        enforced: bool,
        how: impl Into<String>,
    ) {
        self.items.push(Item { aspect, requested: requested.into(), enforced, how: how.into() });
    }

    /// Returns the items that the kernel does not enforce.
    pub fn missing(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.enforced)
    }

    /// Reports whether every item is enforced.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        self.missing().next().is_none()
    }
}
