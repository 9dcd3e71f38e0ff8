//! What stops a call whatever it does: its payload, its session, its workspace, a missing policy. It must not know rules.

use castellan_event::{Code, Finding, ToolKind, Verdict};

use crate::case::{Case, Reading};
use crate::stages::Found;
use crate::state::Standing;

/// A payload that two readers could take for two calls.
pub(super) fn intake(case: &Case<'_>) -> Found {
    let problems = case.call.problems.iter();
    problems.map(|problem| Finding::new(Verdict::Deny, Code::Malformed, problem.to_string())).collect()
}

/// A session that has no tools.
pub(super) fn session(case: &Case<'_>) -> Found {
    let settings = case.settings();
    let message = || format!("sessions of the profile {} have no tools", settings.profile);
    (!settings.tools).then(|| Finding::new(Verdict::Deny, Code::NoTools, message())).into()
}

/// A workspace in which sessions may do nothing.
pub(super) fn workspace(case: &Case<'_>) -> Found {
    let message = "sessions in this workspace are denied";
    let is_denied = case.state.standing == Standing::Denied;
    is_denied.then(|| Finding::new(Verdict::Deny, Code::DeniedWorkspace, message)).into()
}

/// A session that may do nothing more.
pub(super) fn barred(case: &Case<'_>) -> Found {
    case.state.bar.map(|bar| Finding::new(Verdict::Deny, bar.code, bar.message.clone())).into()
}

/// Without a policy nothing but reading is let through.
pub(super) fn policy_present(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let problem = case.policy.problem().filter(|_| case.call.tool.kind != ToolKind::Read);
    let message = |problem| format!("no rules could be loaded: {problem}");
    problem.map(|problem| Finding::new(Verdict::Deny, Code::NoPolicy, message(problem))).into()
}
