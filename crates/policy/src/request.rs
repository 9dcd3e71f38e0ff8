//! [`RequestId`]: the id that an agent gives to the user, short enough to be spoken: `K7`.

use std::fmt;

/// A short id of a denied or asked call. Ids repeat after 2,376 of them; the record also has the correlation id. There
/// are 57,024 longer ones (`KB7`) for the case that all short ones are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(u32);

/// Without I and O, which look like digits.
const LETTERS: &[u8; 24] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
const NUMBERS: u32 = 99;
const COUNT: u32 = LETTERS.len() as u32 * NUMBERS;
const COUNT_OF_ALL: u32 = COUNT + LETTERS.len() as u32 * COUNT;

impl RequestId {
    /// Returns an id for a seed; any number is valid.
    pub fn from_seed(seed: u64) -> RequestId {
        RequestId(u32::try_from(seed % u64::from(COUNT)).unwrap_or_default())
    }

    /// Returns the id of a number, short or long; any number is valid.
    pub fn nth(number: u32) -> RequestId {
        RequestId(number % COUNT_OF_ALL)
    }

    /// The number of this id.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the short id after this one.
    pub fn next(self) -> RequestId {
        RequestId((self.0 + 1) % COUNT)
    }

    /// Returns the id after this one, short or long.
    pub fn next_of_all(self) -> RequestId {
        RequestId((self.0 + 1) % COUNT_OF_ALL)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |number: u32| LETTERS.get(number as usize).map_or('A', |letter| char::from(*letter));
        if let Some(long) = self.0.checked_sub(COUNT) {
            write!(f, "{}", letter(long / COUNT))?;
        }
        let short = self.0 % COUNT;
        write!(f, "{}{}", letter(short / NUMBERS), short % NUMBERS + 1)
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
        for _ in 0..COUNT_OF_ALL {
            seen.insert(id.to_string());
            id = id.next_of_all();
        }
        assert_eq!((seen.len(), id.to_string().as_str()), (COUNT_OF_ALL as usize, "A1"));
        assert_eq!(
            RequestId::from_seed(u64::MAX).to_string(),
            RequestId::from_seed(u64::MAX % 2376).to_string()
        );
    }
}
