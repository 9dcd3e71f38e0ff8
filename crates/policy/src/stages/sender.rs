//! Findings about the origin of a call: another program's decision, an unknown tool, a new server, a session with
//! repeated denials. Does not depend on rules.

use castellan_event::{Code, Finding, Override, ToolKind, Verdict};

use crate::PROBING;
use crate::case::{Case, Reading};
use crate::stages::{Found, allow};

/// The decision of a program that embeds the agent, or of another hook. Its allow has the same weight as a rule's allow
/// and covers no Opaque part. Its deny is final.
pub(super) fn overriding(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let Some(Override { verdict, reason }) = case.call.agent.overriding.as_ref() else {
        return Found::default();
    };
    let is_understood = || !allow::leaves(reading.rows()).any(|leaf| allow::is_opaque(leaf.row));
    let (verdict, code) = match verdict {
        Verdict::Deny => (Verdict::Deny, Code::OverrideDeny),
        Verdict::Ask => (Verdict::Ask, Code::OverrideAsk),
        Verdict::Allow if is_understood() => (Verdict::Allow, Code::OverrideAllow),
        Verdict::Allow | Verdict::Defer => (Verdict::Defer, Code::OverrideAllow),
    };
    let finding = Finding::new(verdict, code, "another hook decided this first");
    let finding = match reason.as_str() {
        "" => finding.with_text(", without a reason"),
        reason => finding.with_text(": ").with_value(reason),
    };
    // A person can only grant an ask.
    let is_firm = verdict != Verdict::Ask;
    Some(Finding { is_firm, ..finding }).into()
}

/// Records an unknown tool. Without a profile verdict the agent's prompt decides.
pub(super) fn unknown_tool(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let (tool, verdict) = (&case.call.tool, case.settings().unknown_tool.verdict());
    let finding = || {
        Finding::new(verdict, Code::UnknownTool, "castellan does not know the tool ")
            .with_value(&tool.name_raw)
    };
    (tool.kind == ToolKind::Unknown).then(finding).into()
}

/// Finds a tool of a new MCP server. castellan asks until somebody has agreed to the server.
pub(super) fn new_server(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let server = case.call.tool.mcp.as_ref().filter(|_| case.state.is_new_server);
    let finding = |server: &str| {
        Finding::new(case.settings().new_server.verdict(), Code::NewServer, "the MCP server ")
            .with_value(server)
            .with_text(" is new, and no person has approved it yet")
    };
    server.map(|(server, _)| finding(server)).into()
}

/// Finds calls of a session that repeatedly attempts denied calls, except changes of the agent's own state.
pub(super) fn probing(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let is_marked = case.state.session.marks.contains_key(PROBING);
    let message = "this session keeps repeating denied calls";
    let is_meant = is_marked && case.call.tool.kind != ToolKind::Internal;
    let finding = || {
        Finding::new(case.settings().probing.verdict(), Code::Probing, message)
            .with_remedy("describe to the user what is needed")
    };
    is_meant.then(finding).into()
}
