//! The demand for a second opinion: the findings that a reviewer may exempt, as one obligation. Does not depend on the
//! reviewer.

use castellan_event::{Action, Code, Fallback, Finding, Mode, Obligation};

use super::Found;
use super::opaque;
use crate::case::{Case, Reading};
use crate::tags::RuleVerdict;

/// Demands a review of the findings that a reviewer may exempt. A call that runs anyway, and a call that a person has
/// refused, need no review. Where the agent's own model judges intent, the settings must want a second judge.
pub(super) fn opinion(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let settings = case.policy.settings();
    let is_wanted = settings.review.is_on() && (settings.review.with_host || !case.state.host_judges);
    if !is_wanted || case.state.mode != Mode::Enforce || case.state.is_refused {
        return Found::default();
    }
    let by_rule = reading.matches.iter().any(|found| found.of.verdict == RuleVerdict::Review);
    let by_doubt = settings.review.opaque && opaque::is_reviewable(case, reading);
    let exempts = [(by_rule, Code::ReviewRule), (by_doubt, Code::Opaque)];
    let exempts: Vec<Code> =
        exempts.into_iter().filter(|(is_meant, _)| *is_meant).map(|(_, code)| code).collect();
    let demanded = Obligation { action: Action::Review, exempts, or_else: Fallback::Findings };
    let obligations = if demanded.exempts.is_empty() { Vec::new() } else { vec![demanded] };
    Found { findings: Vec::<Finding>::new(), obligations }
}

#[cfg(test)]
mod tests {
    use castellan_event::{
        Effect, Exemption, FIELDS, Facts, Layer, ObligationKind, Recorder, Role, Session, Verdict, Why,
    };
    use castellan_rules::{Source, load};
    use proptest::prelude::*;

    use super::*;
    use crate::Decision;
    use crate::choices::NotAllow;
    use crate::decide::fulfil;
    use crate::policy::{LayerRules, Policy};
    use crate::review::{ReviewProvider, ReviewSettings};
    use crate::settings::Settings;
    use crate::state::{Failed, State};
    use crate::tags::Tags;
    use crate::tests::{Lexical, call_in};

    /// Three rules that match a word of the command: `soft` is reviewed, `asked` asks, `bad` denies.
    fn policy(provider: ReviewProvider) -> Policy {
        policy_of(ReviewSettings { provider, ..ReviewSettings::OFF }, NotAllow::Ask)
    }

    fn policy_of(review: ReviewSettings, opaque: NotAllow) -> Policy {
        let rule = |(word, tag): &(&str, &str)| {
            format!(
                "- rule: {word}\n  desc: d\n  condition: tool.input_command contains {word}\n  output: o\n  priority: \
                 INFO\n  source: coding_agent\n  tags: [coding_agent_{tag}]\n"
            )
        };
        let text = [("soft", "review"), ("asked", "ask"), ("bad", "deny")].iter().map(rule).collect();
        let (sources, options) = ([Source { name: "r".into(), text }], Tags::default().options());
        let rules = load(&sources, FIELDS, &options).rules;
        let layer = LayerRules { layer: Layer::User, rules, sources: &sources, options: &options };
        Policy::new(vec![layer], Settings { review, opaque, ..Settings::default() })
    }

    /// The answer of a reviewer: `Ok`, or a failure that denies or not.
    type Review = Result<(), bool>;

    /// Judges a command. Also returns how often the reviewer was asked.
    fn judged(command: &str, policy: &Policy, state: &State<'_>, review: Review) -> (Decision, usize) {
        judged_with(&Facts::default(), command, policy, state, review)
    }

    fn judged_with(
        facts: &Facts,
        command: &str,
        policy: &Policy,
        state: &State<'_>,
        review: Review,
    ) -> (Decision, usize) {
        let mut asked = 0;
        let mut meet = |action: &Action, _: &Decision| {
            if *action != Action::Review {
                return Ok(());
            }
            asked += 1;
            review.map_err(|denies| Failed { denies, ..Failed::review("the reviewer's reason") })
        };
        let mut world = Recorder::new(&Lexical);
        let call = call_in("/w", command);
        let (decision, _) = fulfil(&call, facts, policy, state, &mut world, &mut meet);
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
    fn a_reviewer_answers_for_unread_code_if_the_profile_asks_it() {
        let reviewed =
            |opaque| ReviewSettings { provider: ReviewProvider::Command, opaque, ..ReviewSettings::OFF };
        let check = |roles: &[Role], command: &str, (of, opaque), review, expected: (Verdict, usize)| {
            let effects = roles.iter().map(|role| Effect::opaque(*role, Why::Language, None)).collect();
            let facts = Facts { effects, ..Facts::default() };
            let (policy, session) = (policy_of(of, opaque), Session::default());
            let state = State { able: &[ObligationKind::Review], ..State::plain(&session) };
            let (decision, asked) = judged_with(&facts, command, &policy, &state, review);
            assert_eq!((decision.verdict, asked), expected, "{roles:?} {command}: {:?}", decision.findings);
        };
        let (on, off) = ((reviewed(true), NotAllow::Ask), (reviewed(false), NotAllow::Ask));
        let denied = (reviewed(true), NotAllow::Deny);
        check(&[Role::Code], "x", on.clone(), Ok(()), (Verdict::Defer, 1));
        check(&[Role::Program, Role::Code], "x", on.clone(), Ok(()), (Verdict::Defer, 1));
        check(&[Role::Code], "x", on.clone(), Err(true), (Verdict::Deny, 1));
        check(&[Role::Code], "x", on.clone(), Err(false), (Verdict::Ask, 1));
        check(&[Role::Code], "x", off.clone(), Ok(()), (Verdict::Ask, 0));
        check(&[Role::Code], "x", denied, Ok(()), (Verdict::Deny, 0));
        // A reviewer cannot compare an unknown target with the user's request.
        check(&[Role::Target], "x", on.clone(), Ok(()), (Verdict::Ask, 0));
        check(&[Role::Code, Role::Target], "x", on.clone(), Ok(()), (Verdict::Ask, 0));
        // One review answers for both kinds of findings, and for neither if something else asks.
        check(&[Role::Code], "soft", on.clone(), Ok(()), (Verdict::Defer, 1));
        check(&[Role::Code], "soft", off, Ok(()), (Verdict::Ask, 0));
        check(&[Role::Target], "soft", on.clone(), Ok(()), (Verdict::Ask, 0));
        check(&[Role::Code], "soft asked", on, Ok(()), (Verdict::Ask, 0));
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

    #[test]
    fn an_agent_that_judges_itself_needs_no_reviewer_unless_the_settings_say_so() {
        let session = Session::default();
        let state = State { host_judges: true, ..State::plain(&session) };
        for (with_host, expected) in [(false, (Verdict::Ask, 0)), (true, (Verdict::Defer, 1))] {
            let provider = ReviewProvider::Command;
            let review = ReviewSettings { provider, with_host, ..ReviewSettings::OFF };
            let (decision, asked) = judged("soft", &policy_of(review, NotAllow::Ask), &state, Ok(()));
            assert_eq!((decision.verdict, asked), expected, "{with_host}: {:?}", decision.findings);
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
