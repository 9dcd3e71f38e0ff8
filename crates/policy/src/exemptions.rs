//! Exemptions: an exempt finding stays in the record and has no say. Each exemption applies only to findings whose stage admits it. It must
//! not know where exemptions come from.

use castellan_event::{Code, Exemption, Finding, Layer, ObligationKind};

use crate::case::Case;

/// Exempts what the operators' allow lists and a person's grant exempt. A finding that is exempt already stays as it is.
pub(crate) fn exempt(findings: Vec<Finding>, case: &Case<'_>) -> Vec<Finding> {
    let allowing = |finding: &Finding| finding.layer.filter(|_| finding.code == Code::OperatorAllow);
    let layers: Vec<Layer> = findings.iter().filter_map(allowing).collect();
    let is_allowed = |finding: &Finding| layers.iter().any(|layer| allows(*layer, finding));
    let by_operator = with(findings, Exemption::Operator, is_allowed);
    let Some(grant) = case.state.grant else { return by_operator };
    with(by_operator, Exemption::Grant, |finding| grant.names(finding, case.facts))
}

/// Exempts findings of some codes, because an obligation of this kind will be met.
pub(crate) fn by_obligation(findings: Vec<Finding>, kind: ObligationKind, codes: &[Code]) -> Vec<Finding> {
    with(findings, Exemption::Met(kind), |finding| codes.contains(&finding.code))
}

/// Reports whether the allow list of a layer, which covers the call, reaches a finding. No layer lifts what another one asks. A project's
/// list lifts what the user's does too: it counts only where a person trusts the project.
fn allows(layer: Layer, finding: &Finding) -> bool {
    // What no layer's rule finds comes of the user's settings.
    match finding.layer.unwrap_or(Layer::User) {
        // Its rules say themselves whether anybody may; a level says it of the layers below too.
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
