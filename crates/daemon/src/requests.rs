//! Calls that wait for a person's consent, and what persons have granted. Both are bound to the call as it is: agent, directory,
//! tool and input.

mod grants;
mod waiting;

use std::time::SystemTime;

use castellan_policy::{Grant, Pending, RequestId};

use self::grants::Grants;
pub(crate) use self::grants::{Granted, Scope, Taken};
use self::waiting::Waiting;
pub(crate) use self::waiting::{Ask, Over, Request, Subject, Waits};
use crate::clock;
use crate::memory::SessionKey;
use crate::peers::AgentProcess;

/// Names one call, whatever its session: SHA-256 over agent, directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GrantKey(pub(crate) [u8; 32]);

/// The time on two clocks: one that people set, and one that only goes on, while the machine sleeps, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Now {
    pub(crate) wall: SystemTime,
    pub(crate) boot_s: u64,
}

impl Now {
    pub(crate) fn read() -> Now {
        let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Now { wall: clock::wall(), boot_s: u64::try_from(boot.tv_sec).unwrap_or_default() }
    }

    /// A time so much later; now, where there is no such time.
    fn after(self, seconds: u64) -> Now {
        let wall = self.wall.checked_add(std::time::Duration::from_secs(seconds)).unwrap_or(self.wall);
        Now { wall, boot_s: self.boot_s.saturating_add(seconds) }
    }
}

/// Why a call cannot be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ungrantable {
    /// None of this id waits.
    NotWaiting,
    /// What waits is not what was shown.
    NotShown,
    /// Too much is granted already.
    NoRoom,
    /// It could not be written down.
    NotKept,
}

/// What waits, and what was granted.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: Waiting,
    grants: Grants,
}

impl Requests {
    /// The call, where it waits already: a person reads one id for one call.
    pub(crate) fn pending(&self, key: &GrantKey, session: &SessionKey) -> Option<Pending> {
        self.waiting.pending(key, session)
    }

    /// Whether a call of this id waits, or was granted.
    pub(crate) fn knows(&self, id: RequestId) -> bool {
        self.grants.knows(id) || self.waiting.knows(id)
    }

    /// Remembers a call that was not let run; see [`Waiting::wait`].
    pub(crate) fn wait(&mut self, request: Request) -> bool {
        self.waiting.wait(request)
    }

    /// What waits, the oldest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Request> {
        self.waiting.all()
    }

    /// What waits under an id as a person writes it.
    pub(crate) fn waiting_as(&self, id: &str) -> Option<&Request> {
        self.waiting.called(id)
    }

    /// What is granted, the oldest first.
    pub(crate) fn granted(&self, now: Now) -> Vec<&Granted> {
        self.grants.holding(now)
    }

    /// Everything that was granted and is not over.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Granted> {
        self.grants.all()
    }

    /// Keeps what was granted before a restart.
    pub(crate) fn keep(&mut self, granted: Granted) {
        self.grants.keep(granted);
    }

    /// Whether so much is granted that short ids are better left alone; see [`Grants::is_crowded`].
    pub(crate) fn is_crowded(&self) -> bool {
        self.grants.is_crowded()
    }

    /// Grants the call that waits under `id`, if it is the one that was `shown`. It waits no more.
    pub(crate) fn approve(
        &mut self,
        id: &str,
        shown: &str,
        scope: Scope,
        now: Now,
    ) -> Result<Granted, Ungrantable> {
        let request = self.waiting.called(id).ok_or(Ungrantable::NotWaiting)?;
        if request.shown != shown {
            return Err(Ungrantable::NotShown);
        }
        let granted = self.grants.grant(request, scope, now)?;
        self.waiting.end(granted.id);
        Ok(granted)
    }

    /// Refuses a call: it waits no more, and what was granted of it is taken back. Returns the id, where there was something to
    /// refuse.
    pub(crate) fn refuse(&mut self, id: &str) -> Option<RequestId> {
        let waiting = self.waiting.called(id).map(|request| request.id);
        let id = waiting.or_else(|| self.grants.called(id))?;
        self.waiting.refuse(id);
        self.grants.end(id);
        Some(id)
    }

    /// Whether a person has refused what waited under this id, and nothing has waited under it since.
    pub(crate) fn was_refused(&self, id: RequestId) -> bool {
        self.waiting.was_refused(id)
    }

    /// A grant is over.
    pub(crate) fn end(&mut self, id: RequestId) {
        self.grants.end(id);
    }

    /// The machine was booted since: of what ends at a time nobody can say whether it has passed.
    pub(crate) fn end_timed(&mut self) {
        self.grants.end_timed();
    }

    /// A call is over; see [`Waiting::over`].
    pub(crate) fn over(&mut self, key: &GrantKey, session: &SessionKey, use_id: &str, ran: bool) {
        self.waiting.over(key, session, use_id, ran);
    }

    /// Calls of a session wait no more; see [`Waiting::end_of`].
    pub(crate) fn end_of(
        &mut self,
        session: &SessionKey,
        over: Over<'_>,
        is_held: impl Fn(RequestId) -> bool,
    ) {
        self.waiting.end_of(session, over, is_held);
    }

    /// Calls wait no more; see [`Waiting::drop_over`].
    pub(crate) fn drop_over(&mut self, now: SystemTime, lives: impl Fn(&AgentProcess) -> bool) {
        self.waiting.drop_over(now, lives);
    }

    /// What was granted once in a session; see [`Grants::once`].
    pub(crate) fn once(
        &self,
        session: &SessionKey,
        is_meant: impl Fn(&Granted) -> bool,
    ) -> Vec<(RequestId, bool)> {
        self.grants.once(session, is_meant)
    }

    /// What of it is granted still; see [`Grants::left_of`].
    pub(crate) fn left_of(&self, taken: &Taken) -> Option<Taken> {
        self.grants.left_of(taken)
    }

    /// Takes all that was granted of a call; see [`Grants::take`].
    pub(crate) fn take(&mut self, key: &GrantKey, session: &SessionKey, now: Now) -> Option<Taken> {
        self.grants.take(key, session, now)
    }

    /// The call that took it has been judged; see [`Grants::settle`].
    pub(crate) fn settle(&mut self, taken: &Taken, is_used: impl Fn(&Grant) -> bool) -> Vec<RequestId> {
        self.grants.settle(taken, is_used)
    }
}

/// People write ids in any case.
pub(crate) fn is_called(known: RequestId, id: &str) -> bool {
    known.to_string().eq_ignore_ascii_case(id)
}

#[cfg(test)]
mod tests;
