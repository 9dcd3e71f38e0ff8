//! [`Deliveries`]: an agent that also reads another agent's settings starts two hooks for one call. Both send the same bytes.
//! The first one is judged, and a second one that comes meanwhile gets the same answer. A later one is judged again: what it
//! would run may have changed. It must not know how a call is judged.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use castellan_agents::AgentId;
use castellan_wire::{Reply, Request};
use sha2::{Digest, Sha256};

use crate::limits::{DELIVERIES_MAX, DELIVERY_TIME};
use crate::memory::Epoch;
use crate::peers::AgentProcess;

/// Identifies a question: the agent's process, the agent that sends such payloads, the directory, the event and the payload.
type Key = (AgentProcess, AgentId, [u8; 32]);

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
    /// Deliveries that wait for the answer.
    waiting: usize,
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

/// Returns the key of a question. `sender`: the agent that sends such payloads.
pub(crate) fn key(process: AgentProcess, sender: AgentId, request: &Request) -> Key {
    let Request { agent: _, event, parent_pid: _, cwd, payload } = request;
    let mut hash = Sha256::new();
    for part in [event.as_bytes(), cwd, payload] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    (process, sender, hash.finalize().into())
}

impl Deliveries {
    /// Takes a delivery by the hook of `hook`. A second one waits for the answer of the first while that is judged, at most
    /// [`DELIVERY_TIME`]. Each answer is given to one other hook once, because an agent may ask the same again.
    pub(crate) fn arrive(&self, key: Key, hook: AgentId) -> Arrival<'_> {
        let mut inner = self.lock();
        let now = Instant::now();
        inner.entries.retain(|entry| now.saturating_duration_since(entry.at) < DELIVERY_TIME * 2);
        let is_earlier = |entry: &&mut Entry| {
            entry.key == key && entry.hook != hook && matches!(entry.answer, Answer::Awaited)
        };
        let earlier = inner.entries.iter_mut().find(is_earlier);
        let Some(number) = earlier.map(|entry| {
            entry.waiting += 1;
            entry.number
        }) else {
            let number = inner.next;
            inner.next = number.wrapping_add(1);
            inner.entries.push_back(Entry {
                number,
                key,
                hook,
                at: now,
                answer: Answer::Awaited,
                waiting: 0,
            });
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
        // No later delivery gets an answer for which none waits.
        inner.entries.retain(|entry| entry.number != number || entry.waiting > 0);
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

    fn asked(payload: &str) -> Request {
        let (agent, event) = ("claude".to_owned(), "PreToolUse".to_owned());
        Request { agent, event, parent_pid: 7, cwd: b"/w".to_vec(), payload: payload.into() }
    }

    /// Waits until a delivery waits for an answer.
    fn until_one_waits(deliveries: &Deliveries) {
        let limit = Instant::now() + DELIVERY_TIME;
        while !deliveries.lock().entries.iter().any(|entry| entry.waiting > 0) {
            assert!(Instant::now() < limit, "no delivery waits");
            std::thread::yield_now();
        }
    }

    #[test]
    fn only_the_same_question_of_another_hook_shares_an_answer() {
        let deliveries = Deliveries::default();
        let known = key(process(1), AgentId::CLAUDE, &asked("{}"));
        let Arrival::First(first) = deliveries.arrive(known, AgentId::QWEN) else { panic!() };
        let elsewhere = Request { cwd: b"/".to_vec(), ..asked("{}") };
        let later = Request { event: "PermissionRequest".to_owned(), ..asked("{}") };
        for (other, hook) in [
            (known, AgentId::QWEN),
            (key(process(1), AgentId::CLAUDE, &asked("{ }")), AgentId::CLAUDE),
            (key(process(2), AgentId::CLAUDE, &asked("{}")), AgentId::CLAUDE),
            (key(process(1), AgentId::QWEN, &asked("{}")), AgentId::CLAUDE),
            (key(process(1), AgentId::CLAUDE, &elsewhere), AgentId::CLAUDE),
            (key(process(1), AgentId::CLAUDE, &later), AgentId::CLAUDE),
        ] {
            let Arrival::First(_) = deliveries.arrive(other, hook) else { panic!("{other:?} {hook:?}") };
        }
        std::thread::scope(|scope| {
            let second = scope.spawn(|| deliveries.arrive(known, AgentId::CLAUDE));
            until_one_waits(&deliveries);
            first.share(Epoch::default(), &reply("x"));
            let Arrival::Second(Some((_, shared))) = second.join().unwrap() else { panic!() };
            assert_eq!(shared, reply("x"));
        });
    }

    #[test]
    fn an_answer_that_was_given_is_not_given_again() {
        let deliveries = Deliveries::default();
        let known = key(process(1), AgentId::CLAUDE, &asked("{}"));
        let Arrival::First(first) = deliveries.arrive(known, AgentId::QWEN) else { panic!() };
        first.share(Epoch::default(), &reply("x"));
        // A file may be another by now.
        let Arrival::First(first) = deliveries.arrive(known, AgentId::CLAUDE) else { panic!() };
        std::thread::scope(|scope| {
            let second = scope.spawn(|| deliveries.arrive(known, AgentId::QWEN));
            until_one_waits(&deliveries);
            drop(first);
            let Arrival::Second(None) = second.join().unwrap() else { panic!() };
        });
    }

    #[test]
    fn no_more_than_some_deliveries_are_remembered() {
        let deliveries = Deliveries::default();
        for number in 0..DELIVERIES_MAX + 10 {
            let known = key(process(1), AgentId::CLAUDE, &asked(&number.to_string()));
            let Arrival::First(first) = deliveries.arrive(known, AgentId::CLAUDE) else { panic!() };
            std::mem::forget(first);
        }
        assert_eq!(deliveries.lock().entries.len(), DELIVERIES_MAX);
    }
}
