//! [`Answers`]: the answers of a decision by their queries. It must not know who asks.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use super::{Answer, Query};
use crate::limits::ANSWERS_MAX;

/// The answers collected for one decision, in the order of the queries.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    list: Vec<(Query, Answer)>,
    /// The hash of each query and its position in `list`. It prevents storing a query twice.
    index: BTreeSet<(u64, usize)>,
    pub(super) hasher: RandomState,
    /// The programs that no helper read, by the hash of their language and text.
    pub(super) given_up: BTreeSet<String>,
    /// The rules that match each row, if another process tests them.
    pub(super) matched: Option<Vec<Vec<u64>>>,
}

impl PartialEq for Answers {
    fn eq(&self, other: &Answers) -> bool {
        self.list == other.list && self.given_up == other.given_up && self.matched == other.matched
    }
}

impl Eq for Answers {}

impl Answers {
    /// Records an answer. Returns false, without recording, over [`ANSWERS_MAX`].
    #[must_use]
    pub fn insert(&mut self, query: Query, answer: Answer) -> bool {
        let hash = self.hasher.hash_one(&query);
        self.insert_hashed(hash, query, answer)
    }

    /// Looks up the answer to a query.
    pub fn get(&self, query: &Query) -> Option<&Answer> {
        self.get_hashed(self.hasher.hash_one(query), query)
    }

    pub(super) fn insert_hashed(&mut self, hash: u64, query: Query, answer: Answer) -> bool {
        let fits = self.list.len() < ANSWERS_MAX;
        if fits {
            self.index.insert((hash, self.list.len()));
            self.list.push((query, answer));
        }
        fits
    }

    pub(super) fn get_hashed(&self, hash: u64, query: &Query) -> Option<&Answer> {
        let mut same =
            self.index.range((hash, 0)..=(hash, usize::MAX)).filter_map(|(_, at)| self.list.get(*at));
        same.find(|(known, _)| known == query).map(|(_, answer)| answer)
    }

    /// Looks up the real path of `path` from `base`.
    pub fn real_path(&self, base: &str, path: &str) -> Option<&str> {
        match self.get(&Query::RealPath { base: base.to_owned(), path: path.to_owned() }) {
            Some(Answer::RealPath(real)) => Some(real),
            _ => None,
        }
    }

    /// Iterates over the hashes of the programs that were given up.
    pub fn given_up(&self) -> impl Iterator<Item = &str> {
        self.given_up.iter().map(String::as_str)
    }

    /// Returns for each row of the call the numbers of the rules that another engine found to match it; `None` if no
    /// engine was asked.
    pub fn matched(&self) -> Option<&[Vec<u64>]> {
        self.matched.as_deref()
    }

    /// Iterates over the recorded queries and answers.
    pub fn iter(&self) -> impl Iterator<Item = &(Query, Answer)> {
        self.list.iter()
    }
}
