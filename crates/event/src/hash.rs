//! SHA-256 as castellan uses it for keys and records.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of the bytes in lower-case hex.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// SHA-256 over parts. Each part follows its length (64 bits, little-endian), so that no two lists of parts give the
/// same input.
#[derive(Debug, Clone, Default)]
pub struct PartsHash(Sha256);

impl PartsHash {
    /// Hashes the parts.
    pub fn of(parts: impl IntoIterator<Item = impl AsRef<str>>) -> PartsHash {
        let mut hash = PartsHash::default();
        parts.into_iter().for_each(|part| hash.put(part.as_ref()));
        hash
    }

    /// Adds a part.
    pub fn put(&mut self, part: &str) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Returns the hash.
    pub fn bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// Returns the hash in lower-case hex.
    pub fn hex(self) -> String {
        base16ct::lower::encode_string(&self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes are in records, journals and the settings of agents: they must stay the same.
    #[test]
    fn hashes_stay_the_same() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex("abc"), abc);
        let check = |parts: &[&str], expected: &str| {
            assert_eq!(PartsHash::of(parts).hex(), expected, "{parts:?}");
        };
        check(&[], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check(&[""], "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
        check(&["claude", "s1"], "0b249e4eefce41a89c482db6da08015e402e531dec4053208ee1c8c967aff691");
        check(&["é", ""], "bc82a82a2759d683800a5097e697967435f1f289e5287af706589c5ace56c31a");
    }
}
