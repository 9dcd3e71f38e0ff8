//! The expected verdicts: `expected.toml`. What it does not name is blocked in each sandbox, and succeeds without.

use anyhow::Context;
use serde::Deserialize;

/// The file's text.
const TEXT: &str = include_str!("../../expected.toml");

/// An expected outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The attack succeeds, or the work is possible.
    Succeeds,
    /// The attack is blocked, or the work is not possible.
    Blocked,
    /// The attack may fail in any way: without a sandbox it proves nothing for this user.
    Unproved,
}

/// The expected verdicts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Attacks that fail for a user without a sandbox, too.
    unproved: Vec<Row>,
    /// Attacks that a sandbox does not block.
    #[serde(default)]
    allowed: Vec<Row>,
    /// Ordinary work that a sandbox does not leave possible.
    #[serde(default)]
    refused: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    attacks: Vec<String>,
    /// Levels of castellan's sandbox; empty for all.
    #[serde(default)]
    levels: Vec<String>,
    /// `root` or `nobody`; empty for both.
    #[serde(default)]
    users: Vec<String>,
    reason: String,
}

impl Row {
    fn is_for(&self, attack: &str, level: &str, user: &str) -> bool {
        let is_in = |list: &[String], word: &str| list.is_empty() || list.iter().any(|one| one == word);
        self.attacks.iter().any(|one| one == attack) && is_in(&self.levels, level) && is_in(&self.users, user)
    }
}

impl Expected {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// A file in another form.
    pub fn read() -> anyhow::Result<Expected> {
        toml::from_str(TEXT).context("attacks/expected.toml")
    }

    /// Returns the outcome of an attack, or of ordinary work, at a level (`none` for no sandbox) for a user.
    pub fn outcome(&self, attack: &str, is_work: bool, level: &str, user: &str) -> Outcome {
        let names = |rows: &[Row]| rows.iter().any(|row| row.is_for(attack, level, user));
        let rows = match (level, is_work) {
            ("none", _) if names(&self.unproved) => return Outcome::Unproved,
            ("none", _) => return Outcome::Succeeds,
            (_, true) => &self.refused,
            (_, false) => &self.allowed,
        };
        // Work is possible and attacks are blocked, but for the rows.
        if names(rows) == is_work { Outcome::Blocked } else { Outcome::Succeeds }
    }

    /// Returns the reason why an attack is not blocked; `None` for those that are.
    pub fn reason(&self, attack: &str, level: &str, user: &str) -> Option<&str> {
        let mut rows = self.allowed.iter().chain(&self.refused);
        rows.find(|row| row.is_for(attack, level, user)).map(|row| row.reason.as_str())
    }

    /// Returns what is wrong with the file itself: names that no attack has, rows without a reason.
    pub fn mistakes(&self) -> Vec<String> {
        let rows = self.unproved.iter().chain(&self.allowed).chain(&self.refused);
        let mut wrong = Vec::new();
        for row in rows {
            let unknown = row.attacks.iter().filter(|name| crate::attempts::named(name).is_none());
            wrong.extend(unknown.map(|name| format!("no attack has the name {name}")));
            let levels = ["landlock", "namespaces", "full", "none"];
            let known =
                |list: &[String], words: &[&str]| list.iter().all(|one| words.contains(&one.as_str()));
            if !known(&row.levels, &levels) || !known(&row.users, &["root", "nobody"]) {
                wrong.push(format!("an unknown level or user for {:?}", row.attacks));
            }
            if row.reason.len() < 20 {
                wrong.push(format!("no reason for {:?}", row.attacks));
            }
        }
        wrong
    }
}
