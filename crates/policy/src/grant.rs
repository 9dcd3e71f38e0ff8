//! [`Grant`]: what a person lets happen: the findings that they were shown of one call, and no others. It must not know which
//! call that is, nor until when it holds.

use std::collections::BTreeSet;

use castellan_event::{Decision, Facts, Finding, Relief, ScriptFile};

/// Findings of one call that a person has granted, by kind, rule and what they say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    lifts: BTreeSet<(&'static str, String, String)>,
    /// The files whose code ran, as they were.
    scripts: Vec<ScriptFile>,
}

impl Grant {
    /// What a person could grant of a decision: every finding that stands and that a grant may lift. `None` where something
    /// would still stand that is asked or denied.
    pub fn of(decision: &Decision, facts: &Facts) -> Option<Grant> {
        let standing = decision.findings.iter().filter(|finding| finding.counts() && finding.stops());
        let lifts: Option<BTreeSet<_>> =
            standing.map(|finding| finding.is_liftable_by(Relief::Grant).then(|| name(finding))).collect();
        let scripts = facts.scripts.clone();
        lifts.filter(|lifts| !lifts.is_empty()).map(|lifts| Grant { lifts, scripts })
    }

    /// Whether the call still runs the same code.
    pub(crate) fn is_of(&self, facts: &Facts) -> bool {
        self.scripts == facts.scripts
    }

    /// Whether the finding is one of those.
    pub(crate) fn names(&self, finding: &Finding) -> bool {
        self.lifts.contains(&name(finding))
    }
}

fn name(finding: &Finding) -> (&'static str, String, String) {
    (finding.code.as_str(), finding.rule.clone(), finding.message.clone())
}
