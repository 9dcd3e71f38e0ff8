//! Pending calls and grants. Both are bound to the exact call: agent, directory, tool and input.

mod classes;
mod grants;
mod waiting;

use std::time::SystemTime;

use castellan_policy::{CallClass, Grant, Pending, RequestId};

use self::classes::Approvals;
use self::grants::Grants;
pub(crate) use self::grants::{Granted, Taken};
use self::waiting::Waiting;
pub(crate) use self::waiting::{Ask, Over, Request, Subject, Waits};
use crate::clock;
pub(crate) use crate::control::GrantScope;
use crate::peers::AgentProcess;
use crate::platform::boot_time;
use crate::session_key::SessionKey;

/// Key of a call in any session: SHA-256 over agent, directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GrantKey(pub(crate) [u8; 32]);

/// The time on two clocks: the wall clock, and a clock that only moves forward, also during sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Now {
    pub(crate) wall: SystemTime,
    pub(crate) boot_s: u64,
}

impl Now {
    pub(crate) fn read() -> Now {
        Now { wall: clock::wall(), boot_s: boot_time().as_secs() }
    }

    /// The time `seconds` later; now if that is out of range.
    fn after(self, seconds: u64) -> Now {
        let wall = self.wall.checked_add(std::time::Duration::from_secs(seconds)).unwrap_or(self.wall);
        Now { wall, boot_s: self.boot_s.saturating_add(seconds) }
    }
}

/// The reason why a call cannot be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ungrantable {
    /// No call of this id is pending.
    NotWaiting,
    /// The pending call differs from the shown one.
    NotShown,
    /// There are too many grants.
    NoRoom,
    /// The grant could not be stored.
    NotKept,
}

/// Pending calls and grants.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: Waiting,
    grants: Grants,
    approvals: Approvals,
}

impl Requests {
    /// Returns the call if it is already pending, so that one call has one id.
    pub(crate) fn pending(&self, key: &GrantKey, session: &SessionKey) -> Option<Pending> {
        self.waiting.pending(key, session)
    }

    /// Reports whether a call of this id is pending or granted.
    pub(crate) fn knows(&self, id: RequestId) -> bool {
        self.grants.knows(id) || self.waiting.knows(id)
    }

    /// Stores a call that was not allowed; see [`Waiting::wait`].
    pub(crate) fn wait(&mut self, request: Request) -> bool {
        self.waiting.wait(request)
    }

    /// Pending calls, oldest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Request> {
        self.waiting.all()
    }

    /// The pending call of an id as a person writes it.
    pub(crate) fn waiting_as(&self, id: &str) -> Option<&Request> {
        self.waiting.called(id)
    }

    /// Valid grants, oldest first.
    pub(crate) fn granted(&self, now: Now) -> Vec<&Granted> {
        self.grants.holding(now)
    }

    /// All grants that have not ended.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Granted> {
        self.grants.all()
    }

    /// Restores a grant from before a restart.
    pub(crate) fn keep(&mut self, granted: Granted) {
        self.grants.keep(granted);
    }

    /// Reports whether new ids should be long; see [`Grants::is_crowded`].
    pub(crate) fn is_crowded(&self) -> bool {
        self.grants.is_crowded()
    }

    /// Grants the pending call `id` if it is the call that was `shown`. The call is then no longer pending.
    pub(crate) fn approve(
        &mut self,
        id: &str,
        shown: &str,
        scope: GrantScope,
        now: Now,
    ) -> Result<Granted, Ungrantable> {
        let request = self.waiting.called(id).ok_or(Ungrantable::NotWaiting)?;
        if request.shown != shown {
            return Err(Ungrantable::NotShown);
        }
        let granted = self.grants.grant(request, scope, now)?;
        if let Some(class) = &request.class {
            self.approvals.count(request.session, class.clone());
        }
        self.waiting.end(granted.id);
        Ok(granted)
    }

    /// Refuses a call: it is no longer pending, and its grant is revoked. Returns the id if there was a call or grant.
    pub(crate) fn refuse(&mut self, id: &str) -> Option<RequestId> {
        let waiting = self.waiting.called(id).map(|request| request.id);
        let id = waiting.or_else(|| self.grants.called(id))?;
        self.waiting.refuse(id);
        self.grants.end(id);
        Some(id)
    }

    /// Reports whether a person refused the call of this id and no call has used the id since.
    pub(crate) fn was_refused(&self, id: RequestId) -> bool {
        self.waiting.was_refused(id)
    }

    pub(crate) fn end(&mut self, id: RequestId) {
        self.grants.end(id);
    }

    /// Ends grants with a time limit after a reboot, because castellan cannot know whether the time has passed.
    pub(crate) fn end_timed(&mut self) {
        self.grants.end_timed();
    }

    /// Ends a call; see [`Waiting::over`]. A call that ran after a question at the agent's prompt was approved there.
    pub(crate) fn over(&mut self, key: &GrantKey, session: &SessionKey, use_id: &str, ran: bool) {
        let class = self.waiting.over(key, session, use_id, ran);
        if let Some(class) = class.filter(|_| ran) {
            self.approvals.count(*session, class);
        }
    }

    /// Classes of calls that are granted in a session, and those to offer.
    pub(crate) fn classes(&self, session: &SessionKey, now: Now) -> (Vec<CallClass>, Vec<CallClass>) {
        (self.grants.classes(session, now), self.approvals.offered(session))
    }

    /// Ends the pending state of a session's calls; see [`Waiting::end_of`].
    pub(crate) fn end_of(
        &mut self,
        session: &SessionKey,
        over: Over<'_>,
        is_waiting: impl Fn(RequestId) -> bool,
    ) {
        self.waiting.end_of(session, over, is_waiting);
    }

    /// Drops pending calls that are over; see [`Waiting::drop_over`].
    pub(crate) fn drop_over(&mut self, now: SystemTime, lives: impl Fn(&AgentProcess) -> bool) {
        self.waiting.drop_over(now, lives);
    }

    /// One-time grants in a session; see [`Grants::once`].
    pub(crate) fn once(
        &self,
        session: &SessionKey,
        is_meant: impl Fn(&Granted) -> bool,
    ) -> Vec<(RequestId, bool)> {
        self.grants.once(session, is_meant)
    }

    /// The part of a taken grant that is still valid; see [`Grants::left_of`].
    pub(crate) fn left_of(&self, taken: &Taken) -> Option<Taken> {
        self.grants.left_of(taken)
    }

    /// Takes all grants of a call; see [`Grants::take`].
    pub(crate) fn take(&mut self, key: &GrantKey, session: &SessionKey, now: Now) -> Option<Taken> {
        self.grants.take(key, session, now)
    }

    /// Settles the grants of a judged call; see [`Grants::settle`].
    pub(crate) fn settle(&mut self, taken: &Taken, is_used: impl Fn(&Grant) -> bool) -> Vec<RequestId> {
        self.grants.settle(taken, is_used)
    }
}

/// Compares ids without case, because people write ids in any case.
pub(crate) fn is_called(known: RequestId, id: &str) -> bool {
    known.to_string().eq_ignore_ascii_case(id)
}

#[cfg(test)]
mod tests;
