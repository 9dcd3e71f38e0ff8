//! [`Work`] and [`Meter`]: the cost limit of reading programs, in units of about 200 ns. The limit is never in time, so
//! that a replay gives the same result. Must not know what the work is done for.

use std::cell::Cell;

use crate::limits::{READER_BYTES_PER_WORK, WORK_MAX};

/// Units of work done for one program, or for all programs that one call reads in turn.
#[derive(Debug, Clone, Default)]
pub struct Work {
    spent: u64,
}

impl Work {
    /// Work of which so many units are left.
    pub(crate) fn with_left(units: u64) -> Work {
        Work { spent: WORK_MAX.saturating_sub(units) }
    }

    /// Units that are left.
    pub fn left(&self) -> u64 {
        WORK_MAX.saturating_sub(self.spent)
    }

    /// Units that were done, including those by which the last program went over the limit.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    pub(crate) fn spend(&mut self, units: u64) {
        self.spent = self.spent.saturating_add(units);
    }
}

/// The budget for running one program. A step pays before it runs. A step that costs more than is left does not run,
/// and the budget is then over for all later steps. So the run never exceeds the budget.
#[derive(Debug, Default)]
pub(crate) struct Purse {
    spent: Cell<u64>,
    most: u64,
    is_over: Cell<bool>,
}

impl Purse {
    pub(crate) fn of(most: u64) -> Purse {
        Purse { most, ..Purse::default() }
    }

    /// Pays for a step; returns whether the step may run.
    pub(crate) fn pays(&self, units: u64) -> bool {
        if self.is_over.get() || units > self.left() {
            self.end();
            return false;
        }
        self.spent.set(self.spent.get() + units);
        true
    }

    /// Adds work whose cost is known only afterwards: parsing, which gets the remaining units as its limit.
    pub(crate) fn spend(&self, units: u64) {
        self.spent.set(self.spent.get().saturating_add(units));
    }

    /// Ends the budget: no further step runs.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    pub(crate) fn left(&self) -> u64 {
        self.most.saturating_sub(self.spent.get())
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent.get()
    }
}

/// The budget of a hand-written reader for one text, in bytes that it looks at. A node costs a fixed number of bytes.
#[derive(Debug)]
pub(crate) struct Meter {
    bytes: Cell<u64>,
    bytes_max: u64,
}

impl Meter {
    pub(crate) fn of(units: u64) -> Meter {
        Meter { bytes: Cell::new(0), bytes_max: units.saturating_mul(READER_BYTES_PER_WORK) }
    }

    /// Every look at the text pays at the place where it happens.
    pub(crate) fn pay(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_add(bytes as u64));
    }

    /// Once the budget is over, a reader treats the rest as the end of the text.
    pub(crate) fn is_over(&self) -> bool {
        self.bytes.get() > self.bytes_max
    }

    pub(crate) fn units(&self) -> u64 {
        self.bytes.get().div_ceil(READER_BYTES_PER_WORK)
    }
}
