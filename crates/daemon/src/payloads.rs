//! [`Payloads`]: shared memory budget for large payloads while they are judged. A payload without room waits in order
//! of arrival. Small payloads never wait. Does not depend on the contents of a payload.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::{PAYLOAD_COST, PAYLOADS_BYTES_MAX, PAYLOADS_WAITING_MAX, SMALL_PAYLOAD_BYTES_MAX};

#[derive(Debug, Default)]
pub(crate) struct Payloads {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// Bytes in use.
    taken: usize,
    /// Numbers of the waiting payloads, oldest first.
    waiting: VecDeque<u64>,
    next: u64,
}

/// Room for one payload; dropping it frees the room.
#[derive(Debug)]
pub(crate) struct Room<'p> {
    payloads: &'p Payloads,
    bytes: usize,
}

impl Payloads {
    /// Reserves room for a payload of `bytes`, waiting at most `time`. `None` when no room became free or too many
    /// wait.
    pub(crate) fn room(&self, bytes: usize, time: Duration) -> Option<Room<'_>> {
        if bytes <= SMALL_PAYLOAD_BYTES_MAX {
            return Some(Room { payloads: self, bytes: 0 });
        }
        // Limits the cost, so that a single payload of any size fits.
        let bytes = bytes.saturating_mul(PAYLOAD_COST).min(PAYLOADS_BYTES_MAX);
        let until = Instant::now() + time;
        let mut inner = self.lock();
        if inner.waiting.len() >= PAYLOADS_WAITING_MAX {
            return None;
        }
        let own = inner.next;
        inner.next = own.wrapping_add(1);
        inner.waiting.push_back(own);
        while !inner.is_turn_of(own, bytes) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                inner.waiting.retain(|other| *other != own);
                drop(inner);
                self.changed.notify_all();
                return None;
            }
            inner = self.changed.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        inner.waiting.pop_front();
        inner.taken = inner.taken.saturating_add(bytes);
        drop(inner);
        // There may be room for the next payload, too.
        self.changed.notify_all();
        Some(Room { payloads: self, bytes })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in this module panics while it holds the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn is_turn_of(&self, own: u64, bytes: usize) -> bool {
        self.waiting.front() == Some(&own) && self.taken.saturating_add(bytes) <= PAYLOADS_BYTES_MAX
    }
}

impl Room<'_> {
    /// Reports whether the room is that of a large payload, which may have waited.
    pub(crate) fn is_shared(&self) -> bool {
        self.bytes > 0
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut inner = self.payloads.lock();
        inner.taken = inner.taken.saturating_sub(self.bytes);
        drop(inner);
        self.payloads.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use castellan_wire::PAYLOAD_BYTES_MAX;

    use super::*;

    const NOW: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(60);

    /// Payload size that fits `times` times.
    const fn share(times: usize) -> usize {
        PAYLOADS_BYTES_MAX / PAYLOAD_COST / times
    }

    #[test]
    fn large_payloads_share_what_there_is_and_small_ones_need_none() {
        let payloads = Payloads::default();
        let rooms: Vec<_> = (0..4).map(|_| payloads.room(share(4), NOW).unwrap()).collect();
        assert!(payloads.room(share(4), NOW).is_none());
        assert!(payloads.room(SMALL_PAYLOAD_BYTES_MAX, NOW).is_some());
        drop(rooms);
        let largest = payloads.room(PAYLOAD_BYTES_MAX, NOW).unwrap();
        assert!(payloads.room(share(100), NOW).is_none());
        drop(largest);
        assert!(payloads.room(usize::MAX, NOW).is_some());
        let inner = payloads.lock();
        assert_eq!((inner.taken, inner.waiting.len()), (0, 0));
    }

    #[test]
    fn who_waits_is_served_in_turn() {
        let payloads = Payloads::default();
        let order = Mutex::new(Vec::new());
        let taken = payloads.room(share(1), NOW).unwrap();
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (payloads, order) = (&payloads, &order);
                scope.spawn(move || {
                    let _room = payloads.room(share(1), LONG).unwrap();
                    order.lock().unwrap().push(number);
                });
                while payloads.lock().waiting.len() <= number {
                    std::thread::yield_now();
                }
            }
            drop(taken);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn one_that_has_waited_long_enough_holds_nobody_up() {
        let payloads = Payloads::default();
        let half = payloads.room(share(2), NOW).unwrap();
        std::thread::scope(|scope| {
            let large = scope.spawn(|| payloads.room(share(1), Duration::from_millis(50)).is_none());
            while payloads.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            // This payload arrives after the large one and fits.
            assert!(payloads.room(share(2), LONG).is_some());
            assert!(large.join().unwrap());
        });
        drop(half);
    }

    #[test]
    fn not_every_worker_waits() {
        let payloads = Payloads::default();
        let taken = payloads.room(share(1), NOW).unwrap();
        std::thread::scope(|scope| {
            for number in 0..PAYLOADS_WAITING_MAX {
                scope.spawn(|| payloads.room(share(1), LONG).is_some());
                while payloads.lock().waiting.len() <= number {
                    std::thread::yield_now();
                }
            }
            assert!(payloads.room(share(1), LONG).is_none());
            drop(taken);
        });
    }
}
