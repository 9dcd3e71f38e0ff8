//! Stages that stop any call: by its payload, its session, its workspace, a missing policy. Independent of rules.

use castellan_event::{Code, Finding, ToolKind, Verdict};

use crate::case::{Case, Reading};
use crate::stages::Found;
use crate::state::WorkspaceTrust;

/// Denies a payload that two parsers could read as two different calls.
pub(super) fn intake(case: &Case<'_>) -> Found {
    let problems = case.call.problems.iter();
    problems.map(|problem| Finding::new(Verdict::Deny, Code::Malformed, problem.to_string())).collect()
}

/// Denies while a person has halted the agents.
pub(super) fn halt(case: &Case<'_>) -> Found {
    let message = "castellan halt is in force; a person ends it with castellan resume";
    case.state.is_halted.then(|| Finding::new(Verdict::Deny, Code::Halted, message)).into()
}

/// Notes that a person has paused castellan. The mode of a pause leaves the call to the agent.
pub(super) fn pause(case: &Case<'_>) -> Found {
    let message = "a person has paused castellan: the call was not judged";
    case.state.is_paused.then(|| Finding::new(Verdict::Defer, Code::Paused, message)).into()
}

/// Denies in a session without tools.
pub(super) fn session(case: &Case<'_>) -> Found {
    let message = "this session is an observer: it has no tools";
    (!case.settings().tools).then(|| Finding::new(Verdict::Deny, Code::NoTools, message)).into()
}

/// Denies outside of a sandbox where the settings require one.
pub(super) fn sandbox(case: &Case<'_>) -> Found {
    let message =
        "the settings require a sandbox, and this agent is in none: a person starts it with `castellan run`";
    case.state.lacks_sandbox.then(|| Finding::new(Verdict::Deny, Code::NoSandbox, message)).into()
}

/// Denies in a denied workspace.
pub(super) fn workspace(case: &Case<'_>) -> Found {
    let message = "a person has denied agents this workspace";
    let is_denied = case.state.workspace_trust == WorkspaceTrust::Denied;
    is_denied.then(|| Finding::new(Verdict::Deny, Code::DeniedWorkspace, message)).into()
}

/// Denies in a blocked session.
pub(super) fn blocked(case: &Case<'_>) -> Found {
    case.state.block.map(|block| Finding::new(Verdict::Deny, block.code, block.message.clone())).into()
}

/// Denies everything but reading without a policy.
pub(super) fn policy_present(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let problem = case.policy.problem().filter(|_| case.call.tool.kind != ToolKind::Read);
    let message = |problem| format!("castellan has no rules to judge it by: {problem}");
    problem.map(|problem| Finding::new(Verdict::Deny, Code::NoPolicy, message(problem))).into()
}
