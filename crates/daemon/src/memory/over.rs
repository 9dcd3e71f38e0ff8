//! The end of calls: the call is no longer pending, and a grant for it alone ends. Independent of the way of detection.

use castellan_event::Verdict;
use castellan_policy::RequestId;

use super::entry::Entry;
use super::{Decided, Memory};
use crate::requests::{GrantKey, Granted, Over};
use crate::session_key::SessionKey;

impl Memory {
    /// Ends a call of a session by the agent's call id. `ran`: the call ran and was not refused. `otherwise`: the
    /// call's grant key if its id is unknown.
    ///
    /// The answer at the agent's own prompt ends a one-time grant for a call that was asked about there. A yes at the
    /// prompt is the consent; a no revokes the grant.
    pub(crate) fn call_over(
        &mut self,
        session: SessionKey,
        use_id: &str,
        otherwise: Option<GrantKey>,
        ran: bool,
    ) {
        let decided = self.decided.of(session, use_id);
        if decided.is_some_and(|decided| decided.is_over) {
            return;
        }
        if let Some(decided) = decided {
            self.decided.put(session, use_id, Decided { is_over: true, ..decided });
        }
        let Some(key) = decided.and_then(|decided| decided.granted_as).or(otherwise) else { return };
        self.lasting.requests.over(&key, &session, use_id, ran);
        let is_answered_there = match decided.map(|decided| (decided.answer, decided.is_at_prompt)) {
            Some((Verdict::Ask, true)) => true,
            Some((Verdict::Ask | Verdict::Deny, _)) | None => ran,
            // The call used up its grant when it was allowed.
            Some((Verdict::Allow | Verdict::Defer, _)) => false,
        };
        if is_answered_there {
            self.end_once(&session, |one| one.key == key);
        } else if let Some(given) = decided.and_then(|decided| self.answers.get_mut(&decided.judged?)) {
            // No second question about this call follows.
            let requests = &self.lasting.requests;
            given.grant = given.grant.as_ref().and_then(|taken| requests.left_of(taken));
        }
    }

    /// Ends the pending state of a session's calls. A one-time grant for a call at the agent's own prompt ends with the
    /// prompt. `is_waiting`: whether a hook waits.
    pub(crate) fn wait_no_more(
        &mut self,
        session: SessionKey,
        over: Over<'_>,
        is_waiting: impl Fn(RequestId) -> bool,
    ) {
        self.lasting.requests.end_of(&session, over, is_waiting);
        match over {
            Over::Prompt | Over::Session => self.end_once(&session, |one| one.is_at_prompt),
            // An agent that names its turns has no prompt of its own.
            Over::Turn(_) => {}
        }
    }

    /// Ends one-time grants of a session. A call that is being judged by such a grant is judged again.
    fn end_once(&mut self, session: &SessionKey, is_meant: impl Fn(&Granted) -> bool) {
        let ended = self.lasting.requests.once(session, is_meant);
        if ended.iter().any(|(_, is_taken)| *is_taken) {
            self.outdate();
        }
        ended.into_iter().for_each(|(id, _)| self.put(Entry::GrantOver { request: id.number() }));
    }
}
