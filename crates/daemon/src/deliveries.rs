//! [`Deliveries`]: an agent that also reads another agent's settings starts two hooks for one call. Both send the same bytes.
//! The first one is judged, and the second one gets the same answer. It must not know how a call is judged.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use castellan_agents::AgentId;
use castellan_wire::Reply;
use sha2::{Digest, Sha256};

use crate::limits::{DELIVERIES_MAX, DELIVERY_TIME};
use crate::memory::Epoch;
use crate::peers::AgentProcess;

/// Identifies a question: the agent's process and the bytes of the payload.
type Key = (AgentProcess, [u8; 32]);

/// The deliveries of the last moments.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    inner: Mutex<Inner>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    /// The oldest first.
    entries: VecDeque<Entry>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    key: Key,
    /// The agent whose hook delivered it.
    hook: AgentId,
    at: Instant,
    answer: Answer,
}

#[derive(Debug, Clone)]
enum Answer {
    /// The first delivery is being judged.
    Awaited,
    /// With the epoch at the arrival: after it changed, the call must be judged again.
    Given(Epoch, Reply),
    /// The answer is for one delivery only.
    Own,
}

/// A delivery that has to be judged. Dropping it without an answer lets a second delivery be judged on its own.
#[derive(Debug)]
pub(crate) struct First<'d> {
    deliveries: &'d Deliveries,
    number: u64,
}

/// The place of a delivery.
#[derive(Debug)]
pub(crate) enum Arrival<'d> {
    First(First<'d>),
    /// Another hook has delivered the same question. `None`: this one has to be judged on its own.
    Second(Option<(Epoch, Reply)>),
}

/// Returns the key of a question.
pub(crate) fn key(process: AgentProcess, payload: &[u8]) -> Key {
    (process, Sha256::digest(payload).into())
}

impl Deliveries {
    /// Takes a delivery by the hook of `hook`. A second one waits for the answer of the first, at most [`DELIVERY_TIME`]. Each
    /// answer is given to one other hook once, because an agent may ask the same again.
    pub(crate) fn arrive(&self, key: Key, hook: AgentId) -> Arrival<'_> {
        let mut inner = self.lock();
        let now = Instant::now();
        inner.entries.retain(|entry| now.saturating_duration_since(entry.at) < DELIVERY_TIME * 2);
        let earlier = inner.entries.iter().find(|entry| entry.key == key && entry.hook != hook);
        let Some(number) = earlier.map(|entry| entry.number) else {
            let number = inner.next;
            inner.next = number.wrapping_add(1);
            inner.entries.push_back(Entry { number, key, hook, at: now, answer: Answer::Awaited });
            while inner.entries.len() > DELIVERIES_MAX {
                inner.entries.pop_front();
            }
            return Arrival::First(First { deliveries: self, number });
        };
        Arrival::Second(self.take(inner, number, DELIVERY_TIME))
    }

    /// Waits for the answer of an entry, and removes the entry.
    fn take(&self, inner: MutexGuard<'_, Inner>, number: u64, time: Duration) -> Option<(Epoch, Reply)> {
        let is_awaited = |inner: &mut Inner| {
            inner
                .entries
                .iter()
                .any(|entry| entry.number == number && matches!(entry.answer, Answer::Awaited))
        };
        let waited = self.answered.wait_timeout_while(inner, time, is_awaited);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let at = inner.entries.iter().position(|entry| entry.number == number)?;
        match inner.entries.remove(at)?.answer {
            Answer::Given(epoch, reply) => Some((epoch, reply)),
            Answer::Awaited | Answer::Own => None,
        }
    }

    fn answer(&self, number: u64, answer: Answer) {
        let mut inner = self.lock();
        let entry = inner.entries.iter_mut().find(|entry| entry.number == number);
        if let Some(entry) = entry.filter(|entry| matches!(entry.answer, Answer::Awaited)) {
            entry.answer = answer;
            self.answered.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl First<'_> {
    /// Shares the answer, which was judged at this epoch.
    pub(crate) fn share(self, epoch: Epoch, reply: &Reply) {
        self.deliveries.answer(self.number, Answer::Given(epoch, reply.clone()));
    }
}

impl Drop for First<'_> {
    fn drop(&mut self) {
        self.deliveries.answer(self.number, Answer::Own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Reply {
        Reply { exit: 0, stdout: text.into(), stderr: Vec::new() }
    }

    fn process(pid: u32) -> AgentProcess {
        AgentProcess { pid, started: 1 }
    }

    #[test]
    fn one_other_hook_gets_the_answer_once() {
        let deliveries = Deliveries::default();
        let asked = key(process(1), b"{}");
        let arrive = |key, hook| match deliveries.arrive(key, hook) {
            Arrival::First(first) => {
                first.share(Epoch::default(), &reply("first"));
                "first".to_owned()
            }
            Arrival::Second(shared) => shared
                .map_or("alone".to_owned(), |(_, reply)| String::from_utf8(reply.stdout).unwrap() + " again"),
        };
        assert_eq!(arrive(asked, AgentId::QWEN), "first");
        // The agent asks the same again.
        assert_eq!(arrive(asked, AgentId::QWEN), "first");
        assert_eq!(arrive(key(process(1), b"{ }"), AgentId::CLAUDE), "first");
        assert_eq!(arrive(key(process(2), b"{}"), AgentId::CLAUDE), "first");
        assert_eq!(arrive(asked, AgentId::CLAUDE), "first again");
        assert_eq!(arrive(asked, AgentId::CLAUDE), "first again");
        assert_eq!(arrive(asked, AgentId::CLAUDE), "first");
    }

    #[test]
    fn a_second_delivery_waits_for_the_first() {
        let deliveries = Deliveries::default();
        let asked = key(process(1), b"{}");
        let Arrival::First(first) = deliveries.arrive(asked, AgentId::CLAUDE) else { panic!() };
        std::thread::scope(|scope| {
            let second = scope.spawn(|| deliveries.arrive(asked, AgentId::QWEN));
            first.share(Epoch::default(), &reply("x"));
            let Arrival::Second(Some((_, shared))) = second.join().unwrap() else { panic!() };
            assert_eq!(shared, reply("x"));
        });
        let Arrival::First(first) = deliveries.arrive(asked, AgentId::CLAUDE) else { panic!() };
        drop(first);
        let Arrival::Second(None) = deliveries.arrive(asked, AgentId::QWEN) else { panic!() };
    }

    #[test]
    fn no_more_than_some_deliveries_are_remembered() {
        let deliveries = Deliveries::default();
        for number in 0..DELIVERIES_MAX + 10 {
            let asked = key(process(1), number.to_string().as_bytes());
            assert!(matches!(deliveries.arrive(asked, AgentId::CLAUDE), Arrival::First(_)));
        }
        assert_eq!(deliveries.lock().entries.len(), DELIVERIES_MAX);
    }
}
