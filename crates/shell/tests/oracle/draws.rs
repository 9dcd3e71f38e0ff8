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
        Draws { given: Vec::new(), at: 0, seed: Some(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) }
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
                // splitmix64
                *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                let one = (mixed ^ (mixed >> 31)) as u32 % among.max(1) as u32;
                self.given.push(one);
                one
            }
        };
        self.at += 1;
        one as usize % among.max(1)
    }

    pub(crate) fn pick<'t>(&mut self, among: &[&'t str]) -> &'t str {
        let at = self.below(among.len());
        among.get(at).copied().unwrap_or_default()
    }
}

/// Attempts to reduce one text.
const TRIES_MAX: usize = 300;

/// Returns a shorter and simpler sequence with the same failure.
pub(crate) fn smaller(draws: Vec<u32>, wrong: impl Fn(&mut Draws) -> bool) -> Vec<u32> {
    let mut least = draws;
    let mut tries = 0;
    let mut attempt = |candidate: Vec<u32>, least: &mut Vec<u32>| {
        tries += 1;
        let better = wrong(&mut Draws::given(&candidate));
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
            for simpler in [0, 1, 2] {
                let mut candidate = least.clone();
                match candidate.get_mut(at) {
                    Some(one) if *one > simpler => *one = simpler,
                    _ => break,
                }
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
