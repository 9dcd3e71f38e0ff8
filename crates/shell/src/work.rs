//! [`Work`]: how much was done, in units that do not depend on a clock: the same text gives the same answer on any machine.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::limits::{BYTES_PER_WORK, WORK_FOR_FILES_MAX, WORK_MIN, WORK_PER_BYTE};

/// The work that is left.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
    /// Files for which there was more.
    files: BTreeSet<Rc<str>>,
    /// What there may still be for files.
    for_files: u64,
}

impl Work {
    /// For a text of so many bytes.
    pub(crate) fn new(bytes: usize) -> Work {
        let left = WORK_MIN + (bytes as u64).saturating_mul(WORK_PER_BYTE);
        Work { left, files: BTreeSet::new(), for_files: WORK_FOR_FILES_MAX }
    }

    /// Adds what reading a file takes, once for each.
    pub(crate) fn grant(&mut self, file: &Rc<str>, bytes: usize) {
        if self.left == 0 || !self.files.insert(Rc::clone(file)) {
            return;
        }
        let more = (bytes as u64).saturating_mul(WORK_PER_BYTE).min(self.for_files);
        self.for_files -= more;
        self.left += more;
    }

    /// Takes so many units off. False when there are none left.
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        self.left = self.left.saturating_sub(units);
        self.left > 0
    }

    /// The same for text that was made.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend(1 + bytes as u64 / BYTES_PER_WORK)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }
}
