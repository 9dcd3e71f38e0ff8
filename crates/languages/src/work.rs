//! [`Work`] and [`Meter`]: what reading programs may cost, in units of about 200 ns, and never in time: a replay finds the same. It must not know
//! what is done for it.

use std::cell::Cell;

use crate::limits::{READER_BYTES_PER_WORK, WORK_MAX};

/// Units of work that were done for one program, or for all programs of one call that are read in turn.
#[derive(Debug, Clone, Default)]
pub struct Work {
    spent: u64,
}

impl Work {
    /// Units that are left.
    pub fn left(&self) -> u64 {
        WORK_MAX.saturating_sub(self.spent)
    }

    /// Units that were done, those included by which the last one went beyond what was left.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    pub(crate) fn spend(&mut self, units: u64) {
        self.spent = self.spent.saturating_add(units);
    }
}

/// What the run of one program may cost. What is asked for is paid before it is done; what costs more than is left is not done, nor is
/// anything after it, so that no step goes beyond.
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

    /// Whether it may be done.
    pub(crate) fn pays(&self, units: u64) -> bool {
        if self.is_over.get() || units > self.left() {
            self.end();
            return false;
        }
        self.spent.set(self.spent.get() + units);
        true
    }

    /// Work that only tells afterwards what it was: parsing, which is told before what is left.
    pub(crate) fn spend(&self, units: u64) {
        self.spent.set(self.spent.get().saturating_add(units));
    }

    /// Nothing more is done.
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

/// What a reader of our own may do for one text, in bytes that it looks at; what it makes costs as much as some bytes.
#[derive(Debug)]
pub(crate) struct Meter {
    bytes: Cell<u64>,
    bytes_max: u64,
}

impl Meter {
    pub(crate) fn of(units: u64) -> Meter {
        Meter { bytes: Cell::new(0), bytes_max: units.saturating_mul(READER_BYTES_PER_WORK) }
    }

    /// Every look at the text is paid for where it is done.
    pub(crate) fn pay(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_add(bytes as u64));
    }

    /// From now on a reader takes what follows for the end of the text.
    pub(crate) fn is_over(&self) -> bool {
        self.bytes.get() > self.bytes_max
    }

    pub(crate) fn units(&self) -> u64 {
        self.bytes.get().div_ceil(READER_BYTES_PER_WORK)
    }
}
