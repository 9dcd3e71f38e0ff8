//! castellan's records of a script's calls, and the results that the model received.

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use super::Stage;
use crate::model::Model;

impl Stage {
    /// Returns the records of calls.
    pub(crate) fn calls(&self) -> Result<Vec<Json>> {
        let records = self.home.records()?;
        let calls = records.iter().filter(|record| record.get("type") == Some(&"call".into()));
        Ok(calls.filter_map(|record| record.get("call").cloned()).collect())
    }

    /// Returns the only record of the call with the script's `id`. An agent without ids in its hooks asks about the
    /// calls of a conversation in order; here, each turn has one call.
    pub(crate) fn call<'a>(&self, calls: &'a [Json], id: &str) -> Result<&'a Json> {
        if !self.agent.tells_ids() {
            let turn = id.split('-').nth(1).and_then(|turn| turn.parse::<usize>().ok());
            return turn
                .and_then(|turn| calls.get(turn))
                .with_context(|| format!("no record of call `{id}`: {calls:?}"));
        }
        let mut found = calls.iter().filter(|call| call["use_id"] == id);
        let call = found.next().with_context(|| format!("no record of call `{id}`: {calls:?}"))?;
        ensure!(found.next().is_none(), "two records of call `{id}`: {calls:?}");
        Ok(call)
    }
}

/// Returns the only record of a call whose input contains this text.
pub(super) fn call_about<'a>(calls: &'a [Json], text: &str) -> Result<&'a Json> {
    let mut found = calls.iter().filter(|call| call["input"].to_string().contains(text));
    let call = found.next().with_context(|| format!("no record of a call about `{text}`: {calls:?}"))?;
    ensure!(found.next().is_none(), "two records of calls about `{text}`: {calls:?}");
    Ok(call)
}

pub(crate) fn expect_told(model: &Model, call: &str, told: &str) {
    let heard = model.result_of(call).unwrap_or_default();
    assert!(heard.contains(told), "the model was told `{heard}`, not `{told}`");
    assert!(
        !heard.contains("castellan log") && !heard.contains("castellan stop"),
        "the model was told how: `{heard}`"
    );
}

pub(crate) fn expect_record(record: &Json, expected: Json) {
    for (key, value) in expected.as_object().into_iter().flatten() {
        assert_eq!(&record[key], value, "`{key}` in {record}");
    }
}
