//! [`RequestId`]: what an agent is told to tell the user, short enough to be said: `K7`.

use std::fmt;

/// A short id of a denied or asked call. Ids repeat after 2,376 of them; the record holds the correlation id as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(u32);

/// No I and no O, which read like digits.
const LETTERS: &[u8; 24] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
const NUMBERS: u32 = 99;
const COUNT: u32 = LETTERS.len() as u32 * NUMBERS;

impl RequestId {
    /// Returns an id for a seed; any number will do.
    pub fn from_seed(seed: u64) -> RequestId {
        RequestId(u32::try_from(seed % u64::from(COUNT)).unwrap_or_default())
    }

    /// The seed that gives this id.
    pub fn seed(self) -> u64 {
        self.0.into()
    }

    /// Returns the id after this one.
    pub fn next(self) -> RequestId {
        RequestId((self.0 + 1) % COUNT)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = LETTERS.get((self.0 / NUMBERS) as usize).map_or('A', |letter| char::from(*letter));
        write!(f, "{letter}{}", self.0 % NUMBERS + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_all_different() {
        let mut id = RequestId::from_seed(0);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..COUNT {
            assert!(seen.insert(id.to_string()), "{id} came twice");
            assert!(id.to_string().len() <= 3);
            id = id.next();
        }
        assert_eq!(id.to_string(), "A1");
        assert_eq!(
            RequestId::from_seed(u64::MAX).to_string(),
            RequestId::from_seed(u64::MAX % 2376).to_string()
        );
    }
}
