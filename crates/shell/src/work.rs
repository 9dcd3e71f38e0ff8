//! [`Work`]: a budget in units that do not depend on a clock. The same text gives the same result on any machine.

use crate::limits::{BYTES_PER_WORK, WORK_FOR_FILES_MAX, WORK_MAX, WORK_MIN, WORK_PER_BYTE};

/// The remaining budget.
#[derive(Debug, Default)]
pub struct Work {
    left: u64,
    /// Units that may still be added for files.
    for_files: u64,
    /// Units already spent.
    spent: u64,
}

impl Work {
    /// Returns a budget of this many units.
    pub fn of(units: u64) -> Work {
        Work { left: units, ..Work::default() }
    }

    /// Returns the budget to walk texts of this total size, and the files that the texts run.
    pub fn of_text(bytes: usize) -> Work {
        let units = (bytes as u64).saturating_mul(WORK_PER_BYTE).saturating_add(WORK_MIN);
        Work { left: units.min(WORK_MAX), for_files: WORK_FOR_FILES_MAX, spent: 0 }
    }

    /// Adds the cost of reading a file, up to the limit for all files.
    pub(crate) fn grant(&mut self, bytes: usize) {
        if self.left == 0 {
            return;
        }
        let more = (bytes as u64).saturating_mul(WORK_PER_BYTE).min(self.for_files);
        self.for_files -= more;
        self.left += more;
    }

    /// Spends units. Returns false when none are left.
    pub fn spend(&mut self, units: u64) -> bool {
        self.spent = self.spent.saturating_add(units.min(self.left));
        self.left = self.left.saturating_sub(units);
        self.left > 0
    }

    /// Spends units for text that was built or compared.
    pub fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend(1 + bytes as u64 / BYTES_PER_WORK)
    }

    /// Returns true when no units are left.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Returns the remaining units.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the units spent.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}
