//! Obligations, on calls whose command lists the findings and demands of two stages:
//! `ask; contain a exempts; checkpoint else ask`.

use std::cell::RefCell;
use std::time::Duration;

use castellan_event::{
    Action, Code, Exemption, Facts, Fallback, Finding, Mode, Obligation, ObligationKind, Recorder, Session,
    Verdict,
};
use proptest::prelude::*;

use crate::case::{Case, Reading};
use crate::decide::Judged;
use crate::decision::Decision;
use crate::grant::Grant;
use crate::policy::Policy;
use crate::stages::{Find, Found, Stage};
use crate::state::{Failed, State, StateChange};
use crate::tests::{Lexical, call_in};
use crate::{RequestId, Settings};
use ObligationKind::{Checkpoint, Contain, Hold, Review};

const STAGES: &[Stage] = &[
    Stage {
        name: "floor",
        find: Find::OnReading(|case, _| findings(case, "deny", Verdict::Deny, Code::DenyRule)),
        lifted_by: &[],
        finds: "",
        answers: "",
    },
    Stage {
        name: "asking",
        find: Find::OnReading(|case, _| findings(case, "ask", Verdict::Ask, Code::AskRule)),
        lifted_by: &[Exemption::Grant, Exemption::Met(Contain), Exemption::Met(Review)],
        finds: "",
        answers: "",
    },
    Stage {
        name: "asking whatever is contained",
        find: Find::OnReading(|case, _| findings(case, "insist", Verdict::Ask, Code::AskRule)),
        lifted_by: &[Exemption::Grant],
        finds: "",
        answers: "",
    },
    Stage { name: "demanding", find: Find::OnReading(demands), lifted_by: &[], finds: "", answers: "" },
];

fn parts<'c>(case: &Case<'c>) -> impl Iterator<Item = &'c str> {
    case.call.command.as_deref().unwrap_or_default().split("; ")
}

fn findings(case: &Case<'_>, word: &str, verdict: Verdict, code: Code) -> Found {
    parts(case).filter(|part| *part == word).map(|part| Finding::new(verdict, code, part)).collect()
}

fn demands(case: &Case<'_>, _: &Reading<'_>) -> Found {
    Found { findings: Vec::new(), obligations: parts(case).filter_map(obligation).collect() }
}

/// Parses `contain NAME`, `checkpoint`, `review` or `hold`. `exempts` exempts findings of rules that ask;
/// `else VERDICT` is the fallback.
fn obligation(part: &str) -> Option<Obligation> {
    let words: Vec<&str> = part.split(' ').collect();
    let action = match words.as_slice() {
        ["contain", policy, ..] => Action::Contain { policy: (*policy).to_owned() },
        ["checkpoint", ..] => Action::Checkpoint,
        ["review", ..] => Action::Review,
        ["hold", ..] => Action::Hold { wait: Duration::from_secs(5) },
        _ => return None,
    };
    let exempts = if words.contains(&"exempts") { vec![Code::AskRule, Code::DenyRule] } else { Vec::new() };
    let or_else = part.split_once("else ").map_or(Fallback::Findings, |(_, word)| word.parse().unwrap());
    Some(Obligation { action, exempts, or_else })
}

/// Judges a call by the two stages alone.
fn on_call<T>(command: &str, judge: impl FnOnce(Judged<'_>) -> T) -> T {
    let policy = Policy::new(Vec::new(), Settings::default());
    judge(Judged { stages: STAGES, call: &call_in("/w", command), facts: &Facts::default(), policy: &policy })
}

/// Judges a call and meets its obligations except the `broken` kinds. Also returns the met obligations in order.
fn fulfilled(command: &str, broken: &[ObligationKind], state: &State<'_>) -> (Decision, StateChange, String) {
    let met = RefCell::new(Vec::new());
    let mut meet = |action: &Action, _: &Decision| {
        if broken.contains(&action.kind()) {
            return Err(Failed { kind: action.kind(), why: "it is broken".to_owned(), denies: false });
        }
        met.borrow_mut().push(action.to_string());
        Ok(())
    };
    let mut world = Recorder::new(&Lexical);
    let (decision, change) = on_call(command, |judged| judged.fulfil(state, &mut world, &mut meet));
    (decision, change, met.into_inner().join(", "))
}

/// A state in which every obligation can be met.
fn fully_able(session: &Session) -> State<'_> {
    State { able: &ObligationKind::ALL, ..State::plain(session) }
}

fn unmet(decision: &Decision) -> Vec<&str> {
    let findings = decision.findings.iter().filter(|finding| finding.code == Code::Unmet);
    findings.map(|finding| finding.message.as_str()).collect()
}

