//! Findings of rules, by the verdicts of their tags. Does not depend on the matching of rules.

use std::collections::BTreeSet;

use castellan_event::{Action, Code, Exemption, Fallback, Finding, Mode, Obligation, Verdict};

use crate::case::{Case, Reading};
use crate::policy::RuleMatch;
use crate::rule_state::RuleState;
use crate::stages::{Found, allow};
use crate::tags::RuleVerdict;

/// Rules tagged deny.
pub(super) fn deny(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Deny, Verdict::Deny, Code::DenyRule)
}

/// Rules tagged ask.
pub(super) fn ask(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Ask, Verdict::Ask, Code::AskRule)
}

/// Rules tagged review: soft denials, harmless if the user asked for the call. They ask if no reviewer finds that the
/// user did. A call that runs anyway, and a call that a person has refused, need no review.
pub(super) fn review(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let mut found = findings(&reading.matches, RuleVerdict::Review, Verdict::Ask, Code::ReviewRule);
    let is_reviewed = case.policy.settings().review.is_on()
        && case.state.mode == Mode::Enforce
        && !case.state.is_refused
        && !found.findings.is_empty();
    if is_reviewed {
        let (exempts, or_else) = (vec![Code::ReviewRule], Fallback::Findings);
        found.obligations.push(Obligation { action: Action::Review, exempts, or_else });
    }
    found
}

/// Rules tagged allow: they apply only if together they cover every leaf of the call.
pub(super) fn allow(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let is_meant =
        |m: &&RuleMatch<'_>| m.of.verdict == RuleVerdict::Allow && m.of.state == RuleState::Enforce;
    let allows: Vec<_> = reading.matches.iter().filter(is_meant).collect();
    let is_covered = allow::cover(case.call, reading.rows(), &allows);
    let verdict = if is_covered { Verdict::Allow } else { Verdict::Defer };
    findings(&reading.matches, RuleVerdict::Allow, verdict, Code::AllowRule)
}

/// Rules without a verdict tag: only recorded.
pub(super) fn notices(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Notice, Verdict::Defer, Code::Notice)
}

