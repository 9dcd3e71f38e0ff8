//! Pending calls and grants of persons, and the ids that they get. It must not know the agent's answer.

use castellan_event::Code;
use castellan_policy::{Grant, GrantPart, RequestId};

use super::entry::{Entry, GrantEntry};
use super::{Memory, lasting};
use crate::limits::REQUESTS_RESERVED;
use crate::requests::{GrantScope, Granted, Now, Requests, Taken, Ungrantable, is_called};

impl Memory {
    /// Pending calls and grants.
    pub(crate) fn requests(&self) -> &Requests {
        &self.lasting.requests
    }

    /// Mutable access for state that does not outlive the daemon: pending calls and grants taken by a running decision.
    pub(crate) fn requests_mut(&mut self) -> &mut Requests {
        &mut self.lasting.requests
    }

    /// Grants the pending call `id`; see [`Requests::approve`]. A grant that cannot be stored is not given.
    pub(crate) fn approve(
        &mut self,
        id: &str,
        shown: &str,
        scope: GrantScope,
    ) -> Result<Granted, Ungrantable> {
        let waiting = self.lasting.requests.waiting_as(id);
        let not_run = waiting.map(|request| (request.session, request.not_run()));
        let granted = self.lasting.requests.approve(id, shown, scope, Now::read())?;
        // The call did not run, so its paths are not being written.
        if let Some((session, use_ids)) = not_run {
            let root = self.lasting.sessions.root(&session).unwrap_or(session);
            use_ids.iter().for_each(|id| drop(self.end(root, id)));
        }
        self.journal.note(&lasting::line(&Entry::Granted(Box::new(GrantEntry::of(&granted)))));
        if self.save().is_err() {
            self.end_grant(granted.id);
            return Err(Ungrantable::NotKept);
        }
        self.agree_to_server(&granted);
        // If this is not stored, the daemon asks about the server again after the next start.
        let _ = self.save();
        Ok(granted)
    }

    /// A lasting grant for a call of a new server includes consent to the server.
    fn agree_to_server(&mut self, granted: &Granted) {
        let is_new = |part: &GrantPart| part.lifts.iter().any(|lift| lift.code == Code::NewServer.as_str());
        let server = granted.subject.tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let Some((server, _)) = server.filter(|_| granted.grant.parts.iter().any(is_new)) else { return };
        let server = server.to_owned();
        match (granted.scope, granted.session) {
            (GrantScope::Always, _) => self.know_servers(vec![server]),
            (GrantScope::Session | GrantScope::For(_), Some(session)) => {
                let root = self.lasting.sessions.root(&session).unwrap_or(session);
                self.use_server(root, &server);
            }
            // A call that has run gives the same consent later.
            (GrantScope::Once, _) | (GrantScope::Session | GrantScope::For(_), None) => {}
        }
    }

    /// Refuses a call; see [`Requests::refuse`]. The caller saves it; it applies even when saving fails.
    pub(crate) fn refuse(&mut self, id: &str) -> Option<RequestId> {
        // A used-up grant may still answer a second question about its call.
        let answered =
            self.answers.values().filter_map(|given| given.grant.as_ref()).flat_map(|taken| &taken.of);
        let answered = answered.copied().find(|known| is_called(*known, id));
        let refused = self.lasting.requests.refuse(id).or(answered)?;
        self.end_grant(refused);
        self.take_back(refused);
        Some(refused)
    }

    /// Settles the grants that a judged call took; see [`Requests::settle`].
    pub(crate) fn settle_grants(&mut self, taken: &Taken, is_used: impl Fn(&Grant) -> bool) {
        for id in self.lasting.requests.settle(taken, is_used) {
            self.end_grant(id);
        }
    }

    fn end_grant(&mut self, id: RequestId) {
        self.put(Entry::GrantOver { request: id.number() });
    }

    /// Returns a request id that no pending call and no grant has. Ids of earlier daemons return only after all ids
    /// have been used. An id that the decision does not use is skipped.
    pub(crate) fn take_request(&mut self) -> RequestId {
        loop {
            let id = self.next_request;
            self.next_request = self.after(id);
            match self.reserved.checked_sub(1) {
                Some(left) => self.reserved = left,
                None => {
                    self.reserved = REQUESTS_RESERVED;
                    let next = (0..=REQUESTS_RESERVED).fold(id, |id, _| self.after(id));
                    self.put(Entry::Requests { next: next.number() });
                }
            }
            if !self.lasting.requests.knows(id) {
                return id;
            }
        }
    }

    /// Uses short ids while there are enough. The long ids never run out.
    fn after(&self, id: RequestId) -> RequestId {
        if self.lasting.requests.is_crowded() { id.next_of_all() } else { id.next() }
    }
}
