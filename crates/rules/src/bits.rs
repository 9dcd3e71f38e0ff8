//! A set of small numbers below a fixed bound, one bit for each. It knows nothing of the meaning of the numbers.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    /// Returns the empty set of numbers below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)].into() }
    }

    /// Adds a number below the bound; returns true if it is new.
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let Some(word) = self.words.get_mut(number / 64) else { return false };
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Iterates over the numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let rest = std::iter::successors(Some(*word), |rest| Some(rest & (rest.wrapping_sub(1))));
            rest.take_while(|rest| *rest != 0).map(move |rest| at * 64 + rest.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn numbers_in_order() {
        let mut bits = Bits::new(130);
        for (number, new) in [(129, true), (0, true), (63, true), (64, true), (64, false), (500, false)] {
            assert_eq!(bits.insert(number), new, "{number}");
        }
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert!(bits.contains(129) && !bits.contains(1) && !bits.contains(500));
    }
}