/// Labels of the marks that the matching rules set, independently of their verdicts.
pub(crate) fn marks(matches: &[RuleMatch<'_>]) -> BTreeSet<String> {
    matches.iter().flat_map(|m| m.of.marks).cloned().collect()
}

fn findings(matches: &[RuleMatch<'_>], kind: RuleVerdict, verdict: Verdict, code: Code) -> Found {
    let fired = matches.iter().filter(|m| m.of.verdict == kind);
    let finding = |m: &RuleMatch<'_>| Finding {
        remedy_at: m.remedy_at,
        values: m.values.clone(),
        rule: m.of.rule.name.clone(),
        layer: Some(m.of.layer),
        is_firm: m.of.is_firm,
        rows: m.rows.clone(),
        lifted: (m.of.state == RuleState::Observe).then_some(Exemption::Observe),
        ..Finding::new(verdict, code, m.message.clone())
    };
    fired.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use castellan_event::{FIELDS, Facts, Layer, Mode, ObligationKind, Recorder, Session};
    use castellan_rules::{Source, load};
    use proptest::prelude::*;

    use super::*;
    use crate::Decision;
    use crate::decide::fulfil;
    use crate::policy::{LayerRules, Policy};
    use crate::review::{ReviewProvider, ReviewSettings};
    use crate::settings::Settings;
    use crate::state::{Failed, State};
    use crate::tags::Tags;
    use crate::tests::{Lexical, call_in};

    /// Three rules that match a word of the command: `soft` is reviewed, `asked` asks, `bad` denies.
    fn policy(provider: ReviewProvider) -> Policy {
        let rule = |(word, tag): &(&str, &str)| {
            format!(
                "- rule: {word}\n  desc: d\n  condition: tool.input_command contains {word}\n  output: o\n  priority: \
                 INFO\n  source: coding_agent\n  tags: [coding_agent_{tag}]\n"
            )
        };
        let text = [("soft", "review"), ("asked", "ask"), ("bad", "deny")].iter().map(rule).collect();
        let (sources, options) = ([Source { name: "r".into(), text }], Tags::default().options());
        let rules = load(&sources, FIELDS, &options).rules;
        let review = ReviewSettings { provider, ..ReviewSettings::OFF };
        let layer = LayerRules { layer: Layer::User, rules, sources: &sources, options: &options };
        Policy::new(vec![layer], Settings { review, ..Settings::default() })
    }

    /// The answer of a reviewer: `Ok`, or a failure that denies or not.
    type Review = Result<(), bool>;

    /// Judges a command. Also returns how often the reviewer was asked.
    fn judged(command: &str, policy: &Policy, state: &State<'_>, review: Review) -> (Decision, usize) {
        let mut asked = 0;
        let mut meet = |_: &Action, _: &Decision| {
            asked += 1;
            review.map_err(|denies| Failed { denies, ..Failed::review("the reviewer's reason") })
        };
        let mut world = Recorder::new(&Lexical);
        let call = call_in("/w", command);
        let (decision, _) = fulfil(&call, &Facts::default(), policy, state, &mut world, &mut meet);
        (decision, asked)
    }

    #[test]
    fn a_reviewer_answers_for_review_findings() {
        let (off, on) = (policy(ReviewProvider::Off), policy(ReviewProvider::Command));
        let session = Session::default();
        let check = |command: &str, policy: &Policy, review, expected: (Verdict, usize)| {
            let (decision, asked) = judged(command, policy, &State::plain(&session), review);
            assert_eq!((decision.verdict, asked), expected, "{command}: {:?}", decision.findings);
        };
        check("soft", &off, Ok(()), (Verdict::Ask, 0));
        check("soft", &on, Ok(()), (Verdict::Defer, 1));
        check("soft", &on, Err(true), (Verdict::Deny, 1));
        check("soft", &on, Err(false), (Verdict::Ask, 1));
        check("x", &on, Err(true), (Verdict::Defer, 0));
        check("soft asked", &on, Ok(()), (Verdict::Ask, 0));
        check("soft bad", &on, Ok(()), (Verdict::Deny, 0));
        check("asked", &on, Err(true), (Verdict::Ask, 0));
    }

    #[test]
    fn a_call_that_runs_anyway_or_that_a_person_refused_is_not_reviewed() {
        let (on, session) = (policy(ReviewProvider::Command), Session::default());
        let plain = State::plain(&session);
        for state in [
            State { mode: Mode::Monitor, ..plain },
            State { mode: Mode::Passthrough, ..plain },
            State { is_refused: true, ..plain },
        ] {
            assert_eq!(judged("soft", &on, &state, Ok(())).1, 0, "{state:?}");
        }
    }

    proptest! {
        /// An answer exempts review findings, or adds one finding that denies. Each other finding stays as it is.
        #[test]
        fn a_review_changes_nothing_but_review_findings(
            words in prop::collection::vec(prop::sample::select(vec!["soft", "asked", "bad", "x"]), 0..4),
            review in prop::sample::select(vec![Ok(()), Err(true), Err(false)]),
        ) {
            let session = Session::default();
            let (command, state) = (words.join(" "), State::plain(&session));
            let (without, _) = judged(&command, &policy(ReviewProvider::Off), &state, review);
            let (with, asked) = judged(&command, &policy(ReviewProvider::Command), &state, review);
            let others = |decision: &Decision| -> Vec<Finding> {
                let is_other = |one: &&Finding| !matches!(one.code, Code::ReviewRule | Code::Unmet);
                decision.findings.iter().filter(is_other).cloned().collect()
            };
            prop_assert_eq!(others(&with), others(&without));
            let is_alone = others(&with).iter().all(|finding| !finding.stops()) && command.contains("soft");
            prop_assert_eq!(asked, usize::from(is_alone));
            match review {
                Ok(()) if is_alone => prop_assert_eq!(with.verdict, Verdict::Defer),
                Err(true) if is_alone => prop_assert_eq!(with.verdict, Verdict::Deny),
                Ok(()) | Err(_) => prop_assert_eq!(with.verdict, without.verdict),
            }
            let met = Some(Exemption::Met(ObligationKind::Review));
            for finding in with.findings.iter().filter(|finding| finding.lifted == met) {
                prop_assert_eq!(finding.code, Code::ReviewRule);
            }
        }
    }
}