/// Checks the verdict, the met obligations and the number of unmet ones. `broken`: kinds that fail before the answer.
fn check(command: &str, broken: &[ObligationKind], expected: (Verdict, &str, usize)) {
    let session = Session::default();
    let (decision, _, met) = fulfilled(command, broken, &fully_able(&session));
    let got = (decision.verdict, met.as_str(), unmet(&decision).len());
    assert_eq!(got, expected, "{command}, broken: {broken:?}: {:?}", decision.findings);
}

#[test]
fn an_obligation_that_is_met_exempts_what_its_stage_admits() {
    check("ask", &[], (Verdict::Ask, "", 0));
    check("ask; contain a exempts", &[], (Verdict::Allow, "contain a", 0));
    check("ask; review exempts", &[], (Verdict::Defer, "review", 0));
    check("insist; contain a exempts", &[], (Verdict::Ask, "", 0));
    check("ask; contain a", &[], (Verdict::Ask, "contain a", 0));
    check("ask; checkpoint exempts", &[], (Verdict::Ask, "", 0));
    // A contained call needs no review.
    check("ask; review exempts; contain a exempts", &[], (Verdict::Allow, "contain a", 0));
    // Nothing runs, so there is nothing to meet.
    check("deny; contain a exempts; checkpoint else ask", &[], (Verdict::Deny, "", 0));
    check("contain a exempts", &[], (Verdict::Defer, "", 0));
    check("contain a; checkpoint; review", &[], (Verdict::Defer, "review, checkpoint, contain a", 0));
    check("contain a; contain a", &[], (Verdict::Defer, "contain a", 0));
    check("hold", &[], (Verdict::Ask, "", 1));
    check("hold; deny", &[], (Verdict::Deny, "", 1));
}

#[test]
fn a_part_that_fails_before_the_answer_yields_the_fallback() {
    // The launcher is missing.
    check("ask; contain a exempts", &[Contain], (Verdict::Ask, "", 1));
    check("contain a else deny", &[Contain], (Verdict::Deny, "", 1));
    // The disk is full.
    check("checkpoint else ask", &[], (Verdict::Defer, "checkpoint", 0));
    check("checkpoint else ask", &[Checkpoint], (Verdict::Ask, "", 1));
    // The reviewer does not answer.
    check("ask; review exempts", &[Review], (Verdict::Ask, "", 1));
    check("ask; review exempts else deny", &[Review], (Verdict::Deny, "", 1));
    // Several failures: a met obligation stays met and is not repeated.
    check("ask; contain a exempts; checkpoint else ask", &[Contain], (Verdict::Ask, "checkpoint", 1));
    check("ask; contain a exempts; checkpoint else ask", &[Checkpoint], (Verdict::Ask, "contain a", 1));
    check("ask; contain a exempts; review exempts", &[Contain], (Verdict::Defer, "review", 1));
    check("ask; contain a exempts; review exempts", &[Contain, Review], (Verdict::Ask, "", 2));
    check(
        "checkpoint else ask; contain a else ask; review else ask",
        &ObligationKind::ALL,
        (Verdict::Ask, "", 3),
    );
}

#[test]
fn only_a_call_that_nothing_else_stops_is_reviewed_or_contained() {
    check("ask; insist; review exempts", &[], (Verdict::Ask, "", 0));
    check("ask; deny; review exempts", &[], (Verdict::Deny, "", 0));
    check("ask; ask; review exempts", &[], (Verdict::Defer, "review", 0));
    check("ask; insist; contain a exempts", &[], (Verdict::Ask, "", 0));
    check("ask; deny; contain a exempts else ask", &[Contain], (Verdict::Deny, "", 0));
    // Another obligation has another purpose.
    check("ask; insist; contain a", &[], (Verdict::Ask, "contain a", 0));
}

#[test]
fn a_reviewer_that_denies_denies_the_call_and_nothing_lifts_that() {
    let session = Session::default();
    let failed = [Failed { denies: true, ..Failed::review("nobody asked\nfor it") }];
    let state = State { failed: &failed, ..fully_able(&session) };
    let (decision, change, met) = fulfilled("ask; review exempts", &[], &state);
    assert_eq!((decision.verdict, met.as_str()), (Verdict::Deny, ""));
    assert!(unmet(&decision)[0].contains("the user did not ask for it: nobody asked"), "{decision:?}");
    assert_eq!((Grant::of(&decision, &Facts::default()), change.class), (None, None));
    // Without a finding that it could exempt, there is no review that could deny.
    for command in ["x; review exempts", "insist; review exempts", "ask; insist; review exempts"] {
        let (with, ..) = fulfilled(command, &[], &state);
        let (without, ..) = fulfilled(command, &[], &fully_able(&session));
        assert_eq!(with, without, "{command}");
    }
}

