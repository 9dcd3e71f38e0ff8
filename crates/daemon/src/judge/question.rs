//! An agent's question about a call, and its second question at its own prompt. It must not know other requests.

use std::borrow::Cow;
use std::sync::Arc;

use castellan_agents::{self as agents, AgentId, Message};
use castellan_audit::Record;
use castellan_event::{Action, Agent, Call, Facts, ObligationKind, PartsHash, Recorder, ToolKind, Verdict};
use castellan_policy::{
    Decision, Failed, RequestId, State, StateChange, agent_text, drive, fulfil, unattended_text, user_text,
};
use castellan_wire::Reply;

use super::begun::begun;
use super::consent::waits;
use super::grounds::{Earlier, Grounds};
use super::sessions::Look;
use super::ungoverned::input_hash;
use super::weighed::Weighed;
use super::{Asked, Attempt, Failure, Judge, Outcome, Terms, Whose, reply};
use crate::facts::{facts_after, leave_to_sessions, own_files_of};
use crate::jobs::start_of_call;
use crate::memory::{CallKey, Copying, Decided, Given};
use crate::record::Judged;
use crate::requests::{Now, Waits};
use crate::risks::Risks;
use crate::shipped::CANARY_TOOL;
use crate::world::FileSystem;

impl Judge {
    /// Judges the agent's question whether a call may run. `before` is an earlier answer, whose marks are already set.
    pub(super) fn question(
        &self,
        asked: &Asked<'_>,
        call: &Call,
        whose: &Whose,
        before: Option<Given>,
    ) -> Result<Attempt, Failure> {
        let weighed = self.weigh(asked, call, whose, before);
        // Before the record: a grant stays used up even if the call then fails. A full disk must not restore it.
        if !self.settle(&weighed) {
            return Ok(Attempt::JudgeAgain);
        }
        self.conclude(weighed).map(Attempt::from)
    }

