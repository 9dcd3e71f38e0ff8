//! [`Grant`]: what a person lets happen: the findings that they were shown of one call, and no others. It must not know which
//! call that is, nor until when it holds.

use std::collections::BTreeSet;

use castellan_event::{Decision, Finding, Relief};

/// Findings of one call that a person has granted, by kind and rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    lifts: BTreeSet<(&'static str, String)>,
}

impl Grant {
    /// What a person could grant of a decision: every finding that stands and that a grant may lift. `None` where something
    /// would still stand that is asked or denied.
    pub fn of(decision: &Decision) -> Option<Grant> {
        let standing = decision.findings.iter().filter(|finding| finding.counts() && finding.stops());
        let lifts: Option<BTreeSet<_>> =
            standing.map(|finding| finding.is_liftable_by(Relief::Grant).then(|| name(finding))).collect();
        lifts.filter(|lifts| !lifts.is_empty()).map(|lifts| Grant { lifts })
    }

    /// Whether the finding is one of those.
    pub(crate) fn names(&self, finding: &Finding) -> bool {
        self.lifts.contains(&name(finding))
    }
}

fn name(finding: &Finding) -> (&'static str, String) {
    (finding.code.as_str(), finding.rule.clone())
}
