//! [`Cache`]: opinions of equal calls. The caller passes the time.

use std::collections::HashMap;

use castellan_event::PartsHash;

use crate::answer::{Answer, Opinion};
use crate::limits::{CACHE_ENTRIES_MAX, CACHE_S};

/// The question of a review: equal keys are equal questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; 32]);

/// Opinions, each for a limited time.
#[derive(Debug, Clone)]
pub struct Cache {
    entries: HashMap<CacheKey, (u64, Opinion)>,
    entries_max: usize,
    valid_s: u64,
}

impl CacheKey {
    /// Hashes the parts with SHA-256. `intent` is [`crate::Evidence::intent_hash`], `model` is
    /// [`crate::Reviewer::model`].
    pub fn of(call: &str, policy: &str, intent: &str, prompt_version: u32, model: &str) -> CacheKey {
        CacheKey(PartsHash::of([call, policy, intent, &prompt_version.to_string(), model]).bytes())
    }
}

impl Cache {
    /// Returns an empty cache of `entries` opinions at most, each valid for `valid_s` seconds.
    pub fn new(entries: usize, valid_s: u64) -> Cache {
        Cache { entries: HashMap::new(), entries_max: entries.min(CACHE_ENTRIES_MAX), valid_s }
    }

    /// Returns the opinion that was stored less than the valid time before `now_s`.
    pub fn find(&self, key: CacheKey, now_s: u64) -> Option<&Opinion> {
        let (stored_s, opinion) = self.entries.get(&key)?;
        self.is_valid(*stored_s, now_s).then_some(opinion)
    }

    /// Stores an opinion of `now_s` if it allows or denies. A full cache drops its oldest opinion.
    pub fn store(&mut self, key: CacheKey, opinion: &Opinion, now_s: u64) {
        match opinion.answer {
            Answer::Allow | Answer::Deny => {}
            // The next prompt may show more, and an outage must not last.
            Answer::Unsure => return,
        }
        let valid_s = self.valid_s;
        self.entries.retain(|_, (stored_s, _)| stored_s.saturating_add(valid_s) > now_s);
        if self.entries.len() >= self.entries_max {
            let oldest = self.entries.iter().min_by_key(|(_, (stored_s, _))| *stored_s);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                self.entries.remove(&oldest);
            }
        }
        if self.entries_max > 0 {
            self.entries.insert(key, (now_s, opinion.clone()));
        }
    }

    fn is_valid(&self, stored_s: u64, now_s: u64) -> bool {
        stored_s.saturating_add(self.valid_s) > now_s
    }
}

impl Default for Cache {
    fn default() -> Cache {
        Cache::new(CACHE_ENTRIES_MAX, CACHE_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(call: &str) -> CacheKey {
        CacheKey::of(call, "p", "i", 1, "m")
    }

    fn opinion(answer: Answer) -> Opinion {
        Opinion { answer, reason: String::new() }
    }

    #[test]
    fn every_part_makes_another_question() {
        let keys = [
            CacheKey::of("c", "p", "i", 1, "m"),
            CacheKey::of("C", "p", "i", 1, "m"),
            CacheKey::of("c", "P", "i", 1, "m"),
            CacheKey::of("c", "p", "I", 1, "m"),
            CacheKey::of("c", "p", "i", 2, "m"),
            CacheKey::of("c", "p", "i", 1, "M"),
            CacheKey::of("cp", "", "i", 1, "m"),
        ];
        let different: std::collections::HashSet<CacheKey> = keys.into_iter().collect();
        assert_eq!(different.len(), keys.len());
    }

    #[test]
    fn an_opinion_is_valid_for_its_time() {
        let mut cache = Cache::default();
        cache.store(key("a"), &opinion(Answer::Allow), 100);
        cache.store(key("b"), &opinion(Answer::Deny), 100);
        cache.store(key("c"), &opinion(Answer::Unsure), 100);
        assert_eq!(cache.find(key("a"), 100 + CACHE_S - 1), Some(&opinion(Answer::Allow)));
        assert_eq!(cache.find(key("a"), 100 + CACHE_S), None);
        assert_eq!(cache.find(key("b"), 100), Some(&opinion(Answer::Deny)));
        assert_eq!(cache.find(key("c"), 100), None);
        assert_eq!(cache.find(key("d"), 100), None);
    }

    #[test]
    fn a_full_cache_drops_the_oldest() {
        let mut cache = Cache::default();
        for n in 0..=CACHE_ENTRIES_MAX as u64 {
            cache.store(key(&n.to_string()), &opinion(Answer::Allow), n / 100);
        }
        assert_eq!(cache.entries.len(), CACHE_ENTRIES_MAX);
        assert!(cache.find(key(&CACHE_ENTRIES_MAX.to_string()), 6).is_some());
        let mut none = Cache::new(0, CACHE_S);
        none.store(key("a"), &opinion(Answer::Allow), 0);
        assert_eq!(none.find(key("a"), 0), None);
    }
}
