//! A row of the collection: an original's answer about a call.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value as Json;

/// A line of the file, without unused keys.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) system: String,
    pub(crate) source: String,
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) function: Option<String>,
    pub(crate) input: Json,
    pub(crate) config: Json,
    expected: Json,
    reason: Option<String>,
}

impl Row {
    pub(crate) fn is_shell(&self) -> bool {
        self.tool.eq_ignore_ascii_case("bash")
    }

    /// Returns the shell text. `complete` has calls that replace the bare program of a rule list.
    pub(crate) fn command(&self, complete: &BTreeMap<String, String>) -> String {
        let text = |key: &str| self.input.get(key).and_then(Json::as_str);
        let given = match (text("command").or(text("cmd")), text("raw_input")) {
            (Some(command), _) => command.to_owned(),
            // The whole input as text: JSON with a command in it, or the command itself.
            (None, Some(raw)) => match serde_json::from_str::<Json>(raw) {
                Ok(input) => input.get("command").and_then(Json::as_str).unwrap_or_default().to_owned(),
                Err(_) => raw.to_owned(),
            },
            (None, None) => String::new(),
        };
        let is_list = self.source == "rule-list";
        complete.get(&given).filter(|_| is_list).cloned().unwrap_or(given)
    }

    pub(crate) fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }

    /// Returns `key=value` for every plain value of the expectation, and the mode.
    pub(crate) fn says(&self) -> BTreeSet<String> {
        let expected = self.expected.as_object().into_iter().flatten();
        let mode = self.config.get("mode").map(|mode| ("mode", mode));
        expected
            .map(|(key, value)| (key.as_str(), value))
            .chain(mode)
            .filter_map(|(key, value)| match value {
                Json::String(text) => Some(format!("{key}={text}")),
                Json::Bool(_) | Json::Number(_) => Some(format!("{key}={value}")),
                Json::Null | Json::Array(_) | Json::Object(_) => None,
            })
            .collect()
    }
}
