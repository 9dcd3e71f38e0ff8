//! `decisions.toml`: the rows about decisions, the meaning of an original's words, and the intended differences.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, anyhow};
use castellan_event::{AccessLevel, Verdict};
use serde::Deserialize;

use crate::forerunners::row::Row;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Complete calls for a program without arguments, or for an input that is left out.
    pub(crate) complete: BTreeMap<String, String>,
    /// Meanings of words; the first match applies.
    verdict: Vec<Means>,
    level: Vec<Means>,
    later: Vec<Rows>,
    not_applicable: Vec<Rows>,
    listed: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Means {
    is: String,
    says: Vec<String>,
}

/// Rows by system, optionally limited by tool, function or id.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    system: String,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    functions: Vec<String>,
    #[serde(default)]
    cases: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    cases: Vec<String>,
    reason: String,
}

/// Rows that are not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// They need a feature that castellan does not have yet.
    Later,
    /// They are not about decisions.
    NotApplicable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Verdict(Verdict),
    /// The access level that the call needs.
    Level(AccessLevel),
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Verdict(verdict) => write!(f, "theirs: {verdict}"),
            Wanted::Level(level) => write!(f, "theirs needs {level}"),
        }
    }
}

impl Rows {
    fn names(&self, row: &Row) -> bool {
        let is_all = self.tools.is_empty() && self.functions.is_empty() && self.cases.is_empty();
        self.system == row.system
            && (is_all
                || self.tools.contains(&row.tool)
                || row.function.as_ref().is_some_and(|function| self.functions.contains(function))
                || self.cases.contains(&row.id))
    }
}

impl Table {
    pub(crate) fn read() -> anyhow::Result<Table> {
        toml::from_str(include_str!("../../decisions.toml")).context("conformance/decisions.toml")
    }

    pub(crate) fn class(&self, row: &Row) -> Option<Class> {
        let named = |list: &[Rows]| list.iter().any(|rows| rows.names(row));
        if named(&self.later) {
            return Some(Class::Later);
        }
        named(&self.not_applicable).then_some(Class::NotApplicable)
    }

    pub(crate) fn wanted(&self, row: &Row) -> anyhow::Result<Wanted> {
        let says = row.says();
        let said = |means: &&Means| means.says.iter().any(|word| says.contains(word));
        let unread = |error: castellan_event::UnknownWord| anyhow!("conformance/decisions.toml: {error}");
        if let Some(means) = self.verdict.iter().find(said) {
            return Ok(Wanted::Verdict(means.is.parse().map_err(unread)?));
        }
        let level = self.level.iter().find(said).with_context(|| format!("{says:?}"))?;
        Ok(Wanted::Level(level.is.parse().map_err(unread)?))
    }

    pub(crate) fn lists(&self, id: &str) -> bool {
        self.listed.iter().any(|listed| listed.cases.iter().any(|case| case == id))
    }

    /// Prints the reasons why rows are not judged, or may differ.
    pub(crate) fn explain(&self) {
        for (what, list) in [("later", &self.later), ("not applicable", &self.not_applicable)] {
            println!();
            list.iter().for_each(|rows| println!("{what}: {}: {}", rows.system, rows.reason));
        }
        println!();
        self.listed
            .iter()
            .for_each(|listed| println!("listed: {}: {}", listed.cases.join(", "), listed.reason));
    }

    /// Returns the ids of all named rows.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let rows = self.later.iter().chain(&self.not_applicable).flat_map(|rows| &rows.cases);
        rows.chain(self.listed.iter().flat_map(|listed| &listed.cases)).map(String::as_str)
    }
}