    /// Judges a call and meets its obligations. Records, stores and replies nothing yet. No other call can use the
    /// call's grant meanwhile. A call that is judged again meets its obligations again.
    pub(super) fn weigh<'a>(
        &self,
        asked: &'a Asked<'a>,
        call: &'a Call,
        whose: &'a Whose,
        before: Option<Given>,
    ) -> Weighed<'a> {
        let of = (asked, call, whose);
        let (consent, earlier) = self.consent(of, before);
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let grounds = self.grounds(of, earlier, &mut world);
        let falco = self.engine.of_call(asked.started);
        let state = State { tester: Some(&falco), ..grounds.state(asked, whose) };
        let policy = &asked.terms().policy;
        let mut rewrite = None;
        let mut meet = |action: &Action, decision: &Decision| match action {
            Action::Review => self.review(of, &grounds, decision),
            Action::Contain { policy } => {
                rewrite = Some(self.contain(of, &grounds.facts, policy)?);
                Ok(())
            }
            Action::Checkpoint => self.checkpoint(of, &grounds.facts, decision),
            // A person answers a held call.
            Action::Hold { .. } => {
                let why = format!("this version of castellan cannot meet `{action}`");
                Err(Failed { kind: action.kind(), why, denies: false })
            }
        };
        let (decision, change) = fulfil(call, &grounds.facts, policy, &state, &mut world, &mut meet);
        let answers = world.into_answers();
        // The last decision may have dropped the obligation, after another one failed.
        let is_due = decision.due().iter().any(|one| one.action.kind() == ObligationKind::Contain);
        let rewrite = rewrite.filter(|_| is_due);
        Weighed { asked, call, whose, consent, grounds, answers, decision, change, rewrite }
    }

    /// Records the decision and stores its consequences.
    fn conclude(&self, weighed: Weighed<'_>) -> Result<Outcome, Failure> {
        let Weighed { asked, call, whose, ref decision, ref change, .. } = weighed;
        let policy = &asked.terms().policy;
        let reviewed = asked.reviewed.borrow();
        let judged = Judged {
            rewrite: weighed.rewrite.as_ref().map_or("", |rewrite| &rewrite.command),
            review: reviewed.as_ref().map_or("", |reviewed| &reviewed.opinion.reason),
            call,
            decision,
            answers: &weighed.answers,
            change,
            policy: policy.hash(),
            engine: policy.settings().engine.kind,
            run: asked.run,
            workspace: whose.inside(),
            reported: &self.seen_texts,
        };
        self.commit(&judged.record(asked.started.elapsed()), whose, &change.marks)?;
        self.engine.copy(call, &weighed.grounds.facts, &weighed.grounds.earlier.session, &weighed.answers);
        drop(reviewed);
        self.tell_trust(whose, &call.agent, policy, Look::Call);
        self.log_departures(&weighed);
        self.keep_waiting(&weighed);
        if let (Some(time), Some(id)) = (decision.hold(), change.request) {
            return Ok(Outcome::Held { id, time, session: whose.session.id });
        }
        self.tally.judged(decision.verdict);
        if call.tool.kind == ToolKind::Unknown && call.tool.name_raw != CANARY_TOOL {
            self.tally.of_unknown_tool(&call.tool.name_raw);
        }
        Ok(Outcome::Decided(self.answered(weighed)))
    }

    /// Stores the answer for the agent's second question and for its later report about the call. Returns the reply.
    fn answered(&self, weighed: Weighed<'_>) -> Reply {
        let is_at_prompt = waits(&weighed) == Waits::AtPrompt;
        let Weighed { asked, call, whose, consent, grounds, decision, change, rewrite, .. } = weighed;
        let Grounds { earlier, facts, .. } = grounds;
        let copied = facts.contained_copies.clone();
        // From now on the agent shows the command that it runs.
        let rewritten = rewrite.as_ref().map(|rewrite| rewrite.call(call));
        let shown = rewritten.as_ref().unwrap_or(call);
        let risks = Risks::of(&facts);
        let number = earlier.first.unwrap_or(call.correlation_id);
        if change.answer != Verdict::Deny {
            let mut begun = begun(call, number, facts, whose.inside());
            begun.start = Some(start_of_call(asked.sender.agent));
            if rewrite.is_some() {
                // The files of a contained call are compared at its end, and its code runs inside.
                begun.scripts.clear();
                begun.code.clear();
                begun.copying = Copying::none();
            }
            let mut memory = self.memory();
            if rewrite.is_none() {
                memory.copy_contained(&copied, number);
            }
            let forgotten = memory.begin(whose.session.root, begun);
            drop(memory);
            self.check_later(&call.agent, forgotten);
        } else {
            self.prompts.end(asked.sender.agent, &call.tool.use_id);
        }
        let mut reported = reported(&decision, &change, is_at_prompt);
        if change.answer != Verdict::Deny && earlier.first.is_none() {
            reported.user_note.extend(self.presented_plan(asked, whose, call));
        }
        let given = Given {
            verdict: change.answer,
            reason: reported.reason.clone(),
            session: earlier.session,
            call: number,
            grant: earlier.granted.filter(|_| change.used_grant),
            met: decision.due().iter().map(|one| one.action.clone()).collect(),
            epoch: asked.epoch,
            is_rewritten: rewrite.is_some(),
        };
        let key = key(asked.agent, shown);
        let decided = Decided {
            judged: Some(key),
            input: Some(input_hash(shown)),
            original: rewritten.as_ref().map(|_| input_hash(call)),
            granted_as: Some(consent.key),
            is_at_prompt,
            risks,
            ..Decided::remembered(change.answer)
        };
        self.keep_decision(whose, call, decided);
        self.memory().remember(key, given);
        reported.rewrite = rewrite.map(|rewrite| rewrite.input);
        reply(agents::encode(asked.agent, &asked.request.event, &reported))
    }

    /// Judges the agent's second question, asked at its own prompt, about a call that it has asked about before. The
    /// earlier answer stays valid; after an ask, the prompt decides. The call is judged now if there is no earlier
    /// answer, or if the present decision would be stricter, because a symlink may have moved in between.
    pub(super) fn second_question(
        &self,
        asked: &Asked<'_>,
        call: &Call,
        whose: &Whose,
    ) -> Result<Attempt, Failure> {
        let key = key(asked.agent, call);
        let given = self.memory().given(&key).cloned();
        let is_current = |given: &Given| {
            // The question about a call that runs in a sandbox has another text than the judged one. The sandbox limits
            // what has changed since.
            let is_as_strict = || match given.is_rewritten {
                true => !self.is_halted(asked, whose),
                false => stands(given, &self.judge_now(asked, call, whose, given)),
            };
            given.epoch == asked.epoch && is_as_strict()
        };
        match given {
            Some(given) if is_current(&given) => {
                if self.memory().epoch() != asked.epoch {
                    return Ok(Attempt::JudgeAgain);
                }
                let verdict = if given.verdict == Verdict::Ask { Verdict::Defer } else { given.verdict };
                let reported = Message::new(verdict, given.reason);
                Ok(reply(agents::encode(asked.agent, &asked.request.event, &reported)).into())
            }
            // A denied call set no marks. If another policy allows it, it is a new call.
            Some(given) if given.verdict == Verdict::Deny => self.question(asked, call, whose, None),
            Some(given) => self.question(asked, call, whose, Some(given)),
            None => self.question(asked, call, whose, None),
        }
    }

    /// Returns the present decision, only for comparison.
    fn judge_now(&self, asked: &Asked<'_>, call: &Call, whose: &Whose, given: &Given) -> Decision {
        let (granted_classes, _) = self.memory().requests().classes(&whose.session.id, Now::read());
        let earlier = Earlier {
            granted_classes,
            offered_classes: Vec::new(),
            first: Some(given.call),
            session: Arc::clone(&given.session),
            granted: given.grant.clone(),
            pending: None,
            next_request: RequestId::from_seed(0),
        };
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let mut grounds = self.grounds((asked, call, whose), earlier, &mut world);
        if !given.met.contains(&Action::Review) {
            grounds.failed.push(Failed::review("the reviewer did not let the call run"));
        }
        if !given.met.contains(&Action::Checkpoint) {
            let why = "there was no checkpoint before the call".to_owned();
            grounds.failed.push(Failed { kind: ObligationKind::Checkpoint, why, denies: false });
        }
        let falco = self.engine.of_call(asked.started);
        let state = State { tester: Some(&falco), ..grounds.state(asked, whose) };
        drive(call, &grounds.facts, &asked.terms().policy, &state, &mut world).0
    }

    /// Returns the facts of the call, after all writes of its session. If the call is asked about again, `but` excludes
    /// its own writes.
    pub(super) fn facts(
        &self,
        asked: &Asked<'_>,
        call: &Call,
        (whose, but): (&Whose, Option<u64>),
        world: &mut Recorder<'_>,
    ) -> Facts {
        let changed = self.memory().changed(&whose.session.root, but);
        let own = self.own_files(asked.terms());
        let mut facts = facts_after(call, &own, whose.inside(), changed, world);
        if !facts.own_scripts.is_empty() || !facts.session_scripts.is_empty() {
            let memory = self.memory();
            leave_to_sessions(
                &mut facts,
                |path| memory.has_any_written(path),
                |path| memory.has_any_foreign(path),
            );
        }
        facts
    }

    /// Returns castellan's own files, with the programs that judge in its place.
    fn own_files(&self, terms: &Terms) -> Cow<'_, [String]> {
        let engine = own_files_of(&terms.policy.settings().engine);
        match engine.is_empty() {
            true => Cow::Borrowed(&self.own),
            false => Cow::Owned(self.own.iter().cloned().chain(engine).collect()),
        }
    }

    /// Writes a call's record and sets its marks as one step: no other call can set marks after the check for room.
    fn commit(&self, record: &Record, whose: &Whose, marks: &[String]) -> Result<(), Failure> {
        if marks.is_empty() {
            return Ok(self.append(record)?);
        }
        let mut memory = self.memory();
        memory
            .check_room(&whose.session.root, marks)
            .map_err(|error| Failure::unmarked(error.to_string()))?;
        self.append(record)?;
        memory.mark(whose.session.root, marks);
        Ok(())
    }
}

