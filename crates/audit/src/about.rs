//! [`About`]: the words of a record that its copy outside of the home has. It must not know lines and hashes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{COPIED_RULES_MAX, COPIED_TEXT_CHARS_MAX};
use crate::record::{CallRecord, Record, Stream};
use crate::text::Text;

/// The words of a call; empty for other records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    #[serde(skip_serializing_if = "String::is_empty")]
    verdict: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    session: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    request: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<String>,
}

impl About {
    pub(crate) fn of(record: &Record) -> About {
        match record {
            Record::Call(call) if record.stream() == Stream::Notable => About::call(call),
            Record::Call(_)
            | Record::Session(_)
            | Record::Control(_)
            | Record::Failure(_)
            | Record::Ungoverned(_)
            | Record::Gap(_)
            | Record::Retention(_)
            | Record::Recovery(_) => About::default(),
        }
    }

    /// Returns the verdict; empty for other records.
    pub(crate) fn verdict(&self) -> &str {
        &self.verdict
    }

    fn call(call: &CallRecord) -> About {
        let named = |verdict: &str| verdict == call.verdict.as_str();
        let stopped = call.findings.iter().filter(|one| one.lifted.is_empty() && named(&one.verdict));
        let mut rules: Vec<String> = Vec::new();
        for finding in stopped {
            let name = if finding.rule.is_empty() { &finding.code } else { &finding.rule };
            let name = short(&Text::from(name.as_str()));
            if rules.len() < COPIED_RULES_MAX && !rules.contains(&name) {
                rules.push(name);
            }
        }
        About {
            verdict: short(&call.verdict),
            session: short(&call.session_id),
            request: short(&call.request),
            rules,
        }
    }
}

/// Returns the text, redacted before it is cut, in ASCII: programs that store system logs change other characters.
fn short(text: &Text) -> String {
    let Ok(Value::String(clean)) = serde_json::to_value(text) else { return String::new() };
    let plain = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
    clean.chars().take(COPIED_TEXT_CHARS_MAX).map(plain).collect()
}
