//! The status for programs.

use std::time::{Duration, SystemTime};

use serde_json::{Value as Json, json};

use super::needs;
use super::today::Today;
use crate::guard::{Fault, Guard};
use crate::protection::{Answer, GuardLevel, Protection};
use crate::times;

pub(super) fn of(protection: &Protection) -> anyhow::Result<Json> {
    let report = protection.status.as_ref().ok();
    let answer = protection.answer();
    let mut status = json!({
        "running": report.is_some(),
        "protected": answer == Answer::Protected,
        "answer": answer.word(),
        "guard_level": protection.level().map(GuardLevel::word),
    });
    let Json::Object(members) = &mut status else { return Ok(status) };
    if let Some(report) = report {
        if let Json::Object(report) = serde_json::to_value(report)? {
            members.extend(report);
        }
        // The days of a person are local; only their sum is of use.
        members.remove("recent");
        let Today { calls, is_whole } = Today::of(report, SystemTime::now());
        members.insert("today".to_owned(), json!({ "calls": calls, "is_whole": is_whole }));
        let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(report.since_s));
        members.insert("since".to_owned(), since.map(times::utc).into());
    }
    members.insert("agents".to_owned(), protection.guards.iter().map(agent).collect());
    let needs = needs::of(protection);
    let needs =
        needs.iter().map(|need| json!({ "subject": need.subject, "what": need.what, "remedy": need.remedy }));
    members.insert("needs".to_owned(), needs.collect());
    Ok(status)
}

fn agent(guard: &Guard) -> Json {
    json!({
        "agent": guard.agent.word(),
        "registered_for_user": guard.for_user,
        "registered_for_machine": guard.for_machine,
        "registered_by_plugin": guard.by_plugin(),
        "repository_can_switch_off": guard.can_be_switched_off(),
        "guarded": guard.is_guarded(),
        "not_run": guard.gap().map(Fault::what),
        "faults": guard.faults.iter().map(Fault::what).collect::<Vec<_>>(),
        "newer_than_tested": guard.untested.map(|version| version.to_string()),
    })
}
