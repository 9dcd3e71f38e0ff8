//! A person's consent to calls: what was granted is taken before a call is judged, and what a person could grant is kept after
//! it. What happens to a call that nothing was granted of must not depend on anything here.

use std::time::SystemTime;

use castellan_agents as agents;
use castellan_event::{Call, Decision, Facts, Finding, Verdict};
use castellan_policy::{Grant, RequestId, StateChange};

use super::{Asked, Judge, digest};
use crate::limits::SHOWN_INPUT_BYTES_MAX;
use crate::memory::{Memory, SessionKey};
use crate::requests::{GrantKey, Granted, Now, Request, Scope};

/// What there was for a call before it was judged.
#[derive(Debug)]
pub(super) struct Consent {
    key: GrantKey,
    session: SessionKey,
    granted: Option<Granted>,
    /// The id that a person reads of it, if one must look at it.
    pub(super) request: RequestId,
}

impl Consent {
    /// What was granted.
    pub(super) fn grant(&self) -> Option<&Grant> {
        self.granted.as_ref().map(|granted| &granted.grant)
    }
}

impl Judge {
    /// Takes what was granted of a call: nobody else has it while the call is judged.
    pub(super) fn consent(&self, asked: &Asked<'_>, call: &Call, session: SessionKey) -> Consent {
        let key = [asked.agent.word(), call.agent.cwd.as_str(), &agents::call_key_input(call)];
        let key = GrantKey(digest(&key));
        let mut memory = self.memory();
        let granted = memory.requests.take(&key, &session, Now::read());
        let before = memory.requests.id_of(&key, &session);
        let request = before.unwrap_or_else(|| fresh(&mut memory));
        Consent { key, session, granted, request }
    }

    /// The id under which a call waits. What waits under the one of before is what a person may be looking at: where there is something
    /// else to be granted now, it is another request.
    pub(super) fn named(&self, consent: &mut Consent, facts: &Facts, decision: &Decision) -> RequestId {
        let mut memory = self.memory();
        let grant = Grant::of(decision, facts);
        if grant.is_some_and(|grant| memory.requests.differs(consent.request, &grant)) {
            consent.request = fresh(&mut memory);
        }
        consent.request
    }

    /// Gives back what was not used, and keeps a call that does not simply run for a person to look at.
    pub(super) fn settle(
        &self,
        consent: Consent,
        call: &Call,
        facts: &Facts,
        decision: &Decision,
        change: &StateChange,
    ) {
        let mut memory = self.memory();
        if let Some(granted) = consent.granted.filter(|_| !change.used_grant) {
            memory.requests.give_back(granted);
        }
        let Some(grant) = Grant::of(decision, facts).filter(|_| change.answer >= Verdict::Ask) else {
            return;
        };
        memory.requests.wait(Request {
            id: consent.request,
            key: consent.key,
            session: consent.session,
            agent: call.agent.name.clone(),
            session_id: call.agent.session_id.clone(),
            cwd: call.agent.cwd.clone(),
            tool: call.tool.name.clone(),
            input: shown(call),
            reasons: decision.findings.iter().filter(|one| one.counts() && one.stops()).map(line).collect(),
            grant,
            asked: SystemTime::now(),
            times: 0,
        });
    }

    /// Calls that wait for a person, the oldest first.
    pub(crate) fn waiting(&self) -> Vec<Request> {
        self.memory().requests.waiting().cloned().collect()
    }

    /// Grants a call that waits. `None` when none of this id does.
    pub(crate) fn approve(&self, id: &str, scope: Scope) -> Option<Request> {
        let approved = self.memory().requests.approve(id, scope, Now::read());
        // What was answered before answers no second question any more.
        self.memory().outdate();
        approved
    }

    /// Refuses a call, and takes back what was granted of it. False when there is neither.
    pub(crate) fn refuse(&self, id: &str) -> bool {
        let refused = self.memory().requests.refuse(id);
        self.memory().outdate();
        refused
    }
}

/// Ids come again: one that waits, or was granted, is another call's.
fn fresh(memory: &mut Memory) -> RequestId {
    let mut id = memory.take_request();
    while memory.requests.knows(id) {
        id = memory.take_request();
    }
    id
}

/// What a call is made with: the shell text, the files, else the whole input.
fn shown(call: &Call) -> String {
    let files = || call.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(" ");
    let text = match &call.command {
        Some(command) => command.clone(),
        None if !call.files.is_empty() => files(),
        None => call.input_text.clone(),
    };
    let end = text.floor_char_boundary(SHOWN_INPUT_BYTES_MAX);
    match text.get(..end) {
        Some(kept) if end < text.len() => format!("{kept}…"),
        _ => text,
    }
}

fn line(finding: &Finding) -> String {
    let name = if finding.rule.is_empty() { finding.code.as_str() } else { &finding.rule };
    format!("{name}: {}", finding.message)
}
