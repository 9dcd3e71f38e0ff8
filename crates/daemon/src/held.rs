//! Calls that are held for a person's answer while their agent waits. A held call is an open connection with its
//! request, not a thread, so it costs other calls nothing. This module must not know how a call is judged.

use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use castellan_policy::RequestId;
use castellan_wire::Request;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::{WAITING_CALLS_BYTES_MAX, WAITING_MAX, WAITING_PER_AGENT_MAX};
use crate::peers::Sender;
use crate::session_key::SessionKey;

/// A held call.
#[derive(Debug)]
pub(crate) struct HeldCall {
    pub(crate) id: RequestId,
    pub(crate) stream: UnixStream,
    pub(crate) request: Request,
    pub(crate) sender: Sender,
    pub(crate) session: SessionKey,
    /// Time of the reply if no person answers.
    pub(crate) until: Instant,
}

/// The reason why a held call gets its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// A person has granted it, or its time is over: it is judged again.
    Judge,
    /// A person has refused it.
    Refused,
}

/// The held calls.
#[derive(Debug, Default)]
pub(crate) struct HeldCalls {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    calls: Vec<HeldCall>,
    due: Vec<(HeldCall, End)>,
    is_ending: bool,
}

impl HeldCall {
    /// Reports whether the hook has closed its connection.
    pub(crate) fn is_abandoned(&self) -> bool {
        let mut watched = [PollFd::new(&self.stream, PollFlags::IN)];
        let polled = poll(&mut watched, Some(&Timespec::default()));
        // A hook sends nothing after its request, so only the end of the connection is readable.
        polled.is_err() || watched.iter().any(|fd| !fd.revents().is_empty())
    }
}

impl HeldCalls {
    /// Holds a call. Returns it if there is no room.
    pub(crate) fn hold(&self, call: HeldCall) -> Result<(), Box<HeldCall>> {
        let mut inner = self.lock();
        let calls = &inner.calls;
        let bytes: usize = calls.iter().map(|held| held.request.payload.len()).sum();
        let of_agent = calls.iter().filter(|held| held.sender.agent == call.sender.agent).count();
        let is_room = calls.len() < WAITING_MAX
            && of_agent < WAITING_PER_AGENT_MAX
            && bytes.saturating_add(call.request.payload.len()) <= WAITING_CALLS_BYTES_MAX;
        if !is_room || inner.is_ending {
            return Err(Box::new(call));
        }
        inner.calls.push(call);
        drop(inner);
        self.changed.notify_all();
        Ok(())
    }

    pub(crate) fn holds(&self, id: RequestId) -> bool {
        self.lock().calls.iter().any(|call| call.id == id)
    }

    /// Releases the held calls with this id after a person's decision.
    pub(crate) fn answer(&self, id: RequestId, end: End) {
        self.release(end, |call| call.id == id);
    }

    /// Releases the held calls that are meant.
    pub(crate) fn release(&self, end: End, is_meant: impl Fn(&HeldCall) -> bool) {
        self.lock().take(end, is_meant);
        self.changed.notify_all();
    }

    /// Releases all calls and holds no more.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.is_ending = true;
        inner.take(End::Judge, |_| true);
        drop(inner);
        self.changed.notify_all();
    }

    /// Waits for the next released call. Returns `None` after [`HeldCalls::end`] when none is left.
    pub(crate) fn next(&self) -> Option<(HeldCall, End)> {
        let mut inner = self.lock();
        loop {
            let now = Instant::now();
            inner.take(End::Judge, |call| call.until <= now);
            if let Some(due) = inner.due.pop() {
                return Some(due);
            }
            if inner.is_ending {
                return None;
            }
            let first = inner.calls.iter().map(|call| call.until).min();
            let wait = first.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code in this module panics while it holds the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self, end: End, is_due: impl Fn(&HeldCall) -> bool) {
        let due = self.calls.extract_if(.., |call| is_due(call));
        self.due.extend(due.map(|call| (call, end)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::AgentProcess;

    fn call(seed: u64, pid: u32, bytes: usize, wait: Duration) -> (HeldCall, UnixStream) {
        let (stream, other) = UnixStream::pair().unwrap();
        let request = Request {
            agent: String::new(),
            event: String::new(),
            parent_pid: 0,
            cwd: Vec::new(),
            payload: vec![0; bytes],
        };
        let sender = AgentProcess { pid, started: 1 }.into();
        let until = Instant::now() + wait;
        let (id, session) = (RequestId::from_seed(seed), SessionKey([0; 32]));
        (HeldCall { id, stream, request, sender, session, until }, other)
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn each_is_answered_when_a_person_has_spoken_or_its_time_is_over() {
        let held = HeldCalls::default();
        let ((one, _a), (two, _b), (over, _c)) =
            (call(1, 1, 0, LONG), call(2, 1, 0, LONG), call(3, 1, 0, Duration::ZERO));
        let ids = [one.id, two.id, over.id];
        for call in [one, two, over] {
            held.hold(call).unwrap();
        }
        let next = || held.next().map(|(call, end)| (call.id, end));
        assert_eq!(next(), Some((ids[2], End::Judge)));
        held.answer(ids[1], End::Refused);
        assert_eq!(next(), Some((ids[1], End::Refused)));
        assert!(held.holds(ids[0]) && !held.holds(ids[1]));
        held.end();
        assert_eq!((next(), next()), (Some((ids[0], End::Judge)), None));
        assert!(held.hold(call(1, 1, 0, LONG).0).is_err());
    }

    #[test]
    fn there_is_room_for_so_many_of_one_agent_and_of_all() {
        let held = HeldCalls::default();
        let mut ends = Vec::new();
        let mut hold = |pid: u32, bytes: usize| {
            let (call, end) = call(1, pid, bytes, LONG);
            ends.push(end);
            held.hold(call).is_ok()
        };
        assert!((0..WAITING_PER_AGENT_MAX).all(|_| hold(1, 0)));
        assert!(!hold(1, 0) && hold(2, 0));
        assert!(!hold(3, WAITING_CALLS_BYTES_MAX + 1) && hold(3, WAITING_CALLS_BYTES_MAX));
        assert!(!hold(4, 1));
    }

    #[test]
    fn a_hook_that_has_gone_is_seen() {
        let (held, hook) = call(1, 1, 0, LONG);
        assert!(!held.is_abandoned());
        drop(hook);
        assert!(held.is_abandoned());
    }
}
