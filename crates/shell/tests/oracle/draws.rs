//! Recorded random choices, to rebuild a text with fewer of them. This module must not know texts.

/// A sequence of choices: first the given choices, then random choices, or 0 without a seed.
#[derive(Debug)]
pub(crate) struct Draws {
    given: Vec<u32>,
    at: usize,
    seed: Option<u64>,
}

impl Draws {
    pub(crate) fn random(seed: u64) -> Draws {
        // Mixed, so that the numbers of neighbouring seeds differ.
        Draws { given: Vec::new(), at: 0, seed: Some(mixed(seed)) }
    }

    pub(crate) fn given(draws: &[u32]) -> Draws {
        Draws { given: draws.to_vec(), at: 0, seed: None }
    }

    pub(crate) fn taken(&self) -> Vec<u32> {
        self.given.clone()
    }

    /// Returns a number below `among`; 0 is the simplest.
    pub(crate) fn below(&mut self, among: usize) -> usize {
        let one = match (self.given.get(self.at), &mut self.seed) {
            (Some(one), _) => *one,
            (None, None) => 0,
            (None, Some(seed)) => {
                *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let one = mixed(*seed) as u32 % among.max(1) as u32;
                self.given.push(one);
                one
            }
        };
        self.at += 1;
        one as usize % among.max(1)
    }

    /// Replaces the last number.
    pub(crate) fn correct(&mut self, number: usize) {
        if let Some(last) = self.given.last_mut() {
            *last = number as u32;
        }
    }
}

/// The mixing function of splitmix64.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Attempts to reduce one text.
const TRIES_MAX: usize = 300;

/// Returns a shorter and simpler sequence of choices with the same failure.
pub(crate) fn smaller_draws(draws: Vec<u32>, wrong: impl Fn(&[u32]) -> bool) -> Vec<u32> {
    let simpler = |one: u32| (0..one.min(3)).collect();
    smaller(draws, simpler, wrong)
}

/// Returns a text of fewer words with the same failure.
pub(crate) fn smaller_text(text: &str, wrong: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = text.split_inclusive([' ', ';', '\n']).collect();
    smaller(words, |_| Vec::new(), |words| wrong(&words.concat())).concat()
}

/// Leaves out parts, then replaces each part by a simpler one, as long as the sequence stays wrong.
fn smaller<T: Clone + PartialEq>(
    parts: Vec<T>,
    simpler: impl Fn(T) -> Vec<T>,
    wrong: impl Fn(&[T]) -> bool,
) -> Vec<T> {
    let mut least = parts;
    let mut tries = 0;
    let mut attempt = |candidate: Vec<T>, least: &mut Vec<T>| {
        tries += 1;
        let better = wrong(&candidate);
        if better {
            *least = candidate;
        }
        (better, tries < TRIES_MAX)
    };
    loop {
        let before = least.clone();
        for length in [64, 32, 16, 8, 4, 3, 2, 1] {
            let mut at = 0;
            while at < least.len() {
                let mut candidate = least.clone();
                candidate.drain(at..(at + length).min(least.len()));
                let (better, goes_on) = attempt(candidate, &mut least);
                if !goes_on {
                    return least;
                }
                if !better {
                    at += length;
                }
            }
        }
        for at in 0..least.len() {
            for simple in least.get(at).cloned().map(&simpler).unwrap_or_default() {
                let mut candidate = least.clone();
                candidate.splice(at..=at, [simple]);
                let (better, goes_on) = attempt(candidate, &mut least);
                if !goes_on {
                    return least;
                }
                if better {
                    break;
                }
            }
        }
        if least == before {
            return least;
        }
    }
}
