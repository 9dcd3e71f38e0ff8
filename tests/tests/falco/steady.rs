//! [`Steady`]: texts and records without the parts that differ between two homes: paths, ids, processes, times, hashes.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use castellan_tests::home::Home;
use regex::{Captures, Regex};
use serde_json::Value as Json;

/// Members of records that differ between two homes. `engine` and `policy` name the engine, and are compared apart.
const VOLATILE: &[&str] =
    &["time", "seq", "prev", "duration_us", "engine", "policy", "agent_pid", "peer_pid"];

/// Patterns of text that differs between two homes, with their replacements.
const DIFFERENT: &[(&str, &str)] = &[
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[+-]\d{2}:\d{2}))?", "TIME"),
    (r"\b\d{2}-\d{2} \d{2}:\d{2}\b", "TIME"),
    (r"\b(process|pid) \d+", "$1 N"),
    (r"\b\d+ ?(ms|s ago|s)\b", "N$1"),
    (r"\b[0-9a-f]{12,64}\b", "HEX"),
    // A call is named by the number of its record, and the probe makes some records.
    (r"(?m)^ *\d+ +TIME", "N  TIME"),
    // Columns are as wide as ids.
    (r" {2,}", "  "),
];

/// Replaces what differs in one home. Ids get numbers in the order in which they first appear.
pub(crate) struct Steady {
    root: String,
    /// The part of the root's name that differs. castellan cuts long paths in the middle.
    random: String,
    ids: BTreeMap<String, usize>,
    id: Regex,
    different: Vec<(Regex, &'static str)>,
}

impl Steady {
    pub(crate) fn of(home: &Home) -> Result<Steady> {
        let root = home.user().parent().context("a home without a root")?.display().to_string();
        let random = root.rsplit('-').next().unwrap_or_default().to_owned();
        let different = DIFFERENT.iter().map(|(pattern, with)| Ok((Regex::new(pattern)?, *with)));
        let id = Regex::new(r"\b[A-Z]\d{1,3}\b")?;
        Ok(Steady { root, random, ids: BTreeMap::new(), id, different: different.collect::<Result<_>>()? })
    }

    /// Returns a text that equals that of another home.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut text = text.replace(&self.root, "~").replace(&self.random, "RANDOM");
        for (pattern, with) in &self.different {
            text = pattern.replace_all(&text, *with).into_owned();
        }
        let ids = &mut self.ids;
        let number = |found: &Captures<'_>| {
            let next = ids.len() + 1;
            let id = found.get(0).map(|id| id.as_str().to_owned()).unwrap_or_default();
            format!("ID{}", ids.entry(id).or_insert(next))
        };
        self.id.replace_all(&text, number).into_owned()
    }

    /// Returns a record that equals that of another home.
    pub(crate) fn record(&mut self, record: &Json) -> String {
        let mut record = record.clone();
        remove(&mut record);
        self.text(&record.to_string())
    }
}

fn remove(value: &mut Json) {
    match value {
        Json::Object(members) => {
            members.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            members.values_mut().for_each(remove);
        }
        Json::Array(all) => all.iter_mut().for_each(remove),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
