//! Relief: what lifts findings that name it as able to. A finding that is lifted stays in the record and has no say. It must
//! not know where relief comes from.

use castellan_event::{Facts, Finding, Relief};

use crate::grant::Grant;

/// The operator's allow list covers the call: lifts what it can lift.
pub(crate) fn by_operator(findings: &mut [Finding]) {
    lift(findings, Relief::Operator, |_| true);
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
