//! Copies of calls that wait for a Falco of the user's own. It must not know the contents of a copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::limits::{EVENTS_BYTES_MAX, EVENTS_WAITING_MAX};

/// Copies that wait, with their bytes.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    to: SyncSender<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
}

/// The other end of the queue.
#[derive(Debug)]
pub(super) struct Copies {
    from: Receiver<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
}

/// Returns both ends of an empty queue.
pub(super) fn queue() -> (Queue, Copies) {
    let (to, from) = sync_channel(EVENTS_WAITING_MAX);
    let bytes = Arc::new(AtomicUsize::new(0));
    (Queue { to, bytes: Arc::clone(&bytes) }, Copies { from, bytes })
}

impl Queue {
    /// Adds a copy. A Falco that does not keep up loses it.
    pub(super) fn add(&self, copy: Vec<u8>) {
        let size = copy.len();
        let before = self.bytes.fetch_add(size, Ordering::SeqCst);
        if before.saturating_add(size) > EVENTS_BYTES_MAX || self.to.try_send(copy).is_err() {
            self.bytes.fetch_sub(size, Ordering::SeqCst);
        }
    }
}

impl Copies {
    /// Sends copies until nobody makes them.
    pub(super) fn send(self, to: impl Fn(&[u8])) {
        for copy in self.from {
            to(&copy);
            self.bytes.fetch_sub(copy.len(), Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Falco that reads nothing costs no more memory than this.
    #[test]
    fn the_queue_has_a_limit_of_copies_and_of_bytes() {
        let of = |size: usize, times: usize| {
            let (queue, copies) = queue();
            for _ in 0..times {
                queue.add(vec![0; size]);
            }
            drop(queue.to);
            let (waiting, sent) = (queue.bytes.load(Ordering::SeqCst), std::cell::Cell::new(0));
            copies.send(|copy| sent.set(sent.get() + copy.len()));
            assert_eq!((sent.get(), queue.bytes.load(Ordering::SeqCst)), (waiting, 0));
            waiting
        };
        assert_eq!(of(1, 1_000), EVENTS_WAITING_MAX);
        assert_eq!(of(EVENTS_BYTES_MAX / 4 + 1, 10), 3 * (EVENTS_BYTES_MAX / 4 + 1));
        assert_eq!(of(EVENTS_BYTES_MAX, 2), EVENTS_BYTES_MAX);
        assert_eq!(of(EVENTS_BYTES_MAX + 1, 2), 0);
    }
}
