//! A recorded call as JSON: the data that [`show`](super::show) writes as text.

use castellan_audit::{CallRecord, FindingRecord};
use castellan_daemon::Layout;
use serde_json::{Value as Json, json};

use super::remedy::remedies;
use super::understood::Understood;
use super::{deciding, is_stopped, name, shown_findings};
use crate::global::Global;
use crate::history::RecordedCall;
use crate::output;
use crate::times;

pub(super) fn of(global: &Global, layout: &Layout, found: &RecordedCall) -> anyhow::Result<Json> {
    let call = &found.call;
    let understood = Understood::of(layout, found);
    let unknown = understood.as_ref().err().map(output::message);
    let understood = understood.ok();
    let rules: Vec<Json> =
        shown_findings(call).map(|finding| of_finding(finding, understood.as_ref())).collect();
    let remedies = if is_stopped(call) { remedies(global, call, understood.as_ref())? } else { Vec::new() };
    let remedy = |(command, meaning)| json!({ "command": command, "meaning": meaning });
    Ok(json!({
        "version": 1,
        "record": found.seq,
        "time": times::utc(found.time),
        "request": call.request,
        "agent": call.agent,
        "tool": call.tool,
        "cwd": call.cwd,
        "input": call.input,
        "verdict": call.verdict,
        "answer": call.answer,
        "mode": call.mode,
        "enforced": call.enforced,
        "effects": understood.as_ref().map(Understood::effects),
        "effects_unknown": unknown,
        "rules": rules,
        "to_allow": remedies.into_iter().map(remedy).collect::<Vec<Json>>(),
    }))
}

/// Returns the part that a guarded agent may read.
pub(super) fn for_agent(call: &CallRecord) -> Json {
    let rule = |finding: &FindingRecord| json!({ "rule": name(finding), "message": finding.message });
    json!({
        "version": 1,
        "request": call.request,
        "verdict": call.verdict,
        "rules": deciding(call).map(rule).collect::<Vec<Json>>(),
    })
}

fn of_finding(finding: &FindingRecord, understood: Option<&Understood>) -> Json {
    json!({
        "verdict": finding.verdict,
        "rule": name(finding),
        "message": finding.message,
        "place": understood.and_then(|understood| understood.place(finding)),
        "state": super::show::exemption(finding, understood),
    })
}
