//! Rules that another process tests, under each profile, under single settings, and in each state of a session. The decision
//! equals that of castellan's own engine. Without an answer, no setting lets a judged call run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use castellan_event::{AccessLevel, Action, Call, Code, Facts, Mode, ObligationKind, Recorder, Verdict};
use castellan_policy::{
    AllowOrDefer, Decision, Failed, Grant, Operator, PlanCheck, PlanDeparture, PlanEnforcement, PlanReport,
    Policy, Profile, ReviewProvider, ReviewSettings, Settings, State, StateChange, Tester, WorkspaceTrust,
    fulfil,
};
use castellan_rules::Matching;

use crate::engine::{GENERATION, Other, calls, other, policy_of};
use crate::support::{Lexical, state};

/// Each profile, and `standard` with single settings that change the effect of a match.
fn settings() -> Vec<(&'static str, Settings)> {
    let profiles = Profile::ALL.map(|profile| (profile.as_str(), profile.settings()));
    let standard = || Profile::Standard.settings();
    let program = ReviewSettings {
        provider: ReviewProvider::Command,
        command: vec!["/reviewer".to_owned()],
        opaque: true,
        ..ReviewSettings::OFF
    };
    let allowed = Operator::parse(&[], &[], &["Bash".to_owned(), "Read".to_owned()]).unwrap();
    let single = [
        ("default allow", Settings { default_verdict: AllowOrDefer::Allow, ..standard() }),
        ("read-only", Settings { level: Some(AccessLevel::ReadOnly), ..standard() }),
        ("understood calls are allowed", Settings { allow_understood: true, ..standard() }),
        ("a reviewer", Settings { review: program, ..standard() }),
        ("an allow list", Settings { operators: allowed.into(), ..standard() }),
    ];
    profiles.into_iter().chain(single).collect()
}

static DEPARTED: LazyLock<PlanCheck> = LazyLock::new(|| {
    PlanCheck::Compared(PlanReport {
        name: "p".to_owned(),
        enforcement: PlanEnforcement::Strict,
        is_approved: false,
        departures: vec![PlanDeparture { kind: "the command", subject: "x".to_owned(), nearest: None }],
        is_covered: false,
        is_ad_hoc: false,
    })
});

/// What castellan can do for a call besides its answer.
const ABLE: &[ObligationKind] =
    &[ObligationKind::Contain, ObligationKind::Review, ObligationKind::Hold, ObligationKind::Checkpoint];

/// States of sessions. `true`: castellan meets the obligations of the call.
fn states() -> Vec<(&'static str, State<'static>, bool)> {
    let enforced = || state(Mode::Enforce, true);
    let able = || State { able: ABLE, ..enforced() };
    vec![
        ("enforce", enforced(), true),
        ("monitor", state(Mode::Monitor, true), true),
        ("passthrough", state(Mode::Passthrough, true), true),
        ("no question", state(Mode::Enforce, false), true),
        ("headless", State { headless: true, ..enforced() }, true),
        ("able", able(), true),
        ("able, and fails", able(), false),
        ("read-only agent", State { ceiling: AccessLevel::ReadOnly, ..enforced() }, true),
        ("unknown workspace", State { workspace_trust: WorkspaceTrust::Unknown, ..enforced() }, true),
        ("departs from a strict plan", State { plan: Some(&DEPARTED), ..enforced() }, true),
        ("halted", State { is_halted: true, ..enforced() }, true),
    ]
}

/// The rules with the program that tests them; `None`: castellan itself.
struct Engine<'t> {
    policy: Policy,
    tester: Option<&'t dyn Tester>,
}

impl<'t> Engine<'t> {
    fn native(settings: &Settings) -> Engine<'t> {
        Engine { policy: policy_of(Matching::All, &[], settings.clone()), tester: None }
    }

    fn remote(settings: &Settings, tester: &'t Other) -> Engine<'t> {
        let policy = Engine::native(settings).policy.tested_elsewhere(Some(GENERATION.to_owned()));
        Engine { policy, tester: Some(tester) }
    }

    fn judge(
        &self,
        (call, facts): &(Call, Facts),
        state: &State<'_>,
        meets: bool,
    ) -> (Decision, StateChange) {
        let mut meet = |action: &Action, _: &Decision| match meets {
            true => Ok(()),
            false => Err(Failed { kind: action.kind(), why: "a test".to_owned(), denies: false }),
        };
        let state = State { tester: self.tester, ..*state };
        fulfil(call, facts, &self.policy, &state, &mut Recorder::new(&Lexical), &mut meet)
    }
}

