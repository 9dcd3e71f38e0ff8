//! The two halves of the labelled families: rules are written on one half, and the other is only measured.

use std::collections::HashMap;
use std::str::FromStr;

use anyhow::Context;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::root;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Half {
    Development,
    Measured,
}

impl Half {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Half::Development => "development",
            Half::Measured => "measured",
        }
    }
}

impl FromStr for Half {
    type Err = String;

    fn from_str(word: &str) -> Result<Half, String> {
        let known = [Half::Development, Half::Measured].into_iter().find(|half| half.as_str() == word);
        known.ok_or_else(|| format!("`{word}` is no half: development, measured"))
    }
}

/// The half of each family: `corpus/labelled/halves.toml`.
#[derive(Debug)]
pub(super) struct Halves(HashMap<String, Half>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    development: Vec<String>,
    measured: Vec<String>,
}

impl Halves {
    pub(super) fn read() -> anyhow::Result<Halves> {
        let file = root()?.join("corpus/labelled/halves.toml");
        let text = std::fs::read_to_string(file).context("corpus/labelled/halves.toml")?;
        let File { development, measured } = toml::from_str(&text).context("corpus/labelled/halves.toml")?;
        let development = development.into_iter().map(|family| (family, Half::Development));
        let measured = measured.into_iter().map(|family| (family, Half::Measured));
        Ok(Halves(development.chain(measured).collect()))
    }

    /// Families of benign calls are in no list, because the collected families are not known in advance. The first bit
    /// of the SHA-256 of their name decides.
    pub(super) fn of(&self, family: &str) -> Half {
        let listed = self.0.get(family).copied();
        let first = Sha256::digest(family).first().copied().unwrap_or_default();
        listed.unwrap_or(if first < 0x80 { Half::Development } else { Half::Measured })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_that_is_not_listed_goes_by_its_name() {
        let halves = Halves([("git.forge".to_owned(), Half::Measured)].into());
        // From sha256sum: `collected.npm` begins with 13, `collected.cargo` with c5.
        for (family, expected) in [
            ("git.forge", Half::Measured),
            ("collected.npm", Half::Development),
            ("collected.cargo", Half::Measured),
        ] {
            assert_eq!(halves.of(family), expected, "{family}");
        }
    }
}
