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
    let message = if reason.is_empty() {
        "another hook decided this first, without a reason".to_owned()
    } else {
        format!("another hook decided this first: {reason}")
    };
    // A person can only grant an ask.
    let is_firm = verdict != Verdict::Ask;
    Some(Finding { is_firm, ..Finding::new(verdict, code, message) }).into()
}

/// Records an unknown tool. Without a profile verdict the agent's prompt decides.
pub(super) fn unknown_tool(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let (tool, verdict) = (&case.call.tool, case.settings().unknown_tool.verdict());
    let message = || format!("castellan does not know the tool `{}`", tool.name_raw);
    let is_unknown = tool.kind == ToolKind::Unknown;
    is_unknown.then(|| Finding::new(verdict, Code::UnknownTool, message())).into()
}

/// Finds a tool of a new MCP server. castellan asks until somebody has agreed to the server.
pub(super) fn new_server(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let server = case.call.tool.mcp.as_ref().filter(|_| case.state.is_new_server);
    let message = |server| format!("the MCP server `{server}` is new, and no person has approved it yet");
    let finding =
        |server| Finding::new(case.settings().new_server.verdict(), Code::NewServer, message(server));
    server.map(|(server, _)| finding(server)).into()
}

/// Finds calls of a session that repeatedly attempts denied calls, except changes of the agent's own state.
pub(super) fn probing(case: &Case<'_>, _: &Reading<'_>) -> Found {
    let is_marked = case.state.session.marks.contains_key(PROBING);
    let message = "this session keeps repeating denied calls. Instead: describe to the user what is needed";
    let is_meant = is_marked && case.call.tool.kind != ToolKind::Internal;
    is_meant.then(|| Finding::new(case.settings().probing.verdict(), Code::Probing, message)).into()
}
