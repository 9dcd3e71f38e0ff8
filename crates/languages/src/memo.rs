//! Cache of readings. An agent runs the same tests and builds again and again, and most files that they load are
//! unchanged. A reading depends only on its inputs, so a cached one equals a new one. Must not know the purpose of a
//! reading.
//!
//! Each thread has its own cache: readings share texts through `Rc`, which is not thread-safe.

use std::cell::RefCell;
use std::collections::HashMap;

use castellan_event::PartsHash;

use crate::act::{Reading, Start};
use crate::language::Language;
use crate::limits::{KEPT_ACTS_MAX, KEPT_WORK_MIN};
use crate::run::End;
use crate::work::Work;

/// SHA-256 of the inputs, so that nobody can craft two different programs with one key.
type Key = [u8; 32];

/// A reading and its cost.
#[derive(Debug)]
struct Kept {
    reading: Reading,
    units: u64,
    /// For a reading that ran out of work: the work that was left. Another amount would give another reading.
    within: Option<u64>,
}

/// The cache. The newer half replaces the older half when it is full; entries not used since then are dropped.
#[derive(Debug, Default)]
struct Memo {
    newer: HashMap<Key, Kept>,
    older: HashMap<Key, Kept>,
    /// Size of the newer half: one for each reading, act and module.
    acts: usize,
}

thread_local! {
    static MEMO: RefCell<Memo> = RefCell::default();
}

/// Returns the reading that `read` would give, and charges its price. A cached reading costs the same, so that a
/// repeated call gives the same result.
pub(crate) fn kept(
    language: Language,
    text: &str,
    start: &Start,
    work: &mut Work,
    read: impl FnOnce(&mut Work) -> (Reading, End),
) -> Reading {
    let key = key(language, text, start);
    if let Some((reading, units)) = MEMO.with_borrow_mut(|memo| memo.find(&key, work.left())) {
        work.spend(units);
        return reading;
    }
    let (left, before) = (work.left(), work.spent());
    let (reading, end) = read(work);
    let units = work.spent().saturating_sub(before);
    if units >= KEPT_WORK_MIN && end != End::GivenUp {
        let within = (end != End::Whole).then_some(left);
        MEMO.with_borrow_mut(|memo| memo.keep(key, Kept { reading: reading.clone(), units, within }));
    }
    reading
}

impl Memo {
    fn find(&mut self, key: &Key, left: u64) -> Option<(Reading, u64)> {
        if let Some(kept) = self.older.remove(key) {
            self.keep(*key, kept);
        }
        let is_same = |kept: &&Kept| kept.within.map_or(kept.units <= left, |within| within == left);
        let kept = self.newer.get(key).filter(is_same)?;
        Some((kept.reading.clone(), kept.units))
    }

    fn keep(&mut self, key: Key, kept: Kept) {
        // A complete reading is more often useful.
        if kept.within.is_some() && self.newer.get(&key).is_some_and(|whole| whole.within.is_none()) {
            return;
        }
        let acts = 1 + kept.reading.acts.len() + kept.reading.modules.len();
        if self.acts + acts > KEPT_ACTS_MAX / 2 {
            self.older = std::mem::take(&mut self.newer);
            self.acts = 0;
        }
        if acts <= KEPT_ACTS_MAX / 2 {
            self.acts += acts;
            self.newer.insert(key, kept);
        }
    }
}

fn key(language: Language, text: &str, start: &Start) -> Key {
    PartsHash::of([language.as_str(), text, &format!("{start:?}")]).bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::{Act, Operand, What};

    fn reading(acts: usize) -> Reading {
        let kind = castellan_event::EffectKind::Read;
        let what = What::Effect { kind, on: Operand::Nothing, recursive: false };
        let act = |at| Act { span: at..at, what: what.clone() };
        Reading { acts: (0..acts).map(act).collect(), modules: Vec::new() }
    }

    /// Requests the text `name`, which costs `units`; returns whether its reading was cached.
    fn is_kept(name: &str, start: &Start, units: u64, acts: usize, work: &mut Work) -> bool {
        let mut is_made = false;
        let made = kept(Language::Python, name, start, work, |work| {
            is_made = true;
            let end = if units <= work.left() { End::Whole } else { End::OutOfWork };
            work.spend(units);
            (reading(acts), end)
        });
        assert_eq!(made, reading(acts), "{name}");
        !is_made
    }

    #[test]
    fn the_same_is_made_once_and_paid_each_time() {
        let (start, mut work) = (Start::default(), Work::default());
        assert!(!is_kept("a", &start, KEPT_WORK_MIN, 3, &mut work));
        assert!(is_kept("a", &start, KEPT_WORK_MIN, 3, &mut work));
        assert_eq!(work.spent(), 2 * KEPT_WORK_MIN);
    }

    #[test]
    fn another_text_language_or_start_is_another_program() {
        let (start, mut work) = (Start::default(), Work::default());
        assert!(!is_kept("b", &start, KEPT_WORK_MIN, 1, &mut work));
        assert!(!is_kept("b ", &start, KEPT_WORK_MIN, 1, &mut work));
        let elsewhere = Start { cwd: Some("/b".to_owned()), ..Start::default() };
        assert!(!is_kept("b", &elsewhere, KEPT_WORK_MIN, 1, &mut work));
        let given = Start { args: Some(vec!["/b".into()]), ..Start::default() };
        assert!(!is_kept("b", &given, KEPT_WORK_MIN, 1, &mut work));
        assert_ne!(key(Language::Python, "b", &start), key(Language::Ruby, "b", &start));
    }

    #[test]
    fn what_costs_more_than_is_left_is_not_taken_from_what_is_kept() {
        let (start, mut work) = (Start::default(), Work::default());
        let units = work.left() / 2 + 1;
        assert!(!is_kept("c", &start, units, 1, &mut work));
        assert!(!is_kept("c", &start, units, 1, &mut work), "only a part of it can be read now");
        // The partial reading does not replace the complete one.
        assert!(is_kept("c", &start, units, 1, &mut Work::default()));
    }

    #[test]
    fn what_was_not_read_to_its_end_is_kept_for_what_was_left() {
        let start = Start::default();
        let with_left = |left| {
            let mut work = Work::default();
            work.spend(work.left() - left);
            work
        };
        assert!(!is_kept("d", &start, 3 * KEPT_WORK_MIN, 1, &mut with_left(KEPT_WORK_MIN)));
        assert!(is_kept("d", &start, 3 * KEPT_WORK_MIN, 1, &mut with_left(KEPT_WORK_MIN)));
        assert!(!is_kept("d", &start, 3 * KEPT_WORK_MIN, 1, &mut with_left(KEPT_WORK_MIN + 1)));
        assert!(!is_kept("d", &start, 3 * KEPT_WORK_MIN, 1, &mut Work::default()));
        assert!(is_kept("d", &start, 3 * KEPT_WORK_MIN, 1, &mut Work::default()));
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut memo = Memo::default();
        for number in 0..3 * KEPT_ACTS_MAX {
            let key = key(Language::Python, &number.to_string(), &Start::default());
            memo.keep(key, Kept { reading: reading(number % 7), units: KEPT_WORK_MIN, within: None });
            assert!(memo.newer.len() + memo.older.len() <= KEPT_ACTS_MAX);
        }
        let held = memo.newer.values().chain(memo.older.values());
        assert!(held.map(|kept| kept.reading.acts.len()).sum::<usize>() <= KEPT_ACTS_MAX);
    }
}
