//! [`Secret`]: an API key. Neither a log nor an error may contain it, so the type prints nothing of it.

use std::fmt;

use thiserror::Error;

use crate::limits::KEY_BYTES_MAX;

/// An API key: visible ASCII.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Bytes that are no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadSecret {
    /// There is no byte but white space.
    #[error("the key file is empty: write the key of the endpoint into it")]
    Empty,
    /// There are too many bytes.
    #[error("the key file is longer than {KEY_BYTES_MAX} bytes: write only the key into it")]
    TooLong,
    /// A byte is none of a header value.
    #[error("the key file contains more than one word of visible ASCII: write only the key into it")]
    NotVisible,
}

impl Secret {
    /// Reads the content of a key file. White space around the key is ignored.
    ///
    /// # Errors
    /// [`BadSecret`], without any byte of the content.
    pub fn new(content: &[u8]) -> Result<Secret, BadSecret> {
        let key = content.trim_ascii();
        match str::from_utf8(key) {
            _ if key.is_empty() => Err(BadSecret::Empty),
            _ if key.len() > KEY_BYTES_MAX => Err(BadSecret::TooLong),
            Ok(text) if key.iter().all(u8::is_ascii_graphic) => Ok(Secret(text.to_owned())),
            Ok(_) | Err(_) => Err(BadSecret::NotVisible),
        }
    }

    /// Returns the key for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_of_some_length() {
        let check = |content: &[u8], expected: Result<&str, BadSecret>| {
            assert_eq!(Secret::new(content).as_ref().map(Secret::expose).map_err(|error| *error), expected);
        };
        check(b"sk-1\n", Ok("sk-1"));
        check(b"", Err(BadSecret::Empty));
        check(b" \r\n", Err(BadSecret::Empty));
        check(b"sk 1", Err(BadSecret::NotVisible));
        check(b"sk\r\nx-evil: 1", Err(BadSecret::NotVisible));
        check(b"sk\x00", Err(BadSecret::NotVisible));
        check("schlüssel".as_bytes(), Err(BadSecret::NotVisible));
        check(b"\xff", Err(BadSecret::NotVisible));
        let longest = "k".repeat(KEY_BYTES_MAX);
        check(longest.as_bytes(), Ok(&longest));
        check(format!("{longest}k").as_bytes(), Err(BadSecret::TooLong));
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        let secret = Secret::new(b"sk-hush").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
