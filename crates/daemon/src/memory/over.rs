//! The end of calls: nobody is asked any more about a call that is over, and what was granted once of it ends with it. It must not know how
//! that became known.

use castellan_event::Verdict;
use castellan_policy::RequestId;

use super::entry::Entry;
use super::{Decided, Memory, SessionKey};
use crate::requests::{GrantKey, Granted, Over};

impl Memory {
    /// A call of a session is over, by the agent's id of it: it `ran`, or was refused. What was granted once of a call that was asked about at
    /// the agent's own prompt ends with the answer there: a yes is the consent, and a no takes it back. `otherwise`: the call, where nothing is
    /// known of its id.
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
            // It has used up what there was when it was let run.
            Some((Verdict::Allow | Verdict::Defer, _)) => false,
        };
        if is_answered_there {
            self.end_once(&session, |one| one.key == key);
        } else if let Some(given) = decided.and_then(|decided| self.answers.get_mut(&decided.judged?)) {
            // No second question about this call comes any more.
            let requests = &self.lasting.requests;
            given.grant = given.grant.as_ref().and_then(|taken| requests.left_of(taken));
        }
    }

    /// Calls of a session wait no more. What was granted once of those at the agent's own prompt ends with the prompt. `is_held`: whether a
    /// hook waits.
    pub(crate) fn wait_no_more(
        &mut self,
        session: SessionKey,
        over: Over<'_>,
        is_held: impl Fn(RequestId) -> bool,
    ) {
        self.lasting.requests.end_of(&session, over, is_held);
        match over {
            Over::Prompt | Over::Session => self.end_once(&session, |one| one.is_at_prompt),
            // An agent that names its turns cannot ask at a prompt of its own.
            Over::Turn(_) => {}
        }
    }

    /// What was granted once in a session is over. A call that is being judged by it is judged again.
    fn end_once(&mut self, session: &SessionKey, is_meant: impl Fn(&Granted) -> bool) {
        let ended = self.lasting.requests.once(session, is_meant);
        if ended.iter().any(|(_, is_taken)| *is_taken) {
            self.outdate();
        }
        ended.into_iter().for_each(|(id, _)| self.put(Entry::GrantOver { request: id.number() }));
    }
}