/// Reports whether an answer is at least as strict as the present decision, with every obligation of that decision met.
fn stands(given: &Given, now: &Decision) -> bool {
    now.answer <= given.verdict && now.due().iter().all(|one| given.met.contains(&one.action))
}

/// The reason for a call if all findings against it were granted.
const GRANTED: &str = "the user has approved this call";

fn reported(decision: &Decision, change: &StateChange, is_at_prompt: bool) -> Message {
    match change.request {
        Some(request) if decision.answer >= Verdict::Ask => Message {
            verdict: decision.answer,
            reason: match decision.answer == Verdict::Ask && !is_at_prompt {
                true => unattended_text(decision, request),
                false => agent_text(decision, request),
            },
            user_note: user_text(decision, request, change.is_offered),
            rewrite: None,
        },
        _ => {
            let is_granted = change.used_grant && decision.reason.is_empty();
            let reason = if is_granted { GRANTED.to_owned() } else { decision.reason.clone() };
            Message::new(decision.answer, reason)
        }
    }
}

fn key(agent: AgentId, call: &Call) -> CallKey {
    let Agent { session_id, subagent_id, cwd, .. } = &call.agent;
    CallKey(
        PartsHash::of([agent.word(), session_id, subagent_id, cwd, &agents::call_key_input(call)]).bytes(),
    )
}
