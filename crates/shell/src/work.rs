//! [`Work`]: how much was done, in units that do not depend on a clock: the same text gives the same answer on any machine.

use crate::limits::{BYTES_PER_WORK, WORK_FOR_FILES_MAX, WORK_MAX, WORK_MIN, WORK_PER_BYTE};

/// The work that is left.
#[derive(Debug, Default)]
pub struct Work {
    left: u64,
    /// What there may still be for files.
    for_files: u64,
    /// The work that was done.
    spent: u64,
}

impl Work {
    /// So many units.
    pub fn of(units: u64) -> Work {
        Work { left: units, ..Work::default() }
    }

    /// For walking texts of so many bytes together, and the files that they run.
    pub fn of_text(bytes: usize) -> Work {
        let units = (bytes as u64).saturating_mul(WORK_PER_BYTE).saturating_add(WORK_MIN);
        Work { left: units.min(WORK_MAX), for_files: WORK_FOR_FILES_MAX, spent: 0 }
    }

    /// Adds what reading a file takes, as long as there is something for files.
    pub(crate) fn grant(&mut self, bytes: usize) {
        if self.left == 0 {
            return;
        }
        let more = (bytes as u64).saturating_mul(WORK_PER_BYTE).min(self.for_files);
        self.for_files -= more;
        self.left += more;
    }

    /// Takes so many units off. False when there are none left.
    pub fn spend(&mut self, units: u64) -> bool {
        self.spent = self.spent.saturating_add(units.min(self.left));
        self.left = self.left.saturating_sub(units);
        self.left > 0
    }

    /// The same for text that was made or compared.
    pub fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend(1 + bytes as u64 / BYTES_PER_WORK)
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Units that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Units that were done.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}