#[test]
fn no_setting_and_no_state_depends_on_who_tests_the_rules() {
    let finds_nothing = other(|found| {
        found.iter_mut().for_each(Vec::clear);
        Ok(())
    });
    let tester = other(|_| Ok(()));
    let mut verdicts = BTreeMap::<&str, BTreeSet<Verdict>>::new();
    for (name, settings) in settings() {
        let (native, remote) = (Engine::native(&settings), Engine::remote(&settings, &tester));
        let blind = Engine::remote(&settings, &finds_nothing);
        let mut noticed = BTreeSet::new();
        for call in calls() {
            for (state_name, state, meets) in states() {
                let expected = native.judge(&call, &state, meets);
                let found = remote.judge(&call, &state, meets);
                assert_eq!(found, expected, "{name}, {state_name}: {:?}", call.0.command);
                if blind.judge(&call, &state, meets) != expected {
                    noticed.insert(state_name);
                }
                verdicts.entry(name).or_default().insert(expected.0.verdict);
            }
        }
        // The comparison would show an engine that finds nothing, in each state in which rules have a say.
        let all = states().len() - ["passthrough", "halted"].len();
        assert_eq!(noticed.len(), all, "{name}: {noticed:?}");
    }
    // The observer denies, and the others decide in several ways.
    let uniform: Vec<&str> =
        verdicts.iter().filter(|(_, found)| found.len() < 3).map(|(name, _)| *name).collect();
    assert_eq!(uniform, ["observer"], "{verdicts:?}");
}

#[test]
fn a_grant_lifts_the_same_and_is_used_up_in_both() {
    let tester = other(|_| Ok(()));
    let mut used = 0;
    for (name, settings) in settings() {
        let (native, remote) = (Engine::native(&settings), Engine::remote(&settings, &tester));
        for call in calls() {
            let (asked, _) = native.judge(&call, &state(Mode::Enforce, true), true);
            let Some(grant) = Grant::of(&asked, &call.1) else { continue };
            let granted = State { grant: Some(&grant), ..state(Mode::Enforce, true) };
            let expected = native.judge(&call, &granted, true);
            assert_eq!(remote.judge(&call, &granted, true), expected, "{name}: {:?}", call.0.command);
            used += usize::from(expected.1.used_grant);
        }
    }
    assert!(used > 10, "{used} grants were used");
}

/// The consequences without an answer: the mode, the verdict in the record, and the answer that the agent gets.
const WITHOUT: [(Mode, Verdict, Verdict); 2] =
    [(Mode::Enforce, Verdict::Deny, Verdict::Deny), (Mode::Monitor, Verdict::Deny, Verdict::Defer)];

#[test]
fn without_an_answer_no_setting_allows_a_call() {
    let silent = other(|_| Err("Falco is gone".to_owned()));
    for (name, settings) in settings() {
        let (native, remote) = (Engine::native(&settings), Engine::remote(&settings, &silent));
        for call in calls() {
            let (asked, _) = native.judge(&call, &state(Mode::Enforce, true), true);
            let grant = Grant::of(&asked, &call.1);
            for (mode, verdict, answer) in WITHOUT {
                // The mode suspends everything but a session without tools.
                let answer = if name == "observer" { Verdict::Deny } else { answer };
                for (_, state, meets) in states().into_iter().filter(|(_, state, _)| !state.is_halted) {
                    let state = State { mode, grant: grant.as_ref(), ..state };
                    let (decision, change) = remote.judge(&call, &state, meets);
                    let found = (decision.verdict, decision.answer);
                    assert_eq!(found, (verdict, answer), "{name}, {mode:?}: {:?}", call.0.command);
                    let failed = decision.findings.iter().find(|one| one.code == Code::FailClosed);
                    assert!(failed.is_some_and(|one| one.message.contains("Falco is gone")), "{decision:?}");
                    assert!(decision.due().is_empty() && !change.used_grant, "{decision:?}");
                    assert_eq!(Grant::of(&decision, &call.1), None, "a person could allow it: {decision:?}");
                }
            }
        }
    }
}

/// A halt needs no rules, and passthrough tests none.
#[test]
fn where_no_rule_has_a_say_no_engine_is_asked() {
    let silent = other(|_| Err("Falco is gone".to_owned()));
    let has_no_say = |state: &State<'_>| state.is_halted || state.mode == Mode::Passthrough;
    for (name, settings) in settings() {
        let (native, remote) = (Engine::native(&settings), Engine::remote(&settings, &silent));
        for (state_name, state, meets) in states().into_iter().filter(|(_, state, _)| has_no_say(state)) {
            for call in calls() {
                let expected = native.judge(&call, &state, meets);
                assert_eq!(remote.judge(&call, &state, meets), expected, "{name}, {state_name}");
            }
        }
    }
}
