//! What this machine enforces for this user, found by use: each check runs the complete launcher with a plan and a program
//! that does nothing. The presence of a program or a file is no answer.

use crate::capabilities::Capabilities;

mod cgroups;
mod container;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

pub use cgroups::find as find_cgroups;
pub use container::markers;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::probe;
#[cfg(target_os = "linux")]
pub use linux::probe;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What can be used.
    pub can: Capabilities,
    /// Each check, for people.
    pub checks: Vec<Check>,
    /// Signs that this is a container, which often permits less than its machine.
    pub container: Vec<String>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub what: &'static str,
    /// It works.
    pub works: bool,
    /// How it was tested.
    pub tested: &'static str,
    /// What was found: a version, or the reason of the failure.
    pub found: String,
    /// What its absence costs.
    pub costs: &'static str,
}
