//! [`CallView`]: the facts of a call that a plan is compared with.

use castellan_event::Facts;

/// A call and its time, as the caller knows them.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// Commands and effects.
    pub facts: &'a Facts,
    /// The workspace, symlinks resolved: relative paths of a plan begin here.
    pub root: &'a str,
    /// The branch that is checked out where the call begins; `None` if it is not known, or if this is not the repository
    /// of the workspace.
    pub branch: Option<&'a str>,
    /// Calls under the plan before this one.
    pub calls_so_far: u64,
    /// The start of the plan, in Unix seconds.
    pub started_s: i64,
    /// The time of the call, in Unix seconds.
    pub now_s: i64,
}
