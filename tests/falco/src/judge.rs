//! The exported rules on one row, in the order of the file, with an alert for each rule that matches.

use castellan_event::{Row, Value, field_index};
use castellan_rows::{EngineField, ROLL_CALL, plain_fields};
use castellan_rules::{Rule, RuleSet};
use serde_json::{Map, Value as Json, json};

/// A row, and the plugin's report on it.
pub trait Reports: Row {
    /// Notes that Falco has read `row.match[number]`.
    fn note(&self, number: u64);

    /// Returns the value of `row.seen` now; `None` if it is absent.
    fn report(&self) -> Option<String>;
}

/// An alert that Falco wants to post.
#[derive(Debug, Clone)]
pub struct Alert {
    /// The body of the request.
    pub body: String,
    /// The nonce of its row.
    pub nonce: String,
    /// It reports the row as judged.
    pub is_seen: bool,
    /// The row is a roll call.
    pub is_on_roll_call: bool,
}

/// Returns the alerts on a row. Each enabled rule reports its number on a roll call, else the rules that match.
pub fn alerts(rules: &RuleSet, row: &impl Reports) -> Vec<Alert> {
    let fields = plain_fields();
    let field = |name: &str| fields.iter().position(|field| field.name == name);
    let text = |name: &str| {
        let Some(Value::Text(text)) = field(name).map(|field| row.value(field, None)) else {
            return String::new();
        };
        String::from_utf8_lossy(&text).into_owned()
    };
    let (nonce, seen) = (text(EngineField::Nonce.name()), field(EngineField::Seen.name()));
    let is_on_roll_call = field_index("row.level")
        .is_some_and(|level| row.value(level, None) == Value::Text(ROLL_CALL.as_bytes().into()));
    let hits = rules.evaluate(row);
    let mut alerts = Vec::new();
    for (at, rule) in rules.rules().iter().enumerate() {
        let hit = hits.iter().find(|hit| hit.rule == at);
        if let Some(number) = number(rule).filter(|_| rule.enabled && (is_on_roll_call || hit.is_some())) {
            row.note(number);
        }
        let Some(hit) = hit else { continue };
        let is_seen = seen.is_some_and(|seen| rule.output_fields.contains(&seen));
        let report = is_seen.then(|| row.report());
        let body = body(rule, &hit.message, &nonce, report);
        alerts.push(Alert { body, nonce: nonce.clone(), is_seen, is_on_roll_call });
    }
    alerts
}

/// Returns the number that a rule reports.
fn number(rule: &Rule) -> Option<u64> {
    let (_, rest) = rule.condition.split_once("row.match[")?;
    rest.split_once(']')?.0.parse().ok()
}

/// `report`: the value of `row.seen`, if the rule's output has it.
fn body(rule: &Rule, message: &str, nonce: &str, report: Option<Option<String>>) -> String {
    let own = |field: EngineField, value: Json| (field.name().to_owned(), value);
    let mut fields =
        Map::from_iter([("evt.time".to_owned(), 1.into()), own(EngineField::Nonce, nonce.into())]);
    fields.extend(report.map(|report| own(EngineField::Seen, report.into())));
    let body = json!({
        "hostname": "h", "output": message, "output_fields": fields, "priority": rule.priority.as_str(),
        "rule": rule.name, "source": "coding_agent", "tags": &*rule.tags, "time": "2026-01-01T00:00:00.000000000Z",
    });
    body.to_string()
}
