//! A person's consent to calls: takes a call's grant before it is judged, and stores a grantable call afterwards. A
//! call without a grant must not depend on anything here.

use std::sync::{Arc, MutexGuard};

use castellan_agents::{self as agents, AgentId};
use castellan_event::{Call, Facts, Finding, Layer, PartsHash, Verdict, sha256_hex};
use castellan_policy::{Decision, Grant, RequestId, StateChange, Tries};

use super::grounds::Earlier;
use super::weighed::{Consent, Weighed};
use super::{Asked, Judge, Whose};
use crate::clock::wall;
use crate::explanation::Explanation;
use crate::held::{End, HeldCall};
use crate::limits::{GRANTABLE_INPUT_BYTES_MAX, PREVIEW_BYTES_MAX};
use crate::memory::{Given, Memory};
use crate::peers::AgentProcess;
use crate::requests::{Ask, GrantKey, GrantScope, Granted, Now, Over, Request, Subject, Ungrantable, Waits};
use crate::session_key::SessionKey;

impl Judge {
    /// Takes the grant of a call, so that no other call can use it meanwhile. A second question takes no new grant: its
    /// agent may not receive the answer, and the grant would be used up.
    pub(super) fn consent(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        before: Option<Given>,
    ) -> (Consent, Earlier) {
        let (key, session) = (granted_as(asked.agent, call), whose.session.id);
        let mut memory = self.memory();
        let is_first = before.is_none();
        let taken = if is_first { memory.requests_mut().take(&key, &session, Now::read()) } else { None };
        let pending = memory.requests().pending(&key, &session);
        let next_request = memory.take_request();
        let (granted_classes, offered_classes) = memory.requests().classes(&session, Now::read());
        drop(memory);
        let first = before.as_ref().map(|before| before.call);
        let (session_seen, granted_before) = match before {
            Some(before) => (before.session, before.grant),
            None => (Arc::new(self.session(whose, &asked.terms().policy)), None),
        };
        let granted = taken.clone().or(granted_before);
        (
            Consent { key, session, taken },
            Earlier {
                first,
                session: session_seen,
                granted,
                granted_classes,
                offered_classes,
                pending,
                next_request,
            },
        )
    }

    /// Settles a decision: uses up a grant for one call, counts a denied try and a call of a plan, and returns an unused grant to the store.
    /// Returns false, and uses up nothing, if the grounds of the decision have changed since.
    pub(super) fn settle(&self, weighed: &Weighed<'_>) -> bool {
        let Weighed { asked, whose, change, decision, grounds, consent, .. } = weighed;
        let root = whose.session.root;
        let mut memory = self.memory();
        let has_its_grant = !change.used_grant || memory.epoch() == asked.epoch;
        let is_probing = |tries: &Tries| tries.is_probing_with(&change.denial_keys);
        let is_settled = has_its_grant
            && is_probing(&memory.tries(&root)) == is_probing(&grounds.tries)
            && Judge::count_under_plan(&mut memory, weighed);
        if let Some(taken) = &consent.taken {
            let is_used =
                |grant: &Grant| is_settled && change.used_grant && grant.is_used(decision, &grounds.facts);
            memory.settle_grants(taken, is_used);
        }
        if is_settled {
            memory.count_denial(root, &change.denial_keys);
        }
        is_settled
    }

    /// Stores a call that is not simply allowed for a person to inspect, unless a person has just refused it. Shows a
    /// notification if no agent asks the person.
    pub(super) fn keep_waiting(&self, weighed: &Weighed<'_>) {
        let Weighed { asked, call, grounds, decision, change, .. } = weighed;
        if asked.is_refused() {
            return;
        }
        let grant = grantable(call, &grounds.facts, decision, change);
        let (Some(grant), Some(id)) = (grant, change.request) else { return };
        let request = request(id, grant, weighed);
        let (reasons, is_untold) = (request.reasons.clone(), !request.is_at_prompt());
        let is_new = self.memory().requests_mut().wait(request);
        if is_new && is_untold && asked.terms().policy.settings().notify {
            (self.notify)(asked.agent, &call.agent.cwd, id, &reasons);
        }
    }

