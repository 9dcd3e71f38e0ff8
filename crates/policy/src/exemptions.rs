//! Exemptions: an exempt finding stays in the record and has no effect. An exemption applies only to findings whose
//! stage permits it. Does not depend on the origin of an exemption.

use castellan_event::{Code, Exemption, Finding, Layer, ObligationKind, Verdict};

use crate::call_class::CallClass;
use crate::case::Case;
use crate::plan::PlanCheck;

/// Applies the exemptions of the operators' allow lists and of a person's grant. Earlier exemptions stay.
pub(crate) fn exempt(findings: Vec<Finding>, case: &Case<'_>) -> Vec<Finding> {
    let allowing = |finding: &Finding| finding.layer.filter(|_| finding.code == Code::OperatorAllow);
    let layers: Vec<Layer> = findings.iter().filter_map(allowing).collect();
    let is_allowed = |finding: &Finding| layers.iter().any(|layer| allows(*layer, finding));
    let by_operator = with(findings, Exemption::Operator, is_allowed);
    let by_plan = by_plan(by_operator, case);
    let by_class = by_class(by_plan, case);
    let Some(grant) = case.state.grant else { return by_class };
    with(by_class, Exemption::Grant, |finding| grant.names(finding, case.facts))
}

/// Applies a plan that a person approved to a call whose every effect is inside of it.
fn by_plan(findings: Vec<Finding>, case: &Case<'_>) -> Vec<Finding> {
    match case.state.plan {
        Some(PlanCheck::Compared(report)) if report.lifts() => {
            with(findings, Exemption::Plan, |finding| finding.verdict == Verdict::Ask)
        }
        Some(PlanCheck::Compared(_) | PlanCheck::Missing { .. }) | None => findings,
    }
}

/// Applies a person's grant for the class of the call. The class names each finding that asks.
fn by_class(findings: Vec<Finding>, case: &Case<'_>) -> Vec<Finding> {
    let granted = case.state.granted_classes;
    // The class of a call costs more than the usual empty list.
    let class =
        if granted.is_empty() { None } else { CallClass::of(&case.call.tool.name, case.facts, &findings) };
    match class.filter(|class| granted.contains(class)) {
        Some(_) => with(findings, Exemption::Grant, Finding::stops),
        None => findings,
    }
}

/// Exempts findings of some codes, because an obligation of this kind will be met.
pub(crate) fn by_obligation(findings: Vec<Finding>, kind: ObligationKind, codes: &[Code]) -> Vec<Finding> {
    with(findings, Exemption::Met(kind), |finding| codes.contains(&finding.code))
}

/// Reports whether a layer's allow list that covers the call applies to a finding. No layer exempts a finding of
/// another one, with one exception: a project's list also exempts findings of the user's layer, because it applies only
/// in projects that a person trusts.
fn allows(layer: Layer, finding: &Finding) -> bool {
    // A finding without a layer comes from the user's settings.
    match finding.layer.unwrap_or(Layer::User) {
        // The organisation's rules decide themselves about exemptions. Its access level also binds the layers below.
        Layer::Organisation => finding.code != Code::Access,
        Layer::User => layer != Layer::Organisation,
        Layer::Project => layer == Layer::Project,
    }
}

fn with(
    mut findings: Vec<Finding>,
    exemption: Exemption,
    is_meant: impl Fn(&Finding) -> bool,
) -> Vec<Finding> {
    for finding in &mut findings {
        if finding.lifted.is_none() && finding.is_liftable_by(exemption) && is_meant(finding) {
            finding.lifted = Some(exemption);
        }
    }
    findings
}
