//! [`whose`]: which agent a payload is of, by its keys. Several agents read another agent's settings file, and so start its hooks; what
//! they understand differs. It must not know how a payload is read.

use serde_json::{Map, Value as Json};

use crate::agent::AgentId;
use crate::reply::Reply;

/// The agent that a payload is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// An agent that castellan guards.
    Guarded(AgentId),
    /// Another one.
    Other(OtherAgent),
}

/// An agent that castellan does not guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherAgent {
    /// Its name for people.
    pub(crate) title: &'static str,
    /// What it reads as a deny on standard output, with REASON for the reason as JSON.
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

/// Returns the agent that the payload is of; `None` where no row fits.
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

impl OtherAgent {
    /// Encodes a deny as the agent understands it.
    pub(crate) fn denial(&self, line: &str) -> Reply {
        let reason = Json::from(line).to_string();
        let stdout = self.deny.map(|deny| deny.replace("REASON", &reason)).unwrap_or_default();
        Reply { exit: 2, stdout: stdout.into_bytes(), stderr: format!("{line}\n").into_bytes() }
    }
}