    /// Ends a call that has run according to its agent.
    pub(super) fn over(&self, asked: &Asked<'_>, whose: &Whose, done: &Call) {
        let as_it_ran = granted_as(asked.agent, done);
        self.memory().call_over(whose.session.id, &done.tool.use_id, Some(as_it_ran), true);
    }

    /// Ends the pending calls of a session, except those with a waiting hook.
    pub(super) fn wait_no_more(&self, whose: &Whose, over: Over<'_>) {
        self.memory().wait_no_more(whose.session.id, over, |id| self.held.holds(id));
    }

    /// Ends a call that ran or was refused according to a transcript.
    pub(crate) fn transcribed_over(&self, session: SessionKey, use_id: &str, ran: bool) {
        let mut memory = self.memory();
        memory.call_over(session, use_id, None, ran);
        let saved = memory.save();
        drop(memory);
        if let Err(error) = saved {
            self.fail("state", &format!("that a grant is used up cannot be written: {error}"));
        }
    }

    /// Returns the pending calls, the oldest first.
    pub(crate) fn waiting(&self) -> Vec<Request> {
        self.memory_of_waiting().requests().waiting().cloned().collect()
    }

    /// Returns the pending call with an id.
    pub(crate) fn waiting_as(&self, id: &str) -> Option<Request> {
        self.memory_of_waiting().requests().waiting_as(id).cloned()
    }

    /// Returns the memory without pending calls that have expired or whose agents have ended.
    fn memory_of_waiting(&self) -> MutexGuard<'_, Memory> {
        let mut memory = self.memory();
        memory.requests_mut().drop_over(wall(), AgentProcess::lives);
        memory
    }

    /// Returns the grants, the oldest first.
    pub(crate) fn granted(&self) -> Vec<Granted> {
        self.memory().requests().granted(Now::read()).into_iter().cloned().collect()
    }

    /// Grants the pending call with `id`, if it is the call that was `shown`.
    pub(crate) fn approve(&self, id: &str, shown: &str, scope: GrantScope) -> Result<Granted, Ungrantable> {
        let mut memory = self.memory();
        let granted = memory.approve(id, shown, scope)?;
        // Earlier answers are no longer valid for a second question.
        memory.outdate();
        Ok(granted)
    }

    /// Holds a call until a person decides, who may already have decided. Returns the call if there is no room.
    pub(crate) fn hold(&self, call: HeldCall) -> Result<(), Box<HeldCall>> {
        let id = call.id;
        self.held.hold(call)?;
        let memory = self.memory();
        let requests = memory.requests();
        let end = match requests.waiting_as(&id.to_string()) {
            Some(_) => None,
            None if requests.was_refused(id) => Some(End::Refused),
            None => Some(End::Judge),
        };
        drop(memory);
        if let Some(end) = end {
            self.held.answer(id, end);
        }
        Ok(())
    }

    /// Refuses a call and revokes its grant. A repeated question about a call that the grant allowed is not allowed.
    /// Returns the id if there was something to refuse.
    pub(crate) fn refuse(&self, id: &str) -> Option<RequestId> {
        let mut memory = self.memory();
        // Any process may refuse: an unknown id must not affect calls that are being judged.
        let refused = memory.refuse(id)?;
        memory.outdate();
        let saved = memory.save();
        drop(memory);
        if let Err(error) = saved {
            self.fail(
                "state",
                &format!("what was refused holds until the daemon ends: it cannot be kept: {error}"),
            );
        }
        Some(refused)
    }
}

/// Returns the grant that a person could give for a stopped call; `None` for a call that is too long to be shown.
pub(super) fn grantable(
    call: &Call,
    facts: &Facts,
    decision: &Decision,
    change: &StateChange,
) -> Option<Grant> {
    let grant = Grant::of(decision, facts).filter(|_| change.answer >= Verdict::Ask);
    grant.filter(|_| call.input_text.len() <= GRANTABLE_INPUT_BYTES_MAX)
}

