//! The targets of an attack: paths, process numbers, addresses and words, which the harness writes into a file that the
//! sandbox shows. The file never holds the secret that an attack must find.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::outcome::Stop;

/// The targets, by name.
#[derive(Debug, Clone, Default)]
pub struct Targets(BTreeMap<String, String>);

impl Targets {
    /// Reads lines of `name=value`.
    pub fn parse(text: &str) -> Targets {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Targets(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Sets a target.
    pub fn set(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    /// Writes the lines that [`Targets::parse`] reads.
    pub fn text(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    /// Returns a target.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the harness could not make it on this machine.
    pub fn text_of(&self, name: &str) -> Result<&str, Stop> {
        self.0
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| Stop::unsupported(format!("the harness could not make `{name}`")))
    }

    /// Returns a path below a folder: `home`, `work`, `outside`.
    ///
    /// # Errors
    ///
    /// As [`Targets::text_of`].
    pub fn below(&self, folder: &str, path: impl AsRef<Path>) -> Result<PathBuf, Stop> {
        Ok(Path::new(self.text_of(folder)?).join(path))
    }

    /// Returns a number.
    ///
    /// # Errors
    ///
    /// As [`Targets::text_of`].
    pub fn number(&self, name: &str) -> Result<i64, Stop> {
        let text = self.text_of(name)?;
        text.parse().map_err(|_| Stop::unsupported(format!("`{name}` is no number: {text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_they_were_written() {
        let mut targets = Targets::default();
        targets.set("work", "/a/b=c");
        targets.set("pid", 7);
        let read = Targets::parse(&targets.text());
        assert_eq!(read.below("work", "x"), Ok(PathBuf::from("/a/b=c/x")));
        assert_eq!(read.number("pid"), Ok(7));
        assert!(matches!(read.number("work"), Err(Stop::Unsupported { .. })));
        assert!(matches!(read.text_of("other"), Err(Stop::Unsupported { .. })));
    }
}
