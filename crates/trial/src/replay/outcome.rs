//! [`Outcome`]: the decision on a call by one policy or in a record. Must not depend on how a call is judged again.

use castellan_audit::{CallRecord, FindingRecord, ObligationRecord};
use castellan_event::{Fallback, Finding, ObligationKind, Verdict};

/// The decision of one policy on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The deciding rules, each once; `(opaque)` and similar codes if no rule decides.
    pub by: Vec<String>,
}

impl Outcome {
    pub(super) fn of(verdict: Verdict, findings: &[Finding]) -> Outcome {
        let strictest = findings.iter().filter(|finding| finding.verdict == verdict && finding.counts());
        let name = |finding: &Finding| match finding.rule.as_str() {
            "" => format!("({})", finding.code.as_str()),
            rule => rule.to_owned(),
        };
        Outcome { verdict, by: sorted(strictest.map(name).collect()) }
    }

    /// Returns the decision that was recorded with the call; `None` for an unknown verdict. castellan cannot verify an
    /// obligation unknown to this version, so the obligation's fallback applies.
    pub fn recorded(record: &CallRecord) -> Option<Outcome> {
        let decided = record.verdict.parse().ok()?;
        let unknown = unknown_obligations(record);
        let counts = |finding: &&FindingRecord| {
            finding.lifted.is_empty() || unknown.iter().any(|one| one.kind == finding.lifted)
        };
        let again = unknown.iter().flat_map(|one| {
            let lifted = record.findings.iter().filter(|finding| finding.lifted == one.kind);
            let or_else = one.or_else.parse().unwrap_or(Fallback::Deny).verdict();
            lifted.map(|finding| strictness(&finding.verdict)).chain([or_else])
        });
        let verdict: Verdict = again.fold(decided, Verdict::max);
        let strictest = record.findings.iter().filter(counts).filter(|one| one.verdict == verdict.as_str());
        let name = |finding: &FindingRecord| match finding.rule.as_str() {
            "" => format!("({})", finding.code),
            rule => rule.to_owned(),
        };
        Some(Outcome { verdict, by: sorted(strictest.map(name).collect()) })
    }
}

/// Returns the obligations of a record that this version does not know.
pub fn unknown_obligations(record: &CallRecord) -> Vec<&ObligationRecord> {
    let is_unknown = |one: &&ObligationRecord| one.kind.parse::<ObligationKind>().is_err();
    record.obligations.iter().filter(is_unknown).collect()
}

/// Parses a verdict. An unknown word is a deny.
fn strictness(word: &str) -> Verdict {
    word.parse().unwrap_or(Verdict::Deny)
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(verdict: &str) -> CallRecord {
        CallRecord { verdict: verdict.into(), ..CallRecord::default() }
    }

    #[test]
    fn who_decided_is_read_from_the_record() {
        let finding = |verdict: &str, rule: &str, code: &str, lifted: &str| FindingRecord {
            verdict: verdict.to_owned(),
            rule: rule.to_owned(),
            code: code.to_owned(),
            lifted: lifted.to_owned(),
            ..FindingRecord::default()
        };
        let mut record = record("ask");
        record.findings = vec![
            finding("ask", "B", "ask_rule", ""),
            finding("ask", "A", "ask_rule", "grant"),
            finding("ask", "", "opaque", ""),
            finding("defer", "C", "notice", ""),
        ];
        let by = vec!["(opaque)".to_owned(), "B".to_owned()];
        assert_eq!(Outcome::recorded(&record), Some(Outcome { verdict: Verdict::Ask, by }));
        record.verdict = "of the future".into();
        assert_eq!(Outcome::recorded(&record), None);
    }

    #[test]
    fn an_obligation_of_another_version_is_read_as_its_fallback() {
        let check = |kind: &str, or_else: &str, lifted: &str, expected: (Verdict, &[&str])| {
            let mut record = record("allow");
            record.findings = vec![FindingRecord {
                verdict: "ask".to_owned(),
                rule: "A".to_owned(),
                lifted: lifted.to_owned(),
                ..FindingRecord::default()
            }];
            let (kind, or_else) = (kind.to_owned(), or_else.to_owned());
            record.obligations = vec![ObligationRecord { kind, or_else, ..ObligationRecord::default() }];
            let recorded = Outcome::recorded(&record).unwrap();
            assert_eq!(
                (recorded.verdict, recorded.by),
                (expected.0, expected.1.iter().map(|one| (*one).to_owned()).collect())
            );
        };
        check("contain", "defer", "contain", (Verdict::Allow, &[]));
        check("quarantine", "defer", "quarantine", (Verdict::Ask, &["A"]));
        check("quarantine", "defer", "grant", (Verdict::Allow, &[]));
        check("quarantine", "ask", "grant", (Verdict::Ask, &[]));
        check("quarantine", "deny", "quarantine", (Verdict::Deny, &[]));
        check("quarantine", "of the future", "", (Verdict::Deny, &[]));
        check("quarantine", "allow", "", (Verdict::Deny, &[]));
        // The marker that replaces the cut items of a list.
        check("…[cut 3 items]", "", "", (Verdict::Deny, &[]));
    }
}
