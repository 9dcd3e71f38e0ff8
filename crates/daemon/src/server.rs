//! The hook socket. Each worker accepts a connection itself, reads one request, gets it judged and answers, so that a
//! call costs one wake-up. When the last idle worker becomes busy, it starts another one, up to a limit.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use castellan_event::Mode;
use castellan_wire::{
    Announced, FRAME_BYTES_MAX, HOLD_MS_MAX, Hold, Kind, Reply, Request, WireError, write_frame,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::held::HeldCall;
use crate::judge::{HaltCount, Holding, Judge, Outcome};
use crate::limits::{
    ACCEPT_PAUSE, FRAME_TIME, HOLD_GRACE, JUDGED_AGAIN_MAX, KNOCK, PAYLOAD_WAIT, REPLY_TIME, SHUTDOWN_TIME,
    WORKER_STACK_BYTES, WORKERS_IDLE_MAX, WORKERS_MAX,
};
use crate::payloads::Payloads;
use crate::peers::{Admission, AgentProcess, Peers, Sender};
use crate::platform::{peer_of, shares_namespaces};
use crate::refusals::Refusals;
use crate::sight;
use crate::sockets::Socket;
use crate::system;
use crate::timed::Timed;

#[derive(Debug)]
pub(crate) struct Server {
    socket: Arc<Socket>,
    judge: Arc<Judge>,
    peers: Arc<Peers>,
    refusals: Refusals,
    /// Rejections of other users.
    strangers: Refusals,
    payloads: Payloads,
    idle: AtomicUsize,
    stopping: AtomicBool,
    workers: Mutex<usize>,
    worker_ended: Condvar,
    /// The thread that answers held calls.
    answering: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Starts serving on a listening socket.
    pub(crate) fn start(
        socket: Arc<Socket>,
        judge: Arc<Judge>,
        peers: Arc<Peers>,
    ) -> io::Result<Arc<Server>> {
        let server = Arc::new(Server {
            socket,
            judge,
            peers,
            refusals: Refusals::default(),
            strangers: Refusals::default(),
            payloads: Payloads::default(),
            idle: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            workers: Mutex::new(0),
            worker_ended: Condvar::new(),
            answering: Mutex::default(),
        });
        server.add_worker()?;
        let of_held = Arc::clone(&server);
        let answering = worker("held").spawn(move || of_held.answer_held())?;
        *server.answering.lock().unwrap_or_else(PoisonError::into_inner) = Some(answering);
        Ok(server)
    }

    /// Takes no new calls and waits for those in flight. Another process may serve a paused socket.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        if !self.socket.is_paused() {
            self.socket.wake();
        }
        self.await_workers();
        self.judge.held().end();
        let answering = self.answering.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = answering.map(JoinHandle::join);
    }

    /// Waits for the end of all workers.
    fn await_workers(&self) {
        let until = Instant::now() + SHUTDOWN_TIME;
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        while *workers > 0 && Instant::now() < until {
            if self.socket.is_paused() {
                // Each idle worker waits for a connection.
                (0..self.idle.load(Ordering::SeqCst)).for_each(|_| self.socket.knock());
            }
            workers =
                self.worker_ended.wait_timeout(workers, KNOCK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn add_worker(self: &Arc<Server>) -> io::Result<()> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if *workers >= WORKERS_MAX {
            return Ok(());
        }
        let server = Arc::clone(self);
        self.idle.fetch_add(1, Ordering::SeqCst);
        let spawned = worker("hook").spawn(move || server.work());
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
        while !self.stopping.load(Ordering::SeqCst) {
            match self.socket.accept() {
                Ok(None) => break,
                Ok(Some(stream)) => {
                    // Before another worker starts, so that another user cannot use them up.
                    let Some(peer) = self.guarded_peer(&stream) else { continue };
                    if self.idle.fetch_sub(1, Ordering::SeqCst) == 1 {
                        // Without another worker the next call waits for this one; it is not allowed meanwhile.
                        let _ = self.add_worker();
                    }
                    self.serve(stream, peer);
                    if !self.is_needed() {
                        return self.end_worker();
                    }
                }
                Err(_) if self.stopping.load(Ordering::SeqCst) => break,
                // Probably out of descriptors: the caller's hook denies at its own deadline.
                Err(_) => std::thread::sleep(ACCEPT_PAUSE),
            }
        }
        self.idle.fetch_sub(1, Ordering::SeqCst);
        self.end_worker();
    }

    /// Makes this worker idle again, unless enough others are. One atomic step, so that never all of them leave.
    fn is_needed(&self) -> bool {
        let enough = |idle| (idle < WORKERS_IDLE_MAX).then(|| idle + 1);
        self.idle.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enough).is_ok()
    }

    fn end_worker(&self) {
        *self.workers.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.worker_ended.notify_all();
    }

    /// Returns the connecting process if it is the guarded user's. Another user's is recorded.
    fn guarded_peer(&self, stream: &UnixStream) -> Option<u32> {
        let peer = peer_of(stream).ok()?;
        if peer.user == sight::user() {
            return Some(peer.pid);
        }
        // Root's commands test whether the daemon of the system listens.
        if !system::is_administrators(peer.user)
            && let Some(text) = self.strangers.text("another user's process tried to connect", Instant::now())
        {
            self.judge.fail("peer", &text);
        }
        None
    }

    /// Serves one connection, or keeps it for another process.
    fn serve(&self, stream: UnixStream, peer: u32) {
        if self.serve_sent(&stream, peer).is_none() {
            self.socket.keep(stream);
        }
    }

    /// Serves one connection. `None` if it has sent nothing when another process takes over.
    fn serve_sent(&self, stream: &UnixStream, peer: u32) -> Option<()> {
        let started = Instant::now();
        let admission = match self.peers.admit(peer) {
            Ok(admission) => admission,
            Err(agent) => {
                self.turn_away(stream, (agent, peer), "overload", "an agent has too many calls in flight");
                return Some(());
            }
        };
        let mut frame = Timed::new(stream, FRAME_TIME);
        if !self.socket.has_sent(stream, FRAME_TIME) {
            return None;
        }
        self.serve_request(stream, &mut frame, (&admission, peer), started);
        Some(())
    }

    /// Serves a connection that has sent something.
    fn serve_request(
        &self,
        stream: &UnixStream,
        frame: &mut Timed<'_>,
        (admission, peer): (&Admission<'_>, u32),
        started: Instant,
    ) {
        let turned_away = |code: &str, why: &str| self.turn_away(stream, (admission.agent, peer), code, why);
        let announced = match Announced::read(frame, FRAME_BYTES_MAX) {
            Ok(announced) => announced,
            // A peer that only tests the socket.
            Err(WireError::Closed) => return,
            Err(error) => return turned_away("frame", &format!("a request could not be read: {error}")),
        };
        let Some(room) = self.payloads.room(announced.body_bytes(), PAYLOAD_WAIT) else {
            return turned_away("overload", "too many calls of megabytes are in flight");
        };
        // The hook may have denied at its own deadline meanwhile.
        if room.is_shared() && has_hung_up(stream) {
            return;
        }
        match read_request(announced, stream) {
            Ok(request) => {
                let sender = admission.sender(request.parent_pid, &request.agent);
                let sender = Sender { is_elsewhere: !shares_namespaces(peer), ..sender };
                self.answer(stream, request, sender, started);
                drop(room);
                self.judge.check_scripts();
            }
            Err(error) => turned_away("frame", &format!("a request could not be read: {error}")),
        }
    }

    /// Answers a hook, or makes the hook wait. A waiting call frees this thread and its agent's room. A call that was
    /// judged before a halt and is not answered yet is judged again.
    fn answer(&self, stream: &UnixStream, request: Request, sender: Sender, started: Instant) {
        let (mut request, mut holding) = (request, Holding::May);
        for _ in 0..JUDGED_AGAIN_MAX {
            let seen = self.judge.halting().count();
            match self.judge.answer(&request, sender, started, holding) {
                Outcome::Decided(reply) => {
                    if self.reply(seen, stream, &reply) {
                        return;
                    }
                }
                Outcome::Held { id, time, session } => {
                    let until = Instant::now() + time;
                    let Ok(kept) = stream.try_clone() else { return };
                    if !announce_wait(stream, time) {
                        return;
                    }
                    let call = HeldCall { id, stream: kept, request, sender, session, until };
                    match self.hold(seen, call) {
                        Ok(()) => return,
                        Err(call) => (request, holding) = (call.request, Holding::No),
                    }
                }
            }
        }
        // The hook denies, as it gets no answer.
    }

    /// Sends an answer. Returns false without sending it if agents were halted since the call was judged.
    fn reply(&self, seen: HaltCount, stream: &UnixStream, reply: &Reply) -> bool {
        let permit = self.judge.halting().permit(seen);
        if permit.is_some() {
            send(stream, reply);
        }
        permit.is_some()
    }

    /// Holds a call. Returns it if there is no room, or if agents were halted since it was judged.
    fn hold(&self, seen: HaltCount, call: HeldCall) -> Result<(), Box<HeldCall>> {
        match self.judge.halting().permit(seen) {
            Some(_permit) => self.judge.hold(call),
            None => Err(Box::new(call)),
        }
    }

    /// Answers held calls in sequence until the server stops.
    fn answer_held(&self) {
        while let Some((call, end)) = self.judge.held().next() {
            // A grant stays for the agent's next try.
            if !call.is_abandoned() {
                self.answer_one(&call, Holding::Was(end));
            }
        }
    }

    fn answer_one(&self, call: &HeldCall, holding: Holding) {
        for _ in 0..JUDGED_AGAIN_MAX {
            let seen = self.judge.halting().count();
            let outcome = self.judge.answer(&call.request, call.sender, Instant::now(), holding);
            // A call that was held is not held again.
            let Outcome::Decided(reply) = outcome else { break };
            if self.reply(seen, &call.stream, &reply) {
                break;
            }
        }
        self.judge.check_scripts();
    }

    /// Ends a connection without knowing its request. In enforce mode the daemon closes it without an answer, so the
    /// hook denies in its agent's format. In other modes the agent decides: an empty reply is valid for every agent.
    fn turn_away(&self, stream: &UnixStream, (agent, peer): (AgentProcess, u32), code: &str, why: &str) {
        if let Some(text) = self.refusals.text(why, Instant::now()) {
            self.judge.fail(code, &text);
        }
        let seen = self.judge.halting().count();
        match self.judge.mode_of_refusal(agent, AgentProcess::of(peer)) {
            Mode::Enforce => {}
            // After a halt meanwhile, no answer denies.
            Mode::Monitor | Mode::Passthrough => {
                self.reply(seen, stream, &Reply::default());
            }
        }
    }
}

/// A thread that decides calls.
fn worker(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(name.into()).stack_size(WORKER_STACK_BYTES)
}

/// Makes a hook wait for the reply. Returns false if it has gone.
fn announce_wait(stream: &UnixStream, time: Duration) -> bool {
    let ms = u32::try_from((time + HOLD_GRACE).as_millis()).unwrap_or(HOLD_MS_MAX).min(HOLD_MS_MAX);
    let _ = stream.set_write_timeout(Some(REPLY_TIME));
    write_frame(&mut &*stream, Kind::Hold, &Hold { ms }.encode()).is_ok()
}

fn send(stream: &UnixStream, reply: &Reply) {
    // A hook that does not read its answer has ended or denies at its own deadline.
    let _ = stream.set_write_timeout(Some(REPLY_TIME));
    let _ = write_frame(&mut &*stream, Kind::Reply, &reply.encode());
}

/// Reports whether the other end has closed the connection.
fn has_hung_up(stream: &UnixStream) -> bool {
    let mut watched = [PollFd::new(stream, PollFlags::empty())];
    let polled = poll(&mut watched, Some(&Timespec::default()));
    polled.is_err() || watched.iter().any(|fd| fd.revents().contains(PollFlags::HUP))
}

fn read_request(announced: Announced, stream: &UnixStream) -> Result<Request, WireError> {
    let frame = announced.read_body(&mut Timed::new(stream, FRAME_TIME))?;
    match frame.kind {
        Kind::Request => Request::decode(frame.body),
        Kind::Reply | Kind::Hold | Kind::Control => Err(WireError::Body),
    }
}
