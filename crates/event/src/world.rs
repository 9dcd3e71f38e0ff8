//! What the pure core asks of the world, and the answers it was given.
//!
//! `decide` never looks at a file itself: it returns the queries that it lacks, the daemon answers them and decides again.
//! The answers go into the record, so that a call can be replayed against other rules.

use crate::limits::ANSWERS_MAX;

/// A question about the world. Equal questions have one answer within a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Query {
    /// Where does `path`, seen from directory `base`, really lead, symlinks resolved?
    RealPath {
        /// The directory that a relative path is relative to.
        base: String,
        /// The path as written.
        path: String,
    },
}

/// The answer to a [`Query`] of the same variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The nearest existing ancestor with symlinks resolved, plus the missing rest; lexical where even that fails.
    RealPath(String),
}

/// Something that can answer: the daemon's file system, a test's table, a record being replayed.
pub trait World {
    /// Answers one query. `None` when it cannot be answered here (a replay without the record).
    fn answer(&self, query: &Query) -> Option<Answer>;
}

/// The answers collected for one decision, in the order they were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers {
    list: Vec<(Query, Answer)>,
}

impl Answers {
    /// Records an answer. Returns false, without recording, over [`ANSWERS_MAX`].
    #[must_use]
    pub fn insert(&mut self, query: Query, answer: Answer) -> bool {
        let fits = self.list.len() < ANSWERS_MAX;
        if fits {
            self.list.push((query, answer));
        }
        fits
    }

    /// Looks up the real path of `path` from `base`.
    pub fn real_path(&self, base: &str, path: &str) -> Option<&str> {
        self.list.iter().find_map(|(query, answer)| match (query, answer) {
            (Query::RealPath { base: b, path: p }, Answer::RealPath(real)) if b == base && p == path => {
                Some(real.as_str())
            }
            _ => None,
        })
    }

    /// Iterates over the recorded queries and answers.
    pub fn iter(&self) -> impl Iterator<Item = &(Query, Answer)> {
        self.list.iter()
    }
}
