//! [`Grant`]: what a person lets happen: the findings that they were shown of one call, and no others. It must not know which
//! call that is, nor until when it holds.

use std::collections::BTreeSet;

use castellan_event::{Exemption, Facts, Finding, Layer, ScriptFile};

use crate::decision::Decision;

/// What persons have granted of one call, one part for each time that they did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// Each lifts what it names while the code that it names is the same.
    pub parts: Vec<GrantPart>,
}

/// What a person has granted of one call at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantPart {
    /// The findings that they were shown, each once and in order. There may be thousands of grants: a tree for each of them would
    /// take a kilobyte.
    pub lifts: Box<[FindingName]>,
    /// The files whose code ran, as they were.
    pub scripts: Vec<ScriptFile>,
}

/// What makes a finding the one that a person was shown. All words are those of records.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FindingName {
    /// [`castellan_event::Code::as_str`].
    pub code: String,
    /// Name of the rule; empty where none made it.
    pub rule: String,
    /// The layer of that rule; empty where none made it.
    pub layer: String,
    /// What it says.
    pub message: String,
}

impl Grant {
    /// What a person could grant of a decision: every finding that stands and that a grant may lift. `None` where something
    /// would still stand that is asked or denied.
    pub fn of(decision: &Decision, facts: &Facts) -> Option<Grant> {
        Grant::of_findings(&decision.findings, facts)
    }

    pub(crate) fn of_findings(findings: &[Finding], facts: &Facts) -> Option<Grant> {
        let standing = findings.iter().filter(|finding| finding.counts() && finding.stops());
        let lifts: Option<BTreeSet<_>> =
            standing.map(|finding| finding.is_liftable_by(Exemption::Grant).then(|| name(finding))).collect();
        let scripts = facts.scripts.clone();
        let lifts = lifts.filter(|lifts| !lifts.is_empty())?.into_iter().collect();
        Some(Grant { parts: vec![GrantPart { lifts, scripts }] })
    }

    /// Takes what another one grants of the same call.
    pub fn add(&mut self, other: &Grant) {
        self.parts.extend(other.parts.iter().cloned());
    }

    /// Whether it has lifted one of the findings of a decision.
    pub fn is_used(&self, decision: &Decision, facts: &Facts) -> bool {
        let lifted = |finding: &&Finding| finding.lifted == Some(Exemption::Grant);
        decision.findings.iter().filter(lifted).any(|finding| self.names(finding, facts))
    }

    /// Whether the finding is one of those, of a call that runs the same code as then.
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
