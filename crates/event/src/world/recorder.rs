//! [`Recorder`]: asks a world and keeps its answers. It must not know what the answers mean.

use std::hash::BuildHasher as _;

use super::{Answer, Answers, Query, World};

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

    /// Keeps the rules that match each row, for the rest of the decision.
    pub fn keep_matched(&mut self, matched: Vec<Vec<u64>>) {
        self.answers.matched = Some(matched);
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
    use crate::{ANSWERS_MAX, FileKind};

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
