//! [`Waiting`]: calls that were not let run, for a person to look at, and what a person has just refused of them. What waits lives
//! in memory alone: the agent has to make the call again anyway.

use std::collections::VecDeque;
use std::time::SystemTime;

use castellan_policy::{Grant, RequestId};
use serde_json::Value as Json;

use super::{GrantKey, is_called};
use crate::explanation::Explanation;
use crate::limits::{REQUESTS_MAX, USE_IDS_MAX, WAITING_BYTES_MAX};
use crate::memory::SessionKey;

/// A call that a person may grant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    pub(crate) session: SessionKey,
    /// The number of the record of the call, as it was asked last.
    pub(crate) record: u64,
    /// The agent's own ids of it, each time that it was asked, the last ones.
    pub(crate) use_ids: Vec<String>,
    /// The agent's session.
    pub(crate) session_id: String,
    pub(crate) subject: Subject,
    /// What it is called with, whole.
    pub(crate) input: Json,
    /// SHA-256 of that as text, in hex.
    pub(crate) input_sha256: String,
    /// Bytes that are kept of it.
    pub(crate) bytes: usize,
    /// Why it does not simply run, one line for each finding.
    pub(crate) reasons: Vec<String>,
    /// What it would do.
    pub(crate) explanation: Explanation,
    pub(crate) grant: Grant,
    /// Names the call and what of it can be granted, in hex: what a person agrees to is what they were shown.
    pub(crate) shown: String,
    pub(crate) asked: SystemTime,
    /// How often it was asked.
    pub(crate) times: u32,
}

/// What a list says of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Subject {
    /// The agent's name, and where the call was made.
    pub(crate) agent: String,
    pub(crate) cwd: String,
    pub(crate) tool: String,
    /// What it is called with, shortened.
    pub(crate) preview: String,
}

/// What waits, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    calls: VecDeque<Request>,
    /// What was refused last: of a call that is not held yet its hook has still to hear of it.
    refused: VecDeque<RequestId>,
}

impl Waiting {
    /// The id that the call has from before, so that a person reads one id for one call.
    pub(super) fn id_of(&self, key: &GrantKey, session: &SessionKey) -> Option<RequestId> {
        let is_it = |one: &&Request| one.key == *key && one.session == *session;
        self.calls.iter().find(is_it).map(|request| request.id)
    }

    /// Whether what waits under this id could be granted something else: a person may have looked at that already.
    pub(super) fn differs(&self, id: RequestId, grant: &Grant) -> bool {
        self.calls.iter().any(|request| request.id == id && request.grant != *grant)
    }

    /// Whether a call of this id waits.
    pub(super) fn knows(&self, id: RequestId) -> bool {
        self.calls.iter().any(|request| request.id == id)
    }

    /// Remembers a call that was not let run. The oldest go first. True when nobody was told of it before.
    pub(super) fn wait(&mut self, request: Request) -> bool {
        let is_it = |one: &Request| one.key == request.key && one.session == request.session;
        let before = self.calls.iter().find(|one| is_it(one));
        let is_new = before.is_none_or(|before| before.id != request.id);
        let times = before.map_or(0, |before| before.times);
        let mut use_ids = before.map_or_else(Vec::new, |before| before.use_ids.clone());
        use_ids.extend(request.use_ids.iter().cloned());
        use_ids.drain(..use_ids.len().saturating_sub(USE_IDS_MAX));
        self.refused.retain(|id| *id != request.id);
        self.calls.retain(|one| !is_it(one));
        self.calls.push_back(Request { times: times.saturating_add(1), use_ids, ..request });
        let mut bytes: usize = self.calls.iter().map(|request| request.bytes).sum();
        while self.calls.len() > REQUESTS_MAX || bytes > WAITING_BYTES_MAX {
            let Some(oldest) = self.calls.pop_front() else { break };
            bytes = bytes.saturating_sub(oldest.bytes);
        }
        is_new
    }

    /// What waits, the oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Request> {
        self.calls.iter()
    }

    /// What waits under an id as a person writes it.
    pub(super) fn called(&self, id: &str) -> Option<&Request> {
        self.calls.iter().find(|request| is_called(request.id, id))
    }

    /// A call waits no more.
    pub(super) fn end(&mut self, id: RequestId) {
        self.calls.retain(|request| request.id != id);
    }

    /// A person has refused it: it waits no more, and that is remembered for its hook.
    pub(super) fn refuse(&mut self, id: RequestId) {
        self.end(id);
        if self.refused.len() >= REQUESTS_MAX {
            self.refused.pop_front();
        }
        self.refused.push_back(id);
    }

    /// Whether a person has refused what waited under this id, and nothing has waited under it since.
    pub(super) fn was_refused(&self, id: RequestId) -> bool {
        self.refused.contains(&id)
    }
}
