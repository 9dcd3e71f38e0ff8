//! Departures of a call from the plan of its session. It must not know how they are found.

use castellan_event::{Code, Finding, ToolKind, Verdict};

use crate::case::{Case, Reading};
use crate::plan::{PlanCheck, PlanDeparture, PlanEnforcement, PlanReport};
use crate::stages::Found;

/// Denies, asks about or records a departure. Without a plan that a session needs, each call but a read is a departure.
pub(super) fn plan(case: &Case<'_>, _: &Reading<'_>) -> Found {
    match case.state.plan {
        None => Found::default(),
        Some(PlanCheck::Missing { .. }) if is_harmless(case) => Found::default(),
        Some(PlanCheck::Missing { why, enforcement }) => {
            let verdict = verdict(*enforcement);
            let finding = Finding::new(verdict, Code::Plan, why.as_str());
            Some(Finding { is_firm: verdict != Verdict::Ask, ..finding }).into()
        }
        Some(PlanCheck::Compared(report)) => departed(case, report),
    }
}

/// Reports whether the tool only reads, or changes only the agent's own state.
fn is_harmless(case: &Case<'_>) -> bool {
    matches!(case.call.tool.kind, ToolKind::Read | ToolKind::Internal)
}

fn departed(case: &Case<'_>, report: &PlanReport) -> Found {
    let Some(first) = report.departures.first() else { return Found::default() };
    let verdict = match report.enforcement {
        PlanEnforcement::Strict if report.is_ad_hoc => case.settings().plans.ad_hoc.verdict(),
        enforcement @ (PlanEnforcement::Warn | PlanEnforcement::Ask | PlanEnforcement::Strict) => {
            verdict(enforcement)
        }
    };
    // An allow of this stage would suppress the agent's own prompt.
    let verdict = if verdict == Verdict::Allow { Verdict::Defer } else { verdict };
    let finding = message(Finding::new(verdict, Code::Plan, first.kind).with_text(" "), first, report);
    // A person can only grant an ask.
    Some(Finding { is_firm: verdict != Verdict::Ask, ..finding }).into()
}

fn verdict(enforcement: PlanEnforcement) -> Verdict {
    match enforcement {
        PlanEnforcement::Warn => Verdict::Defer,
        PlanEnforcement::Ask => Verdict::Ask,
        PlanEnforcement::Strict => Verdict::Deny,
    }
}

fn message(finding: Finding, first: &PlanDeparture, report: &PlanReport) -> Finding {
    let finding =
        finding.with_value(&first.subject).with_text(" is not in the plan ").with_value(&report.name);
    let more = report.departures.len().saturating_sub(1);
    let finding = if more > 0 { finding.with_text(&format!(", and {more} more")) } else { finding };
    match &first.nearest {
        Some(nearest) => finding.with_text("; the nearest step is ").with_value(nearest),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::{Facts, Recorder, Session};

    use super::*;
    use crate::choices::AllowOrAsk;
    use crate::plan::{PlanMode, PlanSettings};
    use crate::policy::Policy;
    use crate::settings::Settings;
    use crate::state::State;
    use crate::tests::{Lexical, call_in};
    use crate::{Decision, drive};

    fn report(enforcement: PlanEnforcement, is_ad_hoc: bool) -> PlanCheck {
        let nearest = Some("h-main".to_owned());
        let departure = PlanDeparture { kind: "the command", subject: "rm -rf /w/x".to_owned(), nearest };
        PlanCheck::Compared(PlanReport {
            name: "sched".to_owned(),
            enforcement,
            is_approved: enforcement == PlanEnforcement::Ask,
            departures: vec![departure.clone(), departure],
            is_covered: false,
            is_ad_hoc,
        })
    }

    fn decide(plan: &PlanCheck, ad_hoc: AllowOrAsk, agent_asks: bool, tool: ToolKind) -> Decision {
        let plans = PlanSettings { mode: PlanMode::Warn, ad_hoc };
        let policy = Policy::new(Vec::new(), Settings { plans, ..Settings::default() });
        let session = Session::default();
        let state = State { plan: Some(plan), agent_asks, ..State::plain(&session) };
        let mut call = call_in("/w", "rm -rf /w/x");
        call.tool.kind = tool;
        drive(&call, &Facts::default(), &policy, &state, &mut Recorder::new(&Lexical)).0
    }

    #[test]
    fn a_departure_is_recorded_asked_about_or_denied() {
        use PlanEnforcement::{Ask, Strict, Warn};
        for (enforcement, is_ad_hoc, ad_hoc, agent_asks, expected) in [
            (Warn, false, AllowOrAsk::Ask, true, Verdict::Defer),
            (Warn, true, AllowOrAsk::Ask, true, Verdict::Defer),
            (Strict, false, AllowOrAsk::Ask, true, Verdict::Deny),
            (Strict, false, AllowOrAsk::Allow, true, Verdict::Deny),
            (Strict, true, AllowOrAsk::Ask, true, Verdict::Ask),
            // The agent would not hold the ask.
            (Strict, true, AllowOrAsk::Ask, false, Verdict::Deny),
            (Strict, true, AllowOrAsk::Allow, true, Verdict::Defer),
            (Ask, false, AllowOrAsk::Ask, true, Verdict::Ask),
            (Ask, true, AllowOrAsk::Allow, true, Verdict::Ask),
        ] {
            let decision = decide(&report(enforcement, is_ad_hoc), ad_hoc, agent_asks, ToolKind::Shell);
            assert_eq!(decision.answer, expected, "{enforcement:?} {is_ad_hoc} {ad_hoc:?}");
            let plan = decision.findings.iter().find(|finding| finding.code == Code::Plan).unwrap();
            let message =
                "the command rm -rf /w/x is not in the plan sched, and 1 more; the nearest step is h-main";
            assert_eq!(plan.message, message);
        }
    }

    #[test]
    fn without_a_plan_that_it_needs_a_session_only_reads() {
        use PlanEnforcement::{Ask, Strict, Warn};
        for (tool, enforcement, expected) in [
            (ToolKind::Shell, Strict, Verdict::Deny),
            (ToolKind::Shell, Ask, Verdict::Ask),
            (ToolKind::Shell, Warn, Verdict::Defer),
            (ToolKind::Write, Strict, Verdict::Deny),
            (ToolKind::Write, Ask, Verdict::Ask),
            (ToolKind::Unknown, Strict, Verdict::Deny),
            (ToolKind::Read, Strict, Verdict::Defer),
            (ToolKind::Internal, Strict, Verdict::Defer),
        ] {
            let missing = PlanCheck::Missing { why: "this session has none".to_owned(), enforcement };
            let decision = decide(&missing, AllowOrAsk::Ask, true, tool);
            assert_eq!(decision.answer, expected, "{tool:?} {enforcement:?}");
        }
    }
}
