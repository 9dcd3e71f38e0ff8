//! Relief: what lifts findings that name it as able to. A finding that is lifted stays in the record and has no say. It must
//! not know where relief comes from.

use castellan_event::{Code, Facts, Finding, Layer, Relief};

use crate::grant::Grant;

/// A layer's allow list covers the call: lifts what the layer itself finds, so that no layer
/// lifts what another one asks. A project's lifts what the user's does too: it counts only where a person trusts it.
pub(crate) fn by_operator(findings: &mut [Finding], layer: Layer) {
    // What no layer's rule finds comes of the user's settings.
    let is_meant = |finding: &Finding| match finding.layer.unwrap_or(Layer::User) {
        // Its rules say themselves whether anybody may; a level says it of the layers below too.
        Layer::Organisation => finding.code != Code::Access,
        Layer::User => layer != Layer::Organisation,
        Layer::Project => layer == Layer::Project,
    };
    lift(findings, Relief::Operator, is_meant);
}

/// A person has granted the call: lifts what they were shown. Something new is not covered.
pub(crate) fn by_grant(findings: &mut [Finding], grant: &Grant, facts: &Facts) {
    lift(findings, Relief::Grant, |finding| grant.names(finding, facts));
}

/// What is lifted already stays as it is.
fn lift(findings: &mut [Finding], relief: Relief, is_meant: impl Fn(&Finding) -> bool) {
    let liftable = |finding: &&mut Finding| finding.is_liftable_by(relief) && is_meant(finding);
    for finding in findings.iter_mut().filter(liftable) {
        finding.lifted.get_or_insert(relief);
    }
}