#[test]
fn obligations_that_exclude_each_other_are_not_met() {
    check("ask; contain a exempts; contain b exempts", &[], (Verdict::Ask, "", 2));
    check("contain a else ask; contain b", &[], (Verdict::Ask, "", 2));
    check("contain a else ask; contain b else deny; checkpoint", &[], (Verdict::Deny, "", 2));
    // One of them has nothing to exempt.
    check("contain a; contain b exempts", &[], (Verdict::Defer, "contain a", 0));
}

#[test]
fn an_agent_that_cannot_meet_an_obligation_gets_the_fallback() {
    let session = Session::default();
    let check = |command: &str, able: &[ObligationKind], expected: (Verdict, &str)| {
        let state = State { able, ..fully_able(&session) };
        let (decision, _, met) = fulfilled(command, &[], &state);
        assert_eq!((decision.verdict, met.as_str()), expected, "{command}, able: {able:?}");
    };
    check("ask; contain a exempts", &[Contain], (Verdict::Allow, "contain a"));
    check("ask; contain a exempts", &[Checkpoint, Hold, Review], (Verdict::Ask, ""));
    check("checkpoint else deny", &[], (Verdict::Deny, ""));
    check("checkpoint else ask; review else deny", &[Review], (Verdict::Ask, "review"));
}

#[test]
fn why_an_obligation_is_not_met_is_recorded_and_a_person_may_do_without() {
    let session = Session::default();
    let plain = fully_able(&session);
    let (decision, ..) = fulfilled("checkpoint else ask", &[Checkpoint], &plain);
    assert_eq!(unmet(&decision), ["the obligation `checkpoint` cannot be met: it is broken"]);
    let grant = Grant::of(&decision, &Facts::default());
    let granted = State { grant: grant.as_ref(), ..plain };
    let (decision, change, _) = fulfilled("checkpoint else ask", &[Checkpoint], &granted);
    assert_eq!((decision.verdict, change.used_grant), (Verdict::Allow, true));
    // A person cannot grant a fallback that denies.
    let (decision, ..) = fulfilled("checkpoint else deny", &[Checkpoint], &plain);
    assert_eq!(Grant::of(&decision, &Facts::default()), None);
}

#[test]
fn nothing_is_met_where_decisions_are_not_carried_out() {
    let session = Session::default();
    for (mode, demanded) in [(Mode::Monitor, 1), (Mode::Passthrough, 0)] {
        let state = State { mode, ..fully_able(&session) };
        let (decision, _, met) = fulfilled("ask; contain a exempts", &[], &state);
        assert_eq!(
            (met.as_str(), decision.obligations.len(), decision.answer),
            ("", demanded, Verdict::Defer)
        );
    }
    // For an agent that cannot ask, the answer is deny, so nothing runs.
    let state = State { agent_asks: false, ..fully_able(&session) };
    let (decision, _, met) = fulfilled("insist; contain a", &[], &state);
    assert_eq!((met.as_str(), decision.obligations.len(), decision.answer), ("", 0, Verdict::Deny));
}

/// Checks whether a call that can wait for a person is held, and its number of obligations.
#[track_caller]
fn check_hold(command: &str, change: impl Fn(&mut State<'_>), expected: (bool, &str, usize)) {
    let session = Session::default();
    let mut state = State { hold: Some(Duration::from_secs(9)), ..fully_able(&session) };
    change(&mut state);
    let (decision, _, met) = fulfilled(command, &[], &state);
    let got = (decision.hold().is_some(), met.as_str(), decision.obligations.len());
    assert_eq!(got, expected, "{command}: {decision:?}");
}

#[test]
fn a_call_that_a_person_can_grant_is_held_before_anything_else_is_met() {
    check_hold("insist", |_| {}, (true, "", 1));
    check_hold("insist; contain a", |_| {}, (true, "", 2));
    // A stage that demands a hold makes castellan ask, and the call is held like any other ask.
    check_hold("hold; contain a", |_| {}, (true, "", 2));
    check_hold("hold; contain a", |state| state.hold = None, (false, "contain a", 1));
    check_hold("hold else deny", |_| {}, (false, "", 0));
    check_hold("ask; contain a exempts", |_| {}, (false, "contain a", 1));
    check_hold("insist; deny", |_| {}, (false, "", 0));
    check_hold("insist", |state| state.agent_asks = false, (true, "", 1));
    check_hold("insist", |state| state.mode = Mode::Monitor, (false, "", 0));
    check_hold("insist", |state| state.hold = None, (false, "", 0));
    check_hold("insist", |state| state.able = &[], (false, "", 0));
    let failed = [Failed { kind: Hold, why: "no room".to_owned(), denies: false }];
    let session = Session::default();
    let state = State { hold: Some(Duration::from_secs(9)), failed: &failed, ..fully_able(&session) };
    let (decision, ..) = fulfilled("insist", &[], &state);
    assert_eq!((decision.answer, decision.hold()), (Verdict::Ask, None));
    assert_eq!(unmet(&decision), ["the obligation `hold 9` cannot be met: no room"]);
    // The request stays the same, because a person may already read it.
    assert!(Grant::of(&decision, &Facts::default()).is_some());
}

#[test]
fn a_call_that_waits_already_keeps_its_id_while_the_same_can_be_granted() {
    let session = Session::default();
    let plain = State { next_request: RequestId::nth(9), ..fully_able(&session) };
    let (decision, change, _) = fulfilled("insist", &[], &plain);
    assert_eq!(change.request, Some(RequestId::nth(9)));
    let grant = Grant::of(&decision, &Facts::default()).unwrap();
    let pending = crate::Pending { id: RequestId::nth(4), grant };
    for (command, expected) in [("insist", Some(4)), ("insist; ask", Some(9)), ("deny", Some(4)), ("x", None)]
    {
        let state = State { pending: Some(&pending), ..plain };
        let (_, change, _) = fulfilled(command, &[], &state);
        assert_eq!(change.request, expected.map(RequestId::nth), "{command}");
    }
}

fn any_kinds() -> impl Strategy<Value = Vec<ObligationKind>> {
    prop::sample::subsequence(ObligationKind::ALL.to_vec(), 0..=ObligationKind::ALL.len())
}

fn any_findings() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(vec!["ask", "insist", "deny"], 0..=2)
}

