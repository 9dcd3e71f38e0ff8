//! This engine's answer to a case, by the same code as `castellan rules eval --fields TABLE --format falco-json`.

use castellan_falco::{EventSource, FieldTable, Match, Stamp, TableText};
use castellan_rules::{self as rules, Loaded, Options, Source, load};

use crate::case::{Alert, Case, Matching};

/// The fields of the plugin with which the cases were recorded.
const FIELDS: TableText<'static> =
    TableText { name: "conformance/cases_fields.json", text: include_str!("../cases_fields.json") };

pub(crate) fn table() -> anyhow::Result<FieldTable> {
    Ok(FieldTable::read(&[FIELDS])?)
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) loaded: Loaded,
    /// Empty if the rules do not load.
    pub(crate) alerts: Vec<Alert>,
}

/// Answers a case; `regex_compat_falco` as in [`Options`].
pub(crate) fn answer(case: &Case, table: &FieldTable, regex_compat_falco: bool) -> anyhow::Result<Answer> {
    let named = |(at, text): (usize, &str)| Source { name: format!("rules{at}.yaml"), text: text.to_owned() };
    let sources: Vec<Source> = case.rules().into_iter().enumerate().map(named).collect();
    let matching = match case.matching {
        Matching::All => rules::Matching::All,
        Matching::First => rules::Matching::First,
    };
    let options = table.options(Options {
        matching,
        regex_compat_falco,
        redefined_in_file: true,
        ..Options::default()
    });
    let loaded = load(&sources, &table.fields(), &options);
    let mut alerts = Vec::new();
    if !loaded.has_errors() {
        let stamp = Stamp::default();
        let source = EventSource { table, name: &options.source, stamp: &stamp };
        for (number, json) in (1..).zip(&case.events) {
            let event = source.event(number, json.clone())?;
            alerts.extend(event.matches(&loaded.rules, matching).into_iter().map(alert));
        }
    }
    Ok(Answer { loaded, alerts })
}

fn alert(found: Match<'_>) -> Alert {
    Alert {
        event: found.event - 1,
        rule: found.rule.name.clone(),
        priority: found.rule.priority.as_str().to_owned(),
        message: found.message,
        tags: found.rule.tags.to_vec(),
        output_fields: found.output_fields,
    }
}
