//! Relief: what lifts findings that name it as able to. A finding that is lifted stays in the record and has no say. It must
//! not know where relief comes from.

use castellan_event::{Finding, Relief};

/// Lifts what this relief can lift, and nothing else. What is lifted already stays as it is.
pub(crate) fn lift(findings: &mut [Finding], relief: Relief) {
    for finding in findings.iter_mut().filter(|finding| finding.is_liftable_by(relief)) {
        finding.lifted.get_or_insert(relief);
    }
}
