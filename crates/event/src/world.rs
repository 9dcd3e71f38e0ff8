//! The queries of the pure core to the world, and the answers.
//!
//! Neither the analysis of a call nor `decide` reads a file itself. They ask through a [`Recorder`], or return the
//! missing queries. The answers go into the record, so that a call can be replayed against other rules.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use crate::limits::ANSWERS_MAX;

/// A question about the world. Equal questions have one answer within a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Query {
    /// The real path of `path`, seen from directory `base`, symlinks resolved.
    RealPath {
        /// The directory that a relative path is relative to.
        base: String,
        /// The path as written.
        path: String,
    },
    /// The kind of file at this absolute path, symlinks followed.
    FileKind {
        /// The path.
        path: String,
    },
    /// The contents of the file at this absolute path.
    Contents {
        /// The path.
        path: String,
    },
    /// The file that runs when `name` is looked up in these directories.
    Executable {
        /// A name without a slash.
        name: String,
        /// Directories in the form of `PATH`: absolute ones, separated by colons.
        path: String,
    },
    /// The repository that holds this directory.
    Repository {
        /// The directory, absolute.
        of: String,
    },
    /// The file of this directory that was changed last, among those with such names.
    Newest {
        /// The directory, absolute.
        directory: String,
        /// Start of the file name.
        prefix: String,
        /// End of the file name.
        suffix: String,
    },
    /// The state of the agent's process.
    Process {
        /// The process id.
        pid: u32,
    },
}

/// The answer to a [`Query`] of the same variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The path with symlinks resolved; missing parts are kept as written. There is no answer for a circle of symlinks,
    /// or if a directory on the way may not be read.
    RealPath(String),
    /// The kind of file.
    FileKind(FileKind),
    /// The contents; `None` if it is not a regular file, cannot be read or is longer than the world's limit.
    Contents(Option<Vec<u8>>),
    /// The file, symlinks resolved; `None` when there is none.
    Executable(Option<String>),
    /// The nearest directory with a `.git`, at or above the directory; `None` outside repositories.
    Repository(Option<String>),
    /// The name of the file in the directory; `None` when there is none.
    Newest(Option<String>),
    /// The process; `None` when it cannot be read.
    Process(Option<Process>),
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A character or block device.
    Device,
    /// A FIFO: another process reads the data that is written to it.
    Fifo,
    /// A socket.
    Socket,
    /// castellan may not look at the path; the file may exist or not.
    Unreadable,
}

/// The state that a process was started with. The process may have changed it since: a fact about the call, never
/// policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// The environment variables that the analysis can use: `NAME`, value.
    pub env: Vec<(String, String)>,
    /// The home directory of its user, from the user database.
    pub home: String,
    /// The process runs as the superuser.
    pub is_root: bool,
    /// The absolute paths in `env` and `home` that contain symlinks: as written, symlinks resolved.
    pub links: Vec<(String, String)>,
    /// Mount points of file systems of other machines, as the process sees them.
    pub network: Vec<String>,
}

impl Process {
    /// Returns the value of an environment variable.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// Returns a path of `env` or `home` with symlinks resolved.
    pub fn real<'p>(&'p self, path: &'p str) -> &'p str {
        self.links.iter().find(|(one, _)| one == path).map_or(path, |(_, real)| real)
    }
}

/// A source of answers: the daemon's file system, a test's table, a record during replay.
pub trait World {
    /// Answers one query. `None` if the source has no answer (a replay without the record).
    fn answer(&self, query: &Query) -> Option<Answer>;

    /// Has a helper read a program. The bytes of request and answer belong to the languages. `sha256`: the hash of the
    /// program's language and text. `None`: the helper was given up, or this world has none.
    fn program(&self, sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        let _ = (sha256, request);
        None
    }
}

/// The answers collected for one decision, in the order of the queries.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    list: Vec<(Query, Answer)>,
    /// The hash of each query and its position in `list`. It prevents storing a query twice.
    index: BTreeSet<(u64, usize)>,
    hasher: RandomState,
    /// The programs that no helper read, by the hash of their language and text.
    given_up: BTreeSet<String>,
}

