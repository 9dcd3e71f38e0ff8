//! The review of a call, and the prompts that it needs: gathers the evidence and applies the opinion. It must not know
//! how a reviewer is asked.

use std::fmt::Write as _;

use castellan_agents::{self as agents, SessionEvent};
use castellan_event::{Action, Call, Effect, Exemption, ObligationKind, PartsHash};
use castellan_policy::{Decision, Failed};
use castellan_review::{Answer, Evidence, Finding, Opinion};

use super::grounds::Grounds;
use super::{Asked, Judge, Whose};
use crate::clock::boot_ms;
use crate::presence::is_persons_agent;
use crate::prompts::is_from_person;
use crate::reviews::Question;

/// An opinion about the call of a request, and the question that it answers.
#[derive(Debug)]
pub(super) struct Reviewed {
    question: [u8; 32],
    pub(super) opinion: Opinion,
}

impl Judge {
    /// Meets an obligation of a call before its reply. A person answers a held call, and this version meets no other
    /// obligation but a review, as [`super::grounds`] states beforehand.
    pub(super) fn meet(
        &self,
        of: (&Asked<'_>, &Call, &Whose),
        grounds: &Grounds,
        (action, decision): (&Action, &Decision),
    ) -> Result<(), Failed> {
        match action {
            Action::Review => self.review(of, grounds, decision),
            Action::Contain { .. } | Action::Checkpoint | Action::Hold { .. } => {
                let why = format!("this version of castellan cannot meet `{action}`");
                Err(Failed { kind: action.kind(), why, denies: false })
            }
        }
    }

    /// Asks the reviewer about a call that only review findings stop. No lock is held meanwhile.
    fn review(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        grounds: &Grounds,
        decision: &Decision,
    ) -> Result<(), Failed> {
        let now_ms = boot_ms();
        let prompts = self.prompts.of(asked.sender.agent, whose.session.id, now_ms);
        let evidence = Evidence { prompts, ..evidence(call, grounds, decision) };
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

/// Returns the reason why a call is not reviewed any more: an earlier review left it to a person.
pub(super) fn failed_before(asked: &Asked<'_>) -> Option<Failed> {
    asked.was_held().then(|| Failed::review("the reviewer left the call to a person"))
}

/// Returns what castellan knows about the call, without prompts.
fn evidence(call: &Call, grounds: &Grounds, decision: &Decision) -> Evidence {
    let facts = &grounds.facts;
    let mut lines = String::new();
    for effect in &facts.effects {
        line(&mut lines, "", effect);
    }
    for effect in &facts.written.effects {
        line(&mut lines, "later ", effect);
    }
    if lines.is_empty() {
        lines = format!("tool {}\n", call.tool.name);
    }
    let reviewed = Some(Exemption::Met(ObligationKind::Review));
    let exempt = decision.findings.iter().filter(|finding| finding.lifted == reviewed);
    let findings = exempt.map(|one| Finding { rule: one.rule.clone(), message: one.message.clone() });
    Evidence {
        prompts: Vec::new(),
        call: lines,
        findings: findings.collect(),
        marks: grounds.earlier.session.marks.keys().cloned().collect(),
    }
}

/// Adds the line of an effect: `mutate git push origin main force`.
fn line(lines: &mut String, before: &str, effect: &Effect) {
    let flags = [(effect.op.recursive, "recursive"), (effect.op.force, "force")];
    let words = [
        effect.system(),
        effect.verb(),
        effect.target(),
        effect.path().or(effect.path_raw()),
        effect.url().or(effect.host()),
        effect.script_path(),
        effect.file_origin().map(|origin| origin.as_str()),
        effect.role().map(|role| role.as_str()),
        effect.why().map(|why| why.as_str()),
    ];
    let flags = flags.into_iter().filter_map(|(is_set, word)| (is_set == Some(true)).then_some(word));
    let mut written = format!("{before}{}", effect.kind().as_str());
    for word in words.into_iter().flatten().chain(flags) {
        // The name of a file must not begin another line. The screen rejects the other invisible characters.
        let _ = write!(written, " {}", word.replace('\n', "\\n"));
    }
    lines.push_str(&written);
    lines.push('\n');
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
