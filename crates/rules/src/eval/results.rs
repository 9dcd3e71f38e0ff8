//! Known results of predicates. Each result has the number of its row, and each level has the first row since which its
//! part is unchanged. A result is valid while the part of its predicate's level is unchanged.

use std::cell::Cell;

use castellan_event::Level;

pub(super) struct Results {
    /// By predicate: the number of the row, and the result in the lowest bit. 0 if nothing is known.
    all: Box<[Cell<u32>]>,
    /// The number of the row; the first is 1.
    row: u32,
    /// By level: the first row since which the level's part is unchanged.
    since: [u32; Level::ALL.len()],
}

impl Results {
    pub(super) fn new(predicates: usize) -> Self {
        Self { all: vec![Cell::new(0); predicates].into(), row: 1, since: [1; Level::ALL.len()] }
    }

    /// Forgets the results of this level and finer levels.
    pub(super) fn forget(&mut self, from: Level) {
        self.row += 1;
        if self.row > u32::MAX >> 1 {
            self.all.iter().for_each(|one| one.set(0));
            (self.row, self.since) = (1, [1; Level::ALL.len()]);
        }
        for since in self.since.iter_mut().skip(from as usize) {
            *since = self.row;
        }
    }

    /// Returns the known result of a predicate of a level.
    pub(super) fn get(&self, predicate: usize, level: Level) -> Option<bool> {
        let known = self.all.get(predicate)?.get();
        (known >> 1 >= *self.since.get(level as usize)?).then_some(known & 1 == 1)
    }

    pub(super) fn set(&self, predicate: usize, holds: bool) {
        if let Some(known) = self.all.get(predicate) {
            known.set(self.row << 1 | u32::from(holds));
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::Level;

    use super::Results;

    #[test]
    fn what_is_coarser_than_the_change_stays() {
        let mut results = Results::new(3);
        for (predicate, holds) in [(0, true), (1, false), (2, true)] {
            results.set(predicate, holds);
        }
        results.forget(Level::Command);
        let known = |results: &Results| {
            [(0, Level::Call), (1, Level::Command), (2, Level::Effect)]
                .map(|(at, level)| results.get(at, level))
        };
        assert_eq!(known(&results), [Some(true), None, None]);
        results.set(1, true);
        results.forget(Level::Effect);
        assert_eq!(known(&results), [Some(true), Some(true), None]);
        results.row = u32::MAX >> 1;
        results.forget(Level::Written);
        assert_eq!(known(&results), [None; 3], "numbers begin anew");
        results.set(0, false);
        assert_eq!(known(&results), [Some(false), None, None]);
    }
}
