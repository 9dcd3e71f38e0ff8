//! The review of a call, and the prompts that it needs: gathers the evidence and applies the opinion. It must not know
//! how a reviewer is asked.

use castellan_agents::{self as agents, SessionEvent};
use castellan_event::{Call, Exemption, ObligationKind, PartsHash};
use castellan_policy::{Decision, Failed};
use castellan_review::{Answer, Evidence, Opinion};

use super::grounds::Grounds;
use super::{Asked, Judge, Whose};
use crate::clock::boot_ms;
use crate::presence::is_persons_agent;
use crate::prompts::is_from_person;
use crate::reviews::{Question, evidence_of};

/// An opinion about the call of a request, and the question that it answers.
#[derive(Debug)]
pub(super) struct Reviewed {
    question: [u8; 32],
    pub(super) opinion: Opinion,
}

impl Judge {
    /// Asks the reviewer about a call that only review findings stop. No lock is held meanwhile.
    pub(super) fn review(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        grounds: &Grounds,
        decision: &Decision,
    ) -> Result<(), Failed> {
        let now_ms = boot_ms();
        let prompts = self.prompts.of(asked.sender.agent, whose.session.id, now_ms);
        let reviewed = Some(Exemption::Met(ObligationKind::Review));
        let findings = decision.findings.iter().filter(|finding| finding.lifted == reviewed);
        let known = evidence_of(call, &grounds.facts, findings, &grounds.earlier.session);
        let evidence = Evidence { prompts, ..known };
        let policy = &asked.terms().policy;
        let key = call_key(call, whose, &evidence);
        let question = PartsHash::of([&key, policy.hash(), &evidence.intent_hash()]).bytes();
        let known = asked
            .reviewed
            .borrow()
            .as_ref()
            .filter(|known| known.question == question)
            .map(|known| known.opinion.clone());
        let opinion = known.unwrap_or_else(|| {
            let (policy, settings) = (policy.hash(), &policy.settings().review);
            let question = Question { evidence: &evidence, call: &key, policy, now_s: now_ms / 1000 };
            self.reviews.ask(settings, &question)
        });
        *asked.reviewed.borrow_mut() = Some(Reviewed { question, opinion: opinion.clone() });
        match opinion.answer {
            Answer::Allow => Ok(()),
            Answer::Deny => Err(Failed { denies: true, ..Failed::review(opinion.reason) }),
            Answer::Unsure => Err(Failed::review(opinion.reason)),
        }
    }

    /// Stores a prompt of the user, or forgets the session's prompts if this one may be somebody else's. Call it before
    /// the turn ends, because a running call could have forged the prompt.
    pub(super) fn hear_prompt(&self, asked: &Asked<'_>, whose: &Whose, event: &SessionEvent) {
        let Some(text) = agents::prompt_text(asked.agent, event) else { return };
        let (agent, session) = (asked.sender.agent, whose.session.id);
        if self.is_own_prompt(asked, event) {
            self.prompts.add(agent, session, text, boot_ms());
        } else {
            self.prompts.forget(agent, session);
        }
        self.prompts.end_turn(agent);
    }

    /// Reports whether a person certainly wrote a prompt at the agent.
    fn is_own_prompt(&self, asked: &Asked<'_>, event: &SessionEvent) -> bool {
        let (agent, hook) = (asked.sender.agent, asked.sender.hook);
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        hook != 0
            && event.agent.subagent_id.is_empty()
            && !asked.is_headless(&event.agent.permission_mode)
            && self.prompts.ended_calls(agent).is_some_and(|calls| is_from_person(agent.pid, hook, &calls))
            && is_persons_agent(agent, guarded)
    }
}

/// Returns the hash of a call without its ids.
fn call_key(call: &Call, whose: &Whose, evidence: &Evidence) -> String {
    let Evidence { call: effects, findings, marks, .. } = evidence;
    let parts = [
        call.tool.name.clone(),
        call.agent.cwd.clone(),
        whose.inside().to_owned(),
        agents::call_key_input(call),
    ];
    let findings = findings.iter().flat_map(|finding| [finding.rule.clone(), finding.message.clone()]);
    let ends = [effects.clone(), findings.clone().count().to_string()];
    PartsHash::of(parts.into_iter().chain(ends).chain(findings).chain(marks.iter().cloned())).hex()
}
