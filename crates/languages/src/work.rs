//! [`Work`]: what reading programs may cost, in units of about 200 ns, and never in time: a replay finds the same. It must not know
//! what is done for it.

use crate::limits::WORK_MAX;

/// Units of work that are left, for one program or for several that are read in turn.
#[derive(Debug, Clone)]
pub struct Work {
    left: u64,
}

impl Default for Work {
    /// For all programs of one call.
    fn default() -> Work {
        Work { left: WORK_MAX }
    }
}

impl Work {
    /// Units that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
    }
}
