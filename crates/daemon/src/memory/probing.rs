//! Denials counted by what they were about: who tries the same thing again and again in other words is probing. Kept as long as the
//! daemon runs; what follows is a mark of the session, which outlives it. It must not know what a purpose is.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::sessions::SessionKey;
use crate::limits::{DENIALS_REMEMBERED_MAX, PROBING_AT};

/// How often something was denied.
#[derive(Debug, Default)]
pub(crate) struct Denials {
    counts: HashMap<Purpose, u32>,
    order: VecDeque<Purpose>,
}

/// A session, and the hash of what it is about.
type Purpose = (SessionKey, u64);

impl Denials {
    /// A call of a session was denied that had these purposes: whether it is probing by that. What is denied further counts anew.
    pub(crate) fn count(&mut self, root: SessionKey, purposes: &[String]) -> bool {
        let mut is_probing = false;
        for purpose in purposes {
            let mut hasher = DefaultHasher::new();
            purpose.hash(&mut hasher);
            let key = (root, hasher.finish());
            let count = self.counts.entry(key).or_insert_with(|| {
                self.order.push_back(key);
                0
            });
            *count += 1;
            if *count >= PROBING_AT {
                *count = 0;
                is_probing = true;
            }
        }
        while self.order.len() > DENIALS_REMEMBERED_MAX {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.counts.remove(&oldest));
        }
        is_probing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Denials one after the other, each `SESSION PURPOSE,PURPOSE`; which of them show that the session is probing.
    fn check(denials: &[&str], expected: &[usize]) {
        let mut counted = Denials::default();
        let is_probing = |(at, denial): (usize, &&str)| {
            let (session, purposes) = denial.split_once(' ').unwrap();
            let root = SessionKey([session.parse().unwrap(); 32]);
            let purposes: Vec<String> = purposes.split(',').map(str::to_owned).collect();
            counted.count(root, &purposes).then_some(at)
        };
        let found: Vec<usize> = denials.iter().enumerate().filter_map(is_probing).collect();
        assert_eq!(found, expected, "{denials:?}");
    }

    #[test]
    fn three_of_one_purpose_in_a_session_are_probing() {
        check(&["1 a", "1 a", "1 a", "1 a"], &[2]);
        check(&["1 a", "1 b", "1 c", "1 d"], &[]);
        check(&["1 a,t", "1 b,t", "1 c,t"], &[2]);
        check(&["1 a", "2 a", "1 a", "2 a", "2 a"], &[4]);
        check(&["1 a", "1 a", "1 a", "1 a", "1 a", "1 a"], &[2, 5]);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut counted = Denials::default();
        let root = SessionKey([1; 32]);
        assert!(!counted.count(root, &["a".to_owned()]));
        assert!(!counted.count(root, &["a".to_owned()]));
        for other in 0..DENIALS_REMEMBERED_MAX {
            assert!(!counted.count(root, &[other.to_string()]));
        }
        assert!(!counted.count(root, &["a".to_owned()]), "the first two are forgotten");
        assert!(counted.counts.len() <= DENIALS_REMEMBERED_MAX);
    }
}