fn request(id: RequestId, grant: Grant, weighed: &Weighed<'_>) -> Request {
    let Weighed { call, consent, change, decision, grounds, answers, .. } = weighed;
    let explanation = Explanation::brief(call, &grounds.facts, answers, &grounds.earlier.session, decision);
    let agent = &call.agent;
    Request {
        id,
        key: consent.key,
        session: consent.session,
        record: call.correlation_id,
        asks: vec![ask(weighed)],
        session_id: agent.session_id.clone(),
        subject: Subject {
            agent: agent.name.clone(),
            cwd: agent.cwd.clone(),
            tool: call.tool.name.clone(),
            preview: preview(call),
        },
        input: call.input.clone(),
        input_sha256: sha256_hex(&call.input_text),
        bytes: call.input_text.len().saturating_add(explanation.bytes()),
        reasons: decision.findings.iter().filter(|one| one.counts() && one.stops()).map(line).collect(),
        explanation,
        shown: shown(consent, &grant, change),
        grant,
        class: change.class.as_deref().cloned(),
        is_offered: change.is_offered,
        asked: wall(),
        times: 0,
    }
}

/// Returns how a call that is not simply allowed waits. An agent without a person denies by itself.
pub(super) fn waits(weighed: &Weighed<'_>) -> Waits {
    let Weighed { asked, call, change, decision, .. } = weighed;
    match (decision.hold(), change.answer) {
        (Some(_), _) => Waits::Held,
        (None, Verdict::Ask) if !asked.is_known_headless(&call.agent.permission_mode) => Waits::AtPrompt,
        (None, Verdict::Ask | Verdict::Deny | Verdict::Allow | Verdict::Defer) => Waits::Denied,
    }
}

/// Describes how a call is asked about.
fn ask(weighed: &Weighed<'_>) -> Ask {
    let Weighed { asked, call, .. } = weighed;
    Ask {
        use_id: call.tool.use_id.clone(),
        turn_id: call.agent.turn_id.clone(),
        process: asked.sender.agent,
        is_subagents: !call.agent.subagent_id.is_empty(),
        waits: waits(weighed),
    }
}

/// Returns the key of a call for grants.
fn granted_as(agent: AgentId, call: &Call) -> GrantKey {
    GrantKey(PartsHash::of([agent.word(), call.agent.cwd.as_str(), &agents::call_key_input(call)]).bytes())
}

/// Returns a hash of a call and its grantable part.
fn shown(consent: &Consent, grant: &Grant, change: &StateChange) -> String {
    let mut hashes = vec![consent.key.0, consent.session.0];
    let offered = change.class.as_ref().filter(|_| change.is_offered);
    hashes.extend(offered.map(|class| PartsHash::of([format!("{class:?}")]).bytes()));
    for part in &grant.parts {
        let lifts = part.lifts.iter().map(|name| [&name.code, &name.rule, &name.layer, &name.message]);
        hashes.extend(lifts.map(|names| PartsHash::of(names).bytes()));
        hashes.extend(part.scripts.iter().map(|script| PartsHash::of([format!("{script:?}")]).bytes()));
    }
    sha256_hex(hashes.as_flattened())
}

/// Returns a call's input in a line: the shell text, else the files, else the whole input.
fn preview(call: &Call) -> String {
    let files = || call.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(" ");
    let text = match &call.command {
        Some(command) => command.clone(),
        None if !call.files.is_empty() => files(),
        None => call.input_text.clone(),
    };
    let end = text.floor_char_boundary(PREVIEW_BYTES_MAX);
    match text.get(..end) {
        Some(kept) if end < text.len() => format!("{kept}…"),
        _ => text,
    }
}

fn line(finding: &Finding) -> String {
    let name = if finding.rule.is_empty() { finding.code.as_str() } else { &finding.rule };
    match finding.layer {
        Some(Layer::User) | None => format!("{name}: {}", finding.message),
        Some(layer) => format!("{name} ({layer}): {}", finding.message, layer = layer.as_str()),
    }
}
