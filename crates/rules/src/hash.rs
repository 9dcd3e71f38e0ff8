//! A hash for tables of constants. It need not resist attacks: the author of the constants can slow down only their own
//! rules. A lookup compares a value with the constants of one place at most.

use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Fast = BuildHasherDefault<Words>;

/// A hasher that reads eight bytes at a time.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Words(u64);

/// An odd number with as many ones as zeros.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            // As if zeros followed.
            self.write_u64(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(SPREAD);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// Folds the hash: a table uses the lowest bits, which a product mixes least.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