fn any_obligations(exempts: bool) -> impl Strategy<Value = Vec<String>> {
    let action = prop::sample::select(vec!["contain a", "contain b", "checkpoint", "review", "hold"]);
    let or_else = prop::sample::select(vec!["", " else ask", " else deny"]);
    let one = (action, any::<bool>(), or_else).prop_map(move |(action, is_exempting, or_else)| {
        let exempting = if is_exempting && exempts { " exempts" } else { "" };
        format!("{action}{exempting}{or_else}")
    });
    prop::collection::vec(one, 0..4)
}

fn text(findings: &[&str], obligations: &[String]) -> String {
    findings
        .iter()
        .map(|part| (*part).to_owned())
        .chain(obligations.iter().cloned())
        .collect::<Vec<_>>()
        .join("; ")
}

/// An allow is as mild as a defer here: a call that runs contained in the place of a question is allowed.
fn strictness(decision: &Decision) -> Verdict {
    decision.verdict.max(Verdict::Allow)
}

proptest! {
    #[test]
    fn an_obligation_alone_never_lowers_a_verdict(
        findings in any_findings(), obligations in any_obligations(false), able in any_kinds(), broken in any_kinds(),
    ) {
        let session = Session::default();
        let state = State { able: &able, ..fully_able(&session) };
        let (without, ..) = fulfilled(&text(&findings, &[]), &broken, &state);
        let (with, ..) = fulfilled(&text(&findings, &obligations), &broken, &state);
        prop_assert!(with.verdict >= without.verdict);
        prop_assert_eq!(with.findings.iter().filter(|finding| finding.lifted.is_some()).count(), 0);
    }

    #[test]
    fn an_obligation_that_is_not_met_never_lowers_a_verdict(
        findings in any_findings(), obligations in any_obligations(true), broken in any_kinds(), more in any_kinds(),
    ) {
        let session = Session::default();
        let state = fully_able(&session);
        let command = text(&findings, &obligations);
        let (before, ..) = fulfilled(&command, &broken, &state);
        let (after, _, met) = fulfilled(&command, &[broken, more.clone()].concat(), &state);
        prop_assert!(strictness(&after) >= strictness(&before), "{command}: {before:?} {after:?}");
        let (none, ..) = fulfilled(&text(&findings, &[]), &[], &state);
        let (all_broken, ..) = fulfilled(&command, &ObligationKind::ALL, &state);
        prop_assert!(all_broken.verdict >= none.verdict && all_broken.due().is_empty());
        // The obligations behind the answer were met.
        for one in after.due() {
            prop_assert!(met.split(", ").any(|met| met == one.action.to_string()), "{command}: {met}");
        }
    }

    #[test]
    fn an_agent_that_is_able_to_less_never_gets_a_laxer_verdict(
        findings in any_findings(), obligations in any_obligations(true), able in any_kinds(), more in any_kinds(),
    ) {
        let session = Session::default();
        let command = text(&findings, &obligations);
        let verdict = |able: &[ObligationKind]| {
            let state = State { able, ..fully_able(&session) };
            strictness(&on_call(&command, |judged| judged.drive(&state, &mut Recorder::new(&Lexical))).0)
        };
        prop_assert!(verdict(&able) >= verdict(&[able.clone(), more].concat()));
    }
}
