//! `forerunners.toml`: the facts that an original's words require.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use super::row::Row;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Words that are stricter than allow.
    strict: Vec<String>,
    /// Complete calls for a program without arguments.
    pub(crate) complete: BTreeMap<String, String>,
    fact: Vec<Fact>,
    calm: Vec<Calm>,
    pub(crate) listed: Vec<Listed>,
}

/// Rows by id, by the beginning of the reason, or by their words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    #[serde(default)]
    cases: Vec<String>,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    says: Vec<String>,
    /// Conditions that must be true.
    facts: Vec<String>,
}

/// Rows that the original calls harmless.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Calm {
    #[serde(default)]
    reasons: Vec<String>,
    /// Words joined by ` & ` must all be present.
    #[serde(default)]
    says: Vec<String>,
    /// A condition that must not be true.
    never: String,
}

/// Rows with another result, and the reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    pub(crate) cases: Vec<String>,
    pub(crate) reason: String,
}

/// The facts that a row requires.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked<'t> {
    Nothing,
    /// The row has a strict word, and the table does not name the required facts.
    Unnamed,
    /// All of these must be true.
    Facts(Vec<&'t str>),
    /// None of these may be true.
    Calm(Vec<&'t str>),
}

impl Table {
    pub(crate) fn read() -> anyhow::Result<Table> {
        toml::from_str(include_str!("../../forerunners.toml")).context("conformance/forerunners.toml")
    }

    pub(crate) fn asked(&self, row: &Row) -> Asked<'_> {
        let says = row.says();
        let said = |one: &String| one.split(" & ").all(|part| says.contains(part));
        let for_reason =
            |reasons: &[String]| reasons.iter().any(|reason| row.reason().starts_with(reason.as_str()));
        let is_strict = self.strict.iter().any(&said);
        // The most specific way of naming a row applies.
        let ways: [&dyn Fn(&Fact) -> bool; 3] =
            [&|fact| fact.cases.contains(&row.id), &|fact| is_strict && for_reason(&fact.reasons), &|fact| {
                is_strict && fact.says.iter().any(said)
            }];
        for way in ways {
            let facts: Vec<&str> = self
                .fact
                .iter()
                .filter(|fact| way(fact))
                .flat_map(|fact| &fact.facts)
                .map(String::as_str)
                .collect();
            if !facts.is_empty() {
                return Asked::Facts(facts);
            }
        }
        if is_strict {
            return if self.lists(&row.id) { Asked::Nothing } else { Asked::Unnamed };
        }
        let calm = self.calm.iter().filter(|calm| for_reason(&calm.reasons) || calm.says.iter().any(said));
        let never: Vec<&str> = calm.map(|calm| calm.never.as_str()).collect();
        if never.is_empty() { Asked::Nothing } else { Asked::Calm(never) }
    }

    pub(crate) fn lists(&self, id: &str) -> bool {
        self.listed.iter().any(|listed| listed.cases.iter().any(|case| case == id))
    }

    /// Returns all conditions, with repetitions.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &str> {
        let facts = self.fact.iter().flat_map(|fact| &fact.facts);
        facts.chain(self.calm.iter().map(|calm| &calm.never)).map(String::as_str)
    }

    /// Returns the ids of all named rows.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let facts = self.fact.iter().flat_map(|fact| &fact.cases);
        facts.chain(self.listed.iter().flat_map(|listed| &listed.cases)).map(String::as_str)
    }
}
