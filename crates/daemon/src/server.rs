//! The hook socket. Each worker accepts for itself, reads one request, has it judged, and answers: one wake-up a call.
//! When the last idle worker becomes busy it leaves another one behind, up to a limit.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use castellan_wire::{FRAME_BYTES_MAX, Kind, Request, WireError, read_frame, write_frame};

use crate::judge::Judge;
use crate::limits::{FRAME_TIME, REPLY_TIME, SHUTDOWN_TIME, WORKERS_IDLE_MAX, WORKERS_MAX};

#[derive(Debug)]
pub(crate) struct Server {
    listener: UnixListener,
    judge: Arc<Judge>,
    idle: AtomicUsize,
    stopping: AtomicBool,
    workers: Mutex<usize>,
    worker_ended: Condvar,
}

impl Server {
    /// Starts serving on a listening socket.
    pub(crate) fn start(listener: UnixListener, judge: Arc<Judge>) -> io::Result<Arc<Server>> {
        let server = Arc::new(Server {
            listener,
            judge,
            idle: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            workers: Mutex::new(0),
            worker_ended: Condvar::new(),
        });
        server.add_worker()?;
        Ok(server)
    }

    /// Takes no new calls, and waits for those in flight.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes every worker that waits in `accept`.
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.worker_ended.wait_timeout_while(workers, SHUTDOWN_TIME, |workers| *workers > 0);
    }

    fn add_worker(self: &Arc<Server>) -> io::Result<()> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if *workers >= WORKERS_MAX {
            return Ok(());
        }
        let server = Arc::clone(self);
        self.idle.fetch_add(1, Ordering::SeqCst);
        let spawned = std::thread::Builder::new().name("hook".into()).spawn(move || server.work());
        match spawned {
            Ok(_) => *workers += 1,
            Err(error) => {
                self.idle.fetch_sub(1, Ordering::SeqCst);
                return Err(error);
            }
        }
        Ok(())
    }

    fn work(self: Arc<Server>) {
        while !self.stopping.load(Ordering::SeqCst) && self.idle.load(Ordering::SeqCst) <= WORKERS_IDLE_MAX {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if self.idle.fetch_sub(1, Ordering::SeqCst) == 1 {
                        // Without another worker the next call waits for this one; it is not let through.
                        let _ = self.add_worker();
                    }
                    self.serve(&stream);
                    self.idle.fetch_add(1, Ordering::SeqCst);
                }
                Err(_) if self.stopping.load(Ordering::SeqCst) => break,
                // Out of descriptors, most likely: the caller's hook denies by its own deadline.
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        self.idle.fetch_sub(1, Ordering::SeqCst);
        *self.workers.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.worker_ended.notify_all();
    }

    /// Serves one connection. Closing it without a reply makes the hook deny.
    fn serve(&self, stream: &UnixStream) {
        let started = Instant::now();
        let Ok(peer) = rustix::net::sockopt::socket_peercred(stream) else { return };
        if peer.uid != rustix::process::geteuid() {
            return self.judge.refuse_connection("another user's process tried to connect");
        }
        let Some(admission) = self.judge.peers().admit(peer.pid.as_raw_nonzero().get().unsigned_abs()) else {
            return self.judge.refuse_connection("an agent has too many calls in flight");
        };
        match read_request(stream) {
            Ok(request) => {
                admission.guard_agent();
                let reply = self.judge.answer(&request, admission.agent, started);
                let _ = stream.set_write_timeout(Some(REPLY_TIME));
                let _ = write_frame(&mut &*stream, Kind::Reply, &reply.encode());
            }
            // A look whether somebody listens.
            Err(WireError::Closed) => {}
            Err(error) => self.judge.refuse_connection(&format!("a request could not be read: {error}")),
        }
    }
}

fn read_request(stream: &UnixStream) -> Result<Request, WireError> {
    let mut reader = Timed { stream, until: Instant::now() + FRAME_TIME };
    let frame = read_frame(&mut reader, FRAME_BYTES_MAX)?;
    match frame.kind {
        Kind::Request => Request::decode(&frame.body),
        Kind::Reply | Kind::Hold | Kind::Control => Err(WireError::Body),
    }
}

/// Reads until a moment, not for a time since the last byte: a peer that drips bytes does not hold a worker.
struct Timed<'a> {
    stream: &'a UnixStream,
    until: Instant,
}

impl io::Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        (&mut &*self.stream).read(buffer)
    }
}
