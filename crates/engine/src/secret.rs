//! [`Secret`]: known to the daemon and Falco, and to no other process that reaches the loopback.

use std::fmt;
use std::io;

const BYTES: usize = 32;

/// A secret path and a secret user agent, in ASCII. Both are new for each start of Falco, and are in its configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    path: String,
    agent: String,
}

impl Secret {
    /// Returns a new secret. An error if the system gives no random numbers.
    pub fn random() -> io::Result<Secret> {
        let hex = || {
            let mut bytes = [0; BYTES];
            getrandom::fill(&mut bytes).map_err(io::Error::other)?;
            Ok::<_, io::Error>(base16ct::lower::encode_string(&bytes))
        };
        Ok(Secret { path: format!("/{}", hex()?), agent: format!("castellan-{}", hex()?) })
    }

    /// Returns the path of the address for alerts, from its first slash.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the user agent that Falco must name.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Reports whether a request has both. Takes a time that does not depend on the texts, apart from their lengths.
    pub(crate) fn is_known(&self, path: &[u8], agent: &[u8]) -> bool {
        let equal = |own: &str, shown: &[u8]| {
            let differs = own.bytes().zip(shown).fold(0, |differs, (one, other)| differs | (one ^ other));
            own.len() == shown.len() && differs == 0
        };
        equal(&self.path, path) & equal(&self.agent, agent)
    }
}

/// A log never holds the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_must_be_shown_whole() {
        let secret = Secret::random().unwrap();
        assert_ne!(secret, Secret::random().unwrap());
        let (path, agent) = (secret.path().as_bytes(), secret.agent().as_bytes());
        assert!(secret.is_known(path, agent));
        assert!(!secret.is_known(agent, path));
        assert!(!secret.is_known(path, b""));
        assert!(!secret.is_known(b"", agent));
        assert!(!secret.is_known(&path[..path.len() - 1], agent));
        assert!(!secret.is_known(&[path, b"x"].concat(), agent));
        assert!(!format!("{secret:?}").contains(secret.path()));
    }
}
