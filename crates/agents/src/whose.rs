//! [`whose`]: finds the agent that sent a payload, by its keys. Several agents read another agent's settings file and
//! so start its hooks, but they read different replies. This module must not know how a payload is read.

use serde_json::{Map, Value as Json};

use crate::agent::AgentId;

/// The agent that sent a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// An agent that castellan guards.
    Guarded(AgentId),
    /// Another agent.
    Other(OtherAgent),
}

/// An agent that castellan does not guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherAgent {
    /// The name for people.
    pub(crate) title: &'static str,
    /// The agent's deny on standard output, where REASON marks the place of the reason as JSON.
    pub(crate) deny: Option<&'static str>,
}

/// A row of `payloads.toml`.
struct Row {
    whose: Whose,
    keys: &'static [&'static str],
    without: &'static [&'static str],
    values: &'static [(&'static str, &'static [&'static str])],
}

include!(concat!(env!("OUT_DIR"), "/payloads.rs"));

/// Returns the agent that sent the payload; `None` if no row matches.
pub(crate) fn whose(payload: &Map<String, Json>) -> Option<Whose> {
    ROWS.iter().find(|row| row.fits(payload)).map(|row| row.whose)
}

impl Row {
    fn fits(&self, payload: &Map<String, Json>) -> bool {
        let has = |key: &str, texts: &[&str]| {
            payload.get(key).and_then(Json::as_str).is_some_and(|text| texts.contains(&text))
        };
        self.keys.iter().all(|key| payload.contains_key(*key))
            && !self.without.iter().any(|key| payload.contains_key(*key))
            && self.values.iter().all(|(key, texts)| has(key, texts))
    }
}

impl Whose {
    /// Returns the name for people.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Whose::Guarded(agent) => agent.title(),
            Whose::Other(other) => other.title,
        }
    }
}
