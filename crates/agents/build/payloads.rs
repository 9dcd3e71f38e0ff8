//! Reads `payloads.toml`, checks it, and writes it as Rust source. This module must not know how a payload is read.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::read::Problem;
use crate::shape::Agent;
use crate::write;

pub(crate) const FILE: &str = "payloads.toml";

/// Rows, in the order of matching.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payloads {
    payloads: Vec<Spanned<Row>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The word of a guarded agent.
    agent: Option<String>,
    /// The name of another agent.
    title: Option<String>,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    values: std::collections::BTreeMap<String, Vec<String>>,
    deny: Option<String>,
}

/// Returns the table as source, for a module with the types in scope.
pub(crate) fn table(text: &str, agents: &[Agent]) -> Result<String, Problem> {
    let problem = |span: Range<usize>, message: String| Problem::new(FILE, text, span.start, message);
    let read: Payloads = toml::from_str(text)
        .map_err(|error| problem(error.span().unwrap_or_default(), error.message().to_owned()))?;
    let mut rows = String::new();
    for row in &read.payloads {
        rows += &source(row.get_ref(), agents).map_err(|why| problem(row.span(), why))?;
    }
    Ok(format!("/// The rows of `{FILE}`.\nstatic ROWS: &[Row] = &[{rows}];\n"))
}

fn source(row: &Row, agents: &[Agent]) -> Result<String, String> {
    if row.keys.is_empty() && row.values.is_empty() {
        return Err("a row without `keys` or `values` fits every payload".to_owned());
    }
    if row.deny.as_ref().is_some_and(|deny| !deny.contains("REASON")) {
        return Err("`deny` has no REASON".to_owned());
    }
    let whose = match (&row.agent, &row.title, &row.deny) {
        (Some(word), None, None) => {
            let agent = agents.iter().find(|agent| agent.word.get_ref() == word);
            let agent = agent.ok_or_else(|| format!("no agent has the word `{word}`"))?;
            format!("Whose::Guarded(AgentId::{})", write::constant(agent))
        }
        (None, Some(title), deny) => {
            format!("Whose::Other(OtherAgent {{ title: {title:?}, deny: {deny:?} }})")
        }
        _ => return Err("a row has either `agent`, or `title` and perhaps `deny`".to_owned()),
    };
    let values: String =
        row.values.iter().map(|(key, texts)| format!("({key:?}, &{texts:?} as &[&str]),")).collect();
    Ok(format!(
        "Row {{ whose: {whose}, keys: &{:?}, without: &{:?}, values: &[{values}] }},\n",
        row.keys, row.without
    ))
}
