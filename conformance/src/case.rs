//! The format of a recorded case: rules, events, and real Falco's answer.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// A line of a file of cases.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) group: String,
    rules: Texts,
    pub(crate) matching: Matching,
    pub(crate) events: Vec<Json>,
    pub(crate) falco: Falco,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Matching {
    All,
    First,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Falco {
    pub(crate) ok: bool,
    pub(crate) alerts: Vec<Alert>,
    pub(crate) load: Vec<LoadedFile>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Alert {
    /// Index of the event, from 0.
    pub(crate) event: u64,
    pub(crate) rule: String,
    pub(crate) priority: String,
    pub(crate) message: String,
    pub(crate) tags: Vec<String>,
    pub(crate) output_fields: Map<String, Json>,
}

/// The problems of one rule file.
#[derive(Debug, Deserialize)]
pub(crate) struct LoadedFile {
    pub(crate) name: String,
    pub(crate) errors: Vec<Said>,
    pub(crate) warnings: Vec<Said>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Said {
    pub(crate) code: String,
}

impl Case {
    /// Returns the texts of the rule files, in order.
    pub(crate) fn rules(&self) -> Vec<&str> {
        match &self.rules {
            Texts::One(text) => vec![text],
            Texts::Many(texts) => texts.iter().map(String::as_str).collect(),
        }
    }
}
