//! The decision about one call: read it, run each stage, exempt, settle obligations, conclude. Then [`fulfil`] meets
//! the obligations before the agent gets the answer.

use castellan_event::{
    Action, Answers, Call, Code, Facts, Finding, ObligationKind, Query, Recorder, Verdict, rows,
};

use crate::case::{Case, Missing};
use crate::conclude::conclude;
use crate::decision::Decision;
use crate::exemptions::exempt;
use crate::limits::ROUNDS_MAX;
use crate::obligations;
use crate::policy::Policy;
use crate::stages::{Find, Found, STAGES, Stage};
use crate::state::{Failed, State, StateChange};

/// One step of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// These queries must be answered first.
    Needs(Vec<Query>),
    /// The program that tests the policy's rules must be asked first.
    NeedsRules,
    /// The decision is made.
    Done(Decision, StateChange),
}

/// Meets an action of a decision, whose exempt findings are those that the action exempts, too.
pub type Meet<'m> = &'m mut dyn FnMut(&Action, &Decision) -> Result<(), Failed>;

/// Judges one call. Pure: the same call, facts, policy, state and answers give the same step.
pub fn decide(call: &Call, facts: &Facts, policy: &Policy, state: &State<'_>, answers: &Answers) -> Step {
    Judged { stages: STAGES, call, facts, policy }.decide(state, answers)
}

/// Judges a call: answers its queries from a world until the decision is made. Denies when it cannot be completed.
pub fn drive(
    call: &Call,
    facts: &Facts,
    policy: &Policy,
    state: &State<'_>,
    world: &mut Recorder<'_>,
) -> (Decision, StateChange) {
    Judged { stages: STAGES, call, facts, policy }.drive(state, world)
}

/// Judges a call and meets its obligations. An obligation that cannot be met becomes part of the state of the next
/// decision, which uses the fallback, or denies the call. Returns a call that is to be held at once.
pub fn fulfil(
    call: &Call,
    facts: &Facts,
    policy: &Policy,
    state: &State<'_>,
    world: &mut Recorder<'_>,
    meet: Meet<'_>,
) -> (Decision, StateChange) {
    Judged { stages: STAGES, call, facts, policy }.fulfil(state, world, meet)
}

/// A call under judgement.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'j> {
    /// [`STAGES`], except in tests.
    pub(crate) stages: &'j [Stage],
    pub(crate) call: &'j Call,
    pub(crate) facts: &'j Facts,
    pub(crate) policy: &'j Policy,
}

impl Judged<'_> {
    fn decide(self, state: &State<'_>, answers: &Answers) -> Step {
        let case = match Case::of(self.call, self.facts, self.policy, state, answers) {
            Ok(case) => case,
            Err(Missing::Answers(queries)) => return Step::Needs(queries),
            Err(Missing::Rules) => return Step::NeedsRules,
        };
        let mut found = Found::default();
        for stage in self.stages {
            found.add(stage.look(&case));
        }
        let findings = exempt(found.findings, &case);
        let (findings, obligations) = obligations::settle(findings, found.obligations, &case);
        let (decision, change) = conclude(&case, findings, obligations);
        Step::Done(decision, change)
    }

    pub(crate) fn drive(self, state: &State<'_>, world: &mut Recorder<'_>) -> (Decision, StateChange) {
        for _ in 0..ROUNDS_MAX {
            match self.decide(state, world.answers()) {
                Step::Done(decision, change) => return (decision, change),
                Step::Needs(queries) => {
                    if !queries.into_iter().all(|query| world.ask(query).is_some()) {
                        break;
                    }
                }
                Step::NeedsRules => match self.test_rules(state, world.answers()) {
                    Ok(matched) => world.keep_matched(matched),
                    Err(why) => {
                        let message = format!("the rules were not tested: {why}");
                        return self.fail_closed(state, world.answers(), &message);
                    }
                },
            }
        }
        self.fail_closed(state, world.answers(), "the call could not be looked into far enough to judge it")
    }

    pub(crate) fn fulfil(
        self,
        state: &State<'_>,
        world: &mut Recorder<'_>,
        meet: Meet<'_>,
    ) -> (Decision, StateChange) {
        let mut failed = state.failed.to_vec();
        let mut met: Vec<Action> = Vec::new();
        // Every round but the last finds one more kind that cannot be met.
        for _ in 0..=ObligationKind::ALL.len() {
            let state = State { failed: &failed, ..*state };
            let (decision, change) = self.drive(&state, world);
            let unmet =
                decision.due().iter().find_map(|one| meet_once(&one.action, &decision, &mut met, meet));
            match unmet {
                Some(unmet) => failed.push(unmet),
                None => return (decision, change),
            }
        }
        self.fail_closed(state, world.answers(), "the obligations of the call cannot be settled")
    }

    /// Has the program beside castellan test the rules. An answer for another number of rows is none.
    fn test_rules(self, state: &State<'_>, answers: &Answers) -> Result<Vec<Vec<u64>>, String> {
        let rows = rows(self.call, self.facts, state.session, answers);
        let rows = rows.map_err(|_| "an answer about the call is missing".to_owned())?;
        let marks: Vec<&str> = state.session.marks.keys().map(String::as_str).collect();
        let tester = state.tester.ok_or("no program is there to test them")?;
        let matched = tester.test(self.policy.generation(), &rows, &marks)?;
        match matched.len() == rows.len() {
            true => Ok(matched),
            false => Err("the engine answered about another number of rows".to_owned()),
        }
    }

    /// The deny of a call that could not be judged.
    fn fail_closed(self, state: &State<'_>, answers: &Answers, message: &str) -> (Decision, StateChange) {
        let case = Case::unread(self.call, self.facts, self.policy, state, answers);
        let gates = self.stages.iter().filter(|stage| matches!(stage.find, Find::OnCall(_)));
        let mut findings: Vec<Finding> = gates.flat_map(|stage| stage.look(&case).findings).collect();
        findings.push(Finding::new(Verdict::Deny, Code::FailClosed, message));
        conclude(&case, findings, Vec::new())
    }
}

/// Meets an obligation that is not met yet. Returns the reason of a failure.
fn meet_once(action: &Action, decision: &Decision, met: &mut Vec<Action>, meet: Meet<'_>) -> Option<Failed> {
    if met.contains(action) {
        return None;
    }
    match meet(action, decision) {
        Ok(()) => {
            met.push(action.clone());
            None
        }
        // The failure of another kind would let this one be tried without end.
        Err(failed) => Some(Failed { kind: action.kind(), ..failed }),
    }
}
