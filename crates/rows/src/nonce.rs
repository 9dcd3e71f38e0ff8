//! [`Nonce`] and [`Generation`]: the identity of a row, and that of the rules that must judge it.

use std::fmt;

/// Characters of a nonce in lower-case hex.
pub(crate) const NONCE_CHARS: usize = 32;

/// Characters of a generation in lower-case hex.
pub(crate) const GENERATION_CHARS: usize = 64;

/// A random number that names one row. Each answer of the engine repeats it, so that nobody can answer for a row that
/// they have not seen. Its text is 32 characters of lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce(pub [u8; NONCE_CHARS / 2]);

/// The hash of the rules in force. The engine answers for a row only with rules of the row's generation. Its text is 64
/// characters of lower-case hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation(pub [u8; GENERATION_CHARS / 2]);

impl Nonce {
    /// Reads the text of a nonce.
    pub fn parse(text: &str) -> Option<Nonce> {
        let mut bytes = [0; NONCE_CHARS / 2];
        let read = base16ct::lower::decode(text, &mut bytes).ok()?.len();
        (read == bytes.len()).then_some(Nonce(bytes))
    }
}

impl Generation {
    /// Reads the text of a generation.
    pub fn parse(text: &str) -> Option<Generation> {
        let mut bytes = [0; GENERATION_CHARS / 2];
        let read = base16ct::lower::decode(text, &mut bytes).ok()?.len();
        (read == bytes.len()).then_some(Generation(bytes))
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&base16ct::lower::encode_string(&self.0))
    }
}

/// A log never holds a whole nonce: it is a secret until the row is judged.
impl fmt::Debug for Nonce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_string();
        write!(out, "Nonce({}...)", text.get(..4).unwrap_or_default())
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&base16ct::lower::encode_string(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_texts_are_read() {
        let nonce = Nonce([0xab; 16]);
        assert_eq!(Nonce::parse(&nonce.to_string()), Some(nonce));
        for text in ["", "ab", &"AB".repeat(16), &"ab".repeat(17), &"zz".repeat(16), &"ab".repeat(15)] {
            assert_eq!(Nonce::parse(text), None, "{text}");
        }
        let generation = Generation([7; 32]);
        assert_eq!(Generation::parse(&generation.to_string()), Some(generation));
        assert_eq!(Generation::parse(&"07".repeat(31)), None);
        assert!(!format!("{nonce:?}").contains("ababab"));
    }
}
