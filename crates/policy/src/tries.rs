//! [`Tries`]: counts a session's denials by denial key. Independent of the keys' meaning and of the session's end.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::limits::PROBING_AT;

/// Number of denials for each denial key of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tries(BTreeMap<DenialKey, u32>);

/// Counts of a session without denials.
pub(crate) static NO_TRIES: Tries = Tries(BTreeMap::new());

/// Hash of a denial key, valid while the process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DenialKey(u64);

impl Tries {
    /// Reports whether the session is probing once these keys are denied as well.
    pub fn is_probing_with(&self, denial_keys: &[String]) -> bool {
        let before = |denial_key: &String| self.0.get(&hash(denial_key)).copied().unwrap_or_default();
        denial_keys.iter().any(|denial_key| before(denial_key) + 1 >= PROBING_AT)
    }

    /// Counts these keys. A key that makes the session probing restarts at zero. Returns the keys that were new.
    pub fn count(&mut self, denial_keys: &[String]) -> Vec<DenialKey> {
        let mut added = Vec::new();
        for denial_key in denial_keys {
            let key = hash(denial_key);
            let count = self.0.entry(key).or_insert_with(|| {
                added.push(key);
                0
            });
            *count += 1;
            if *count >= PROBING_AT {
                *count = 0;
            }
        }
        added
    }

    /// Forgets a key.
    pub fn forget(&mut self, denial_key: DenialKey) {
        self.0.remove(&denial_key);
    }

    /// Reports whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn hash(denial_key: &str) -> DenialKey {
    let mut hasher = DefaultHasher::new();
    denial_key.hash(&mut hasher);
    DenialKey(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a series of denials, each `KEY,KEY`, and which of them show that the session is probing.
    fn check(denials: &[&str], expected: &[usize]) {
        let mut tries = Tries::default();
        let mut is_probing = |denial: &str| {
            let denial_keys: Vec<String> = denial.split(',').map(str::to_owned).collect();
            let is_probing = tries.is_probing_with(&denial_keys);
            tries.count(&denial_keys);
            is_probing
        };
        let found = denials.iter().enumerate().filter_map(|(at, denial)| is_probing(denial).then_some(at));
        assert_eq!(found.collect::<Vec<usize>>(), expected, "{denials:?}");
    }

    #[test]
    fn three_of_one_denial_key_are_probing() {
        check(&["a", "a", "a", "a"], &[2]);
        check(&["a", "b", "c", "d"], &[]);
        check(&["a,t", "b,t", "c,t"], &[2]);
        check(&["a", "a", "a", "a", "a", "a"], &[2, 5]);
    }

    #[test]
    fn a_forgotten_denial_key_counts_from_zero() {
        let (mut tries, denial_keys) = (Tries::default(), ["a".to_owned()]);
        let added = tries.count(&denial_keys);
        assert_eq!((added.len(), tries.count(&denial_keys).len()), (1, 0));
        assert!(tries.is_probing_with(&denial_keys));
        tries.forget(added[0]);
        assert!(tries.is_empty() && !tries.is_probing_with(&denial_keys));
    }
}
