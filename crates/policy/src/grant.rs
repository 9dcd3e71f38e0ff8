//! [`Grant`]: the findings of one call that a person was shown and accepted, and no others. Does not depend on the call
//! or on the duration of the grant.

use std::collections::BTreeSet;

use castellan_event::{Exemption, Facts, Finding, Layer, ScriptFile};

use crate::decision::Decision;

/// All grants for one call, one part for each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// Each part exempts its findings while the code that the call runs is unchanged.
    pub parts: Vec<GrantPart>,
}

/// One grant of a person for one call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantPart {
    /// The shown findings, sorted, without duplicates. A slice, because each of thousands of trees takes a kilobyte.
    pub lifts: Box<[FindingName]>,
    /// The files whose code ran, with their state.
    pub scripts: Vec<ScriptFile>,
}

/// Identifies a finding that a person was shown. All words are those of records.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FindingName {
    /// [`castellan_event::Code::as_str`].
    pub code: String,
    /// Name of the rule; empty if no rule made the finding.
    pub rule: String,
    /// Layer of the rule; empty if no rule made the finding.
    pub layer: String,
    /// Message of the finding.
    pub message: String,
}

impl Grant {
    /// The grant that a person could give for a decision: every effective finding that a grant may exempt. `None` if a
    /// finding that asks or denies would remain.
    pub fn of(decision: &Decision, facts: &Facts) -> Option<Grant> {
        Grant::of_findings(&decision.findings, facts)
    }

    pub(crate) fn of_findings(findings: &[Finding], facts: &Facts) -> Option<Grant> {
        let stopping = findings.iter().filter(|finding| finding.counts() && finding.stops());
        let lifts: Option<BTreeSet<_>> =
            stopping.map(|finding| finding.is_liftable_by(Exemption::Grant).then(|| name(finding))).collect();
        let scripts = facts.scripts.clone();
        let lifts = lifts.filter(|lifts| !lifts.is_empty())?.into_iter().collect();
        Some(Grant { parts: vec![GrantPart { lifts, scripts }] })
    }

    /// Adds another grant for the same call.
    pub fn add(&mut self, other: &Grant) {
        self.parts.extend(other.parts.iter().cloned());
    }

    /// Reports whether the grant has exempted a finding of a decision.
    pub fn is_used(&self, decision: &Decision, facts: &Facts) -> bool {
        let lifted = |finding: &&Finding| finding.lifted == Some(Exemption::Grant);
        decision.findings.iter().filter(lifted).any(|finding| self.names(finding, facts))
    }

    /// Reports whether the grant includes the finding and the call runs the same code.
    pub(crate) fn names(&self, finding: &Finding, facts: &Facts) -> bool {
        let name = name(finding);
        self.parts.iter().any(|part| part.scripts == facts.scripts && part.lifts.contains(&name))
    }
}

fn name(finding: &Finding) -> FindingName {
    FindingName {
        code: finding.code.as_str().to_owned(),
        rule: finding.rule.clone(),
        layer: finding.layer.map_or("", Layer::as_str).to_owned(),
        message: finding.message.clone(),
    }
}