impl PartialEq for Answers {
    fn eq(&self, other: &Answers) -> bool {
        self.list == other.list && self.given_up == other.given_up
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

    fn insert_hashed(&mut self, hash: u64, query: Query, answer: Answer) -> bool {
        let fits = self.list.len() < ANSWERS_MAX;
        if fits {
            self.index.insert((hash, self.list.len()));
            self.list.push((query, answer));
        }
        fits
    }

    fn get_hashed(&self, hash: u64, query: &Query) -> Option<&Answer> {
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

    /// Iterates over the recorded queries and answers.
    pub fn iter(&self) -> impl Iterator<Item = &(Query, Answer)> {
        self.list.iter()
    }
}

/// Asks a world and records its answers. Equal questions are asked once.
#[derive(Clone)]
pub struct Recorder<'w> {
    world: &'w dyn World,
    answers: Answers,
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("answers", &self.answers).finish_non_exhaustive()
    }
}

impl<'w> Recorder<'w> {
    /// Returns a recorder without answers.
    pub fn new(world: &'w dyn World) -> Recorder<'w> {
        Recorder { world, answers: Answers::default() }
    }

    /// Asks one query. `None` when the world does not answer, and over the limit of answers: the part is then Opaque,
    /// for [`crate::Why::Unreadable`].
    pub fn ask(&mut self, query: Query) -> Option<Answer> {
        let hash = self.answers.hasher.hash_one(&query);
        if let Some(answer) = self.answers.get_hashed(hash, &query) {
            return Some(answer.clone());
        }
        let answer = self.world.answer(&query)?;
        self.answers.insert_hashed(hash, query, answer.clone()).then_some(answer)
    }

    /// Has a helper read a program, as [`World::program`], and decodes its answer. A program without a valid answer is
    /// given up: that is recorded as an input of the decision, and holds for all of it.
    pub fn program<T>(
        &mut self,
        sha256: &str,
        request: &[u8],
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<T> {
        if self.answers.given_up.contains(sha256) {
            return None;
        }
        let read = self.world.program(sha256, request).and_then(|answer| decode(&answer));
        if read.is_none() {
            self.answers.given_up.insert(sha256.to_owned());
        }
        read
    }

    /// Returns all answers so far.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Returns all answers.
    pub fn into_answers(self) -> Answers {
        self.answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(number: usize) -> Query {
        Query::FileKind { path: format!("/{number}") }
    }

    #[test]
    fn answers_are_found_and_stay_in_order() {
        let mut answers = Answers::default();
        let at = |number: usize| if number.is_multiple_of(2) { FileKind::File } else { FileKind::Missing };
        for number in 0..ANSWERS_MAX {
            assert!(answers.insert(kind_of(number), Answer::FileKind(at(number))));
        }
        assert!(!answers.insert(kind_of(ANSWERS_MAX), Answer::FileKind(FileKind::File)), "one too many");
        assert_eq!(answers.get(&kind_of(ANSWERS_MAX)), None);
        for (number, (query, answer)) in answers.iter().enumerate() {
            assert_eq!((query, answer), (&kind_of(number), &Answer::FileKind(at(number))));
            assert_eq!(answers.get(query), Some(answer));
        }
    }

    #[test]
    fn a_program_without_a_valid_answer_stays_given_up() {
        /// Answers each request with it.
        struct Echo;
        impl World for Echo {
            fn answer(&self, _: &Query) -> Option<Answer> {
                None
            }

            fn program(&self, _: &str, request: &[u8]) -> Option<Vec<u8>> {
                (request != b"crash").then(|| request.to_vec())
            }
        }
        let number = |answer: &[u8]| std::str::from_utf8(answer).ok()?.parse::<u8>().ok();
        let mut recorder = Recorder::new(&Echo);
        for (program, request, expected) in [
            ("a", "7", Some(7)),
            ("b", "x", None),
            ("c", "crash", None),
            ("b", "7", None),
            ("a", "8", Some(8)),
        ] {
            assert_eq!(
                recorder.program(program, request.as_bytes(), number),
                expected,
                "{program} {request}"
            );
        }
        assert_eq!(recorder.answers().given_up().collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn the_first_answer_to_a_query_counts() {
        let mut answers = Answers::default();
        let query = Query::RealPath { base: "/w".to_owned(), path: "x".to_owned() };
        for real in ["/first", "/second"] {
            assert!(answers.insert(query.clone(), Answer::RealPath(real.to_owned())));
        }
        assert_eq!(answers.real_path("/w", "x"), Some("/first"));
        assert_eq!(answers.real_path("/", "x"), None);
    }
}
