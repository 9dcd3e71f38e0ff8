//! The control socket for every change. Every request that loosens anything needs the same user presence check.

mod connections;
mod consent;
mod contained;
mod halt;
mod handover;
mod keep;
mod keep_files;
mod own_files;
mod pause;
mod plans;
mod runs;
mod switch;
mod trust;
mod undo;
mod view;
mod view_files;

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use castellan_audit::Record;
use castellan_event::{Mode, UnknownWord};
use castellan_files::write_private;
use castellan_policy::{Presence, SandboxMode};
use castellan_wire::{CONTROL_BYTES_MAX, Frame, Kind, read_frame, write_frame};

pub(crate) use self::connections::Connections;
use self::connections::{CopiedBy, Copying};
use crate::clock::wall;
use crate::config::KeyEdit;
use crate::control::{
    CONTROL_VERSION, ControlRequest, ControlResponse, Envelope, Known, OwnFile, PauseStatus, Secret,
    SocketsOf, StatusReport, is_readable,
};
use crate::facts::own_paths;
use crate::handover::Successor;
use crate::judge::Judge;
use crate::layout::Layout;
use crate::limits::{ACCEPT_PAUSE, FRAME_TIME, OWN_FILES_TIME, PASSWORD_TIME};
use crate::live::unguarded;
use crate::peers::{AgentProcess, Peers};
use crate::platform::{Peer as Credentials, peer_of};
use crate::policy_state::{PolicyState, Report};
use crate::presence;
use crate::process::Process;
use crate::record;
use crate::refusals::Refusals;
use crate::secret::{Account, SecretError, Secrets};
use crate::sight;
use crate::sockets::Socket;
use crate::system;
use crate::timed::Timed;

/// Events for a running daemon that are no calls.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Finish calls in flight and end.
    End,
    /// Read watched rule files at once.
    Reload,
    /// Give everything to the next daemon and end.
    HandOver(Box<Successor>),
}

/// The state of a connection after its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Done,
    /// It has sent nothing when another process takes over.
    SentNothing,
    /// Another castellan takes over by it.
    HandsOver,
}

/// Serves the control socket.
#[derive(Debug)]
pub(crate) struct ControlServer {
    pub(crate) layout: Layout,
    pub(crate) judge: Arc<Judge>,
    pub(crate) peers: Arc<Peers>,
    pub(crate) policy: Arc<PolicyState>,
    pub(crate) secrets: Secrets,
    pub(crate) signals: Sender<Signal>,
    pub(crate) started: Instant,
    pub(crate) connections: Connections,
    /// Rejections of other users.
    pub(crate) strangers: Refusals,
    /// Held during a decision about a workspace, so that only one copy of its files is made at a time.
    pub(crate) deciding: Mutex<()>,
    /// Held while the mode is changed.
    pub(crate) mode_changes: Mutex<()>,
    /// Held while a plan is put in force or ended.
    pub(crate) plan_changes: Mutex<()>,
    /// A service manager keeps the sockets.
    pub(crate) is_managed: bool,
    /// True from a permitted handover to its end.
    pub(crate) handing_over: AtomicBool,
}

/// Characters of a hash in a record.
const HASH_CHARS: usize = 16;

/// The requesting process.
#[derive(Clone, Copy)]
struct Peer<'a> {
    pid: u32,
    /// Start time of the process when it connected; 0 if it could not be read.
    started: u64,
    uid: u32,
    /// As [`system::is_administrator`].
    is_administrator: bool,
    /// The secrets that came with the request.
    known: &'a Known,
}

impl ControlServer {
    /// Accepts connections until another process takes over, or this one ends.
    pub(crate) fn serve(self: &Arc<ControlServer>, socket: &Arc<Socket>) {
        loop {
            let stream = match socket.accept() {
                Ok(Some(stream)) => stream,
                Ok(None) => return,
                Err(_) if socket.is_closed() => return,
                // The process most likely has no free file descriptors.
                Err(_) => {
                    std::thread::sleep(ACCEPT_PAUSE);
                    continue;
                }
            };
            // Before a thread starts for it.
            let Some(peer) = self.permitted_peer(&stream) else { continue };
            let (server, socket) = (Arc::clone(self), Arc::clone(socket));
            // Without a thread, the client sees the end of the connection.
            let _ = std::thread::Builder::new().name("control".into()).spawn(move || {
                match server.answer(&stream, &peer, &socket).unwrap_or(Answered::Done) {
                    Answered::Done => {}
                    Answered::SentNothing => socket.keep(stream),
                    Answered::HandsOver => server.hand_over(stream),
                }
            });
        }
    }

    /// Returns the connecting process if its user may make requests. Another user's is recorded.
    fn permitted_peer(&self, stream: &UnixStream) -> Option<Credentials> {
        let peer = peer_of(stream).ok()?;
        if system::may_control(peer.user) {
            return Some(peer);
        }
        let why = "another user's process tried to connect for control";
        if let Some(text) = self.strangers.text(why, Instant::now()) {
            self.judge.fail("peer", &text);
        }
        None
    }

    /// Answers one request. `None` if none could be read.
    fn answer(&self, stream: &UnixStream, credentials: &Credentials, socket: &Socket) -> Option<Answered> {
        let pid = credentials.pid;
        // Read before any wait: the process id could be reused.
        let started = Process::read(pid).map_or(0, |process| process.started);
        let is_administrator = system::is_administrator(credentials.user, AgentProcess { pid, started });
        let silent = self.connections.admit(stream)?;
        let mut frame = Timed::new(stream, FRAME_TIME);
        if !socket.has_sent(stream, FRAME_TIME) {
            return Some(Answered::SentNothing);
        }
        let frame = read_frame(&mut frame, CONTROL_BYTES_MAX).ok()?;
        let read = read_request(&frame);
        let is_urgent = matches!(read, Ok((ControlRequest::Halt { .. }, _)));
        // Until the response is sent.
        let _work = silent.begin(is_urgent)?;
        let mut opened = None;
        let (body, then) = match read {
            Ok((request, known)) => {
                let peer = Peer { pid, started, uid: credentials.user, is_administrator, known: &known };
                let outcome = if matches!(request, ControlRequest::OwnFiles) {
                    let files = self.check_terms(&request, peer).and_then(|()| self.open_own_files(peer));
                    files.map(|(files, copying)| {
                        let named = files.iter().map(|(named, _)| named.clone()).collect();
                        opened = Some((files, copying));
                        ControlResponse::OwnFiles(named)
                    })
                } else {
                    self.carry_out(&request, peer)
                };
                let request = outcome.is_ok().then_some(request);
                (outcome.unwrap_or_else(|response| response), request)
            }
            Err(why) => (ControlResponse::Failed(why), None),
        };
        let envelope = Envelope { version: CONTROL_VERSION, body, known: Known::default() };
        let _ = stream.set_write_timeout(Some(FRAME_TIME));
        let _ = write_frame(&mut &*stream, Kind::Control, &serde_json::to_vec(&envelope).unwrap_or_default());
        if let Some((files, _copying)) = opened {
            own_files::send(files, stream, OWN_FILES_TIME);
        }
        // Only now, so that the requesting process can read the answer before the daemon ends.
        if matches!(then, Some(ControlRequest::Stop | ControlRequest::Restart)) {
            let _ = self.signals.send(Signal::End);
        }
        let hands_over = matches!(then, Some(ControlRequest::HandOver));
        Some(if hands_over { Answered::HandsOver } else { Answered::Done })
    }

    /// Opens the guarded user's files for copies, unless too many requests for them are carried out. Programs without a person
    /// never take the room of a person's commands.
    fn open_own_files(&self, peer: Peer<'_>) -> Result<(Vec<(OwnFile, File)>, Copying<'_>), ControlResponse> {
        let busy = "too many commands copy the log at the same time: end one, or try again";
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        let by = match presence::check(peer.pid, peer.started, guarded) {
            Ok(()) => CopiedBy::Person,
            Err(_) => CopiedBy::Program,
        };
        let copying = self.connections.begin_copies(by).ok_or(ControlResponse::Failed(busy.to_owned()))?;
        Ok((own_files::open(&self.layout)?, copying))
    }

    /// Carries out a request. A rejection or failure is an error, and the error is the response.
    fn carry_out(
        &self,
        request: &ControlRequest,
        peer: Peer<'_>,
    ) -> Result<ControlResponse, ControlResponse> {
        self.check_terms(request, peer)?;
        match request {
            ControlRequest::Status => return Ok(ControlResponse::Status(Box::new(self.status(peer)))),
            ControlRequest::Pending => return Ok(ControlResponse::Pending(self.pending())),
            ControlRequest::Granted => return Ok(ControlResponse::Granted(self.granted())),
            ControlRequest::Show { id } => return self.show(id),
            ControlRequest::Sandbox => return self.sandbox(peer).map(Box::new).map(ControlResponse::Sandbox),
            ControlRequest::Plans => return Ok(ControlResponse::Plans(self.plans())),
            ControlRequest::ShowPlan { id } => return self.show_plan(id),
            ControlRequest::ProposePlan { markdown, of } => return self.propose_plan(markdown, of, peer),
            ControlRequest::UsePlan { text, source, of, is_strict } => {
                self.use_plan((text, source), of, *is_strict, peer)?;
            }
            ControlRequest::EndPlan { of } => self.end_plan(of, peer)?,
            ControlRequest::ApprovePlan { id, hash } => self.approve_plan(id, hash, peer)?,
            ControlRequest::Approve { id, shown, scope } => self.approve(id, shown, *scope, peer)?,
            ControlRequest::Refuse { id } => self.refuse(id, peer)?,
            ControlRequest::Halt { of, kill } => {
                return self.halt(of, *kill, peer).map(ControlResponse::Halted);
            }
            ControlRequest::Resume { of } => self.resume(of, peer)?,
            ControlRequest::Pause { seconds } => self.pause(*seconds, peer)?,
            ControlRequest::EndPause => self.end_pause(peer)?,
            ControlRequest::Run { profile, is_sandboxed } => {
                let run = self.start_run(profile.as_deref(), *is_sandboxed, peer);
                return run.map(ControlResponse::Run);
            }
            ControlRequest::Redeem { ticket } => {
                return self.redeem(ticket, peer).map(|run| ControlResponse::Contained(Box::new(run)));
            }
            ControlRequest::ContainedEnd { ticket, end } => {
                return self.end_contained(ticket, end, peer).map(ControlResponse::ContainedOver);
            }
            ControlRequest::Note { kind, text } => self.note_run(*kind, text, peer)?,
            ControlRequest::Checkpoints => return Ok(ControlResponse::Checkpoints(self.checkpoints())),
            ControlRequest::Diff { id } => {
                return self.diff(id, peer).map(Box::new).map(ControlResponse::Diff);
            }
            ControlRequest::Undo { id, shown, is_final } => {
                let undone = self.undo(id, shown, *is_final, peer);
                return undone.map(Box::new).map(ControlResponse::Undone);
            }
            ControlRequest::Keep { id, seen } => return self.keep(id, seen, peer),
            ControlRequest::MarkedFiles { paths } => return self.marked_files(paths),
            ControlRequest::OwnFiles => return own_files::open(&self.layout).map(|_| ControlResponse::Done),
            ControlRequest::KeepFiles { paths, shown } => return self.keep_files(paths, shown, peer),
            ControlRequest::SetPin { new } => self.set_pin(new, peer)?,
            ControlRequest::Trusted => return Ok(ControlResponse::Trusted(self.judge.decided_workspaces())),
            ControlRequest::Trust { workspace, trust: decision, project } => {
                self.trust(workspace, decision, project.as_deref(), peer)?;
            }
            ControlRequest::Mode(mode) => self.change_mode(mode, peer)?,
            ControlRequest::Switch { key, word } => self.switch_one(key, &KeyEdit::word(word), None, peer)?,
            ControlRequest::Edit { key, edit, shown } => self.switch_one(key, edit, Some(shown), peer)?,
            ControlRequest::Edits { edits, shown } => self.switch(edits, Some(shown), peer)?,
            ControlRequest::EndTrial => self.end_trial(peer)?,
            ControlRequest::Apply { hash } => self.apply(hash, peer)?,
            ControlRequest::Stop => self.stop(peer)?,
            ControlRequest::Restart => {
                self.check_presence("restart", "", peer)?;
                self.conclude("restart", "", peer, Ok(()))?;
            }
            ControlRequest::HandOver => self.permit_handover(peer)?,
            ControlRequest::Loosen(action) => {
                self.check_presence("loosen", action, peer)?;
                self.conclude("loosen", action, peer, Ok(()))?;
            }
        }
        Ok(ControlResponse::Done)
    }

    /// Checks the terms of a daemon that has a user of its own. Records a rejection.
    fn check_terms(&self, request: &ControlRequest, peer: Peer<'_>) -> Result<(), ControlResponse> {
        if !sight::is_through_reader() {
            return Ok(());
        }
        if peer.uid != sight::user() && !peer.is_administrator {
            let why = "castellan's daemon has started this program, or it has lost the program that started it: only \
                       root's own commands administer castellan";
            return Err(self.refused("administer", "", peer, why.to_owned()));
        }
        match system::terms(request) {
            system::Terms::Root(word) if !peer.is_administrator => {
                let why = "castellan is installed for the system, so only root does this";
                Err(self.refused(word, "", peer, why.to_owned()))
            }
            system::Terms::Off(why) => Err(ControlResponse::Failed(format!("this is off: {why}"))),
            system::Terms::Same | system::Terms::Root(_) => Ok(()),
        }
    }

    /// Writes the mark of a deliberate stop, after a user presence check.
    fn stop(&self, peer: Peer<'_>) -> Result<(), ControlResponse> {
        self.check_presence("stop", "", peer)?;
        let marker = self.layout.home().stopped_marker();
        let marked = write_private(&marker, b"").map_err(|error| format!("`{}`: {error}", marker.display()));
        self.conclude("stop", "", peer, marked)
    }

    /// Applies files after a user presence check, whatever they contain: only a person can judge what they loosen.
    fn apply(&self, hash: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let files = format!("files {}", alphanumeric_start(hash));
        self.check_presence("apply", &files, peer)?;
        let next = match self.policy.presence_on_disk(hash) {
            Ok(next) => next,
            Err(why) => return self.conclude("apply", &files, peer, Err(why)),
        };
        self.check_next_presence("apply", &files, peer, next)?;
        let applied = self.policy.apply(&self.judge, hash, (peer.pid, peer.uid));
        applied.or_else(|why| self.conclude("apply", &files, peer, Err(why)))
    }

    /// Prevents a lockout: before `password` takes effect, it must be checkable, and the person must know it.
    fn check_next_presence(
        &self,
        action: &str,
        argument: &str,
        peer: Peer<'_>,
        next: Presence,
    ) -> Result<(), ControlResponse> {
        let now = self.judge.terms().policy.settings().presence;
        if next == Presence::Password && now != next {
            return self.check_password(action, argument, peer);
        }
        Ok(())
    }

    fn change_mode(&self, word: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let mode: Mode =
            word.parse().map_err(|error: UnknownWord| ControlResponse::Failed(error.to_string()))?;
        // Serialized: a mode that is not milder needs no person, and must still not be milder when it is set.
        let _changing = self.mode_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.judge.terms().mode;
        if mode < before {
            self.check_presence("mode", word, peer)?;
            self.policy.loosen_mode(&self.judge, mode, |kept| self.conclude("mode", word, peer, kept))
        } else {
            self.conclude("mode", word, peer, self.policy.tighten_mode(&self.judge, mode))
        }
    }

    /// Checks user presence, for every request that loosens anything. Records a rejection.
    fn check_presence(&self, action: &str, argument: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        self.check_terminal(action, argument, peer)?;
        if peer.is_administrator {
            return Ok(());
        }
        match self.judge.terms().policy.settings().presence {
            Presence::Terminal => Ok(()),
            Presence::Pin => self.check_pin(action, argument, peer),
            Presence::Password => self.check_password(action, argument, peer),
        }
    }

    /// Checks the origin of the request, the first half of the user presence check.
    fn check_terminal(&self, action: &str, argument: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        if peer.is_administrator {
            return Ok(());
        }
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        presence::check(peer.pid, peer.started, guarded)
            .map_err(|refusal| self.refused(action, argument, peer, refusal.to_string()))
    }

    /// Checks the PIN, the second half of the user presence check.
    fn check_pin(&self, action: &str, argument: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        // A missing PIN is no wrong PIN: nothing is recorded.
        let pin = peer.known.pin.as_deref().ok_or(ControlResponse::PinNeeded);
        let pin = if self.secrets.has_pin() { pin? } else { "" };
        let checked = self.secrets.check_pin(pin, wall());
        checked.map_err(|error| self.refused(action, argument, peer, error.to_string()))
    }

    /// Checks the account's password. An account without a checkable one is rejected before the client asks for it.
    fn check_password(&self, action: &str, argument: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let refused = |error: SecretError| self.refused(action, argument, peer, error.to_string());
        let account = Account::own(PASSWORD_TIME)
            .map_err(|why| refused(SecretError::Unchecked(Secret::Password, why)))?;
        let password = peer.known.password.as_deref().ok_or(ControlResponse::PasswordNeeded)?;
        self.secrets.check_password(&account, password, wall()).map_err(refused)
    }

    fn refused(&self, action: &str, argument: &str, peer: Peer<'_>, why: String) -> ControlResponse {
        self.judge.tally().refused(&format!("{action} {argument}: {why} (process {})", peer.pid));
        let _ = self.judge.append(&record::control(action, argument, Some(&why), "", (peer.pid, peer.uid)));
        ControlResponse::Refused(why)
    }

    /// Sets the PIN. The first PIN needs a person at a terminal, a change also needs the old PIN. The administrator needs
    /// neither, because a person who has forgotten the PIN has nobody else to ask.
    fn set_pin(&self, new: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        self.check_terminal("set_pin", "", peer)?;
        if self.secrets.has_pin() && !peer.is_administrator {
            self.check_pin("set_pin", "", peer)?;
        }
        // Recorded first, so that a PIN set by another person is visible. A failure is recorded in addition.
        self.conclude("set_pin", "", peer, Secrets::check_new(new))?;
        self.secrets.set_pin(new).or_else(|why| self.conclude("set_pin", "", peer, Err(why)))
    }

    /// Records the result and the files in force: a failed change may be partly done. Without a record it has failed.
    fn conclude(
        &self,
        action: &str,
        argument: &str,
        peer: Peer<'_>,
        outcome: Result<(), String>,
    ) -> Result<(), ControlResponse> {
        let why = outcome.as_ref().err().map(String::as_str);
        let record = record::control(action, argument, why, &self.policy.files(), (peer.pid, peer.uid));
        self.concluded(&record, outcome)
    }

    fn concluded(&self, record: &Record, outcome: Result<(), String>) -> Result<(), ControlResponse> {
        let recorded =
            self.judge.append(record).map_err(|error| format!("it could not be recorded: {error}"));
        outcome.and(recorded).map_err(ControlResponse::Failed)
    }

    fn status(&self, peer: Peer<'_>) -> StatusReport {
        let judge = &self.judge;
        let terms = judge.terms();
        let log = judge.log().status();
        let Report { origin, problems, applied, reload, pending, awaits_organisation } = self.policy.report();
        let (failures, last_failure) = judge.tally().failures();
        let (refused, last_refused) = judge.tally().refusals();
        let (ungoverned, last_ungoverned) = judge.tally().ungoverned_calls();
        let (unknown_tools, last_unknown_tool) = judge.tally().unknown_tools();
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        StatusReport {
            unknown_tools,
            last_unknown_tool,
            within_agent: presence::is_within_agent(peer.pid, guarded),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sockets: if self.is_managed { SocketsOf::Manager } else { SocketsOf::Daemon },
            mode: terms.mode.as_str().to_owned(),
            since_s: judge.since().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs(),
            profile: terms.policy.settings().profile.to_string(),
            requires_sandbox: terms.policy.settings().sandbox.mode == SandboxMode::Require,
            engine: self.policy.engine_status(terms.policy.settings().engine.kind),
            policy: terms.policy.hash().to_owned(),
            policy_origin: origin.as_str().to_owned(),
            awaits_organisation,
            problems,
            applied,
            reload: reload.as_str().to_owned(),
            pending,
            on_trial: self.policy.trial().rules.len(),
            rules: terms.policy.rules().filter(|rule| rule.rule.enabled).count(),
            sessions: judge.sessions(),
            grants: judge.grants(),
            workspaces: judge.decided_workspaces().len(),
            uptime_s: self.started.elapsed().as_secs(),
            verdicts: judge.tally().verdicts(),
            recent: judge.recent().calls(),
            failures,
            last_failure,
            refused,
            last_refused,
            waiting: judge.waiting().len(),
            ungoverned,
            last_ungoverned,
            unguarded: unguarded(&own_paths(&self.layout), guarded),
            trusted_hooks: terms.policy.settings().ungoverned.trusted_hooks.clone(),
            halts: self.halts(),
            pause: judge.pause_now().map(|(age_s, left_s)| PauseStatus { age_s, left_s }),
            runs: self.runs(),
            undo: judge.undo().status(terms.policy.settings().undo),
            log: self.layout.log().display().to_string(),
            log_last_seq: log.last_seq,
            log_limit_reached: log.limit_reached,
            outside: judge.outside(),
            system: system::status(),
        }
    }
}

/// Returns the first letters and digits of a client's text, which should be a hash or an id.
fn alphanumeric_start(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).take(HASH_CHARS).collect()
}

/// Parses a request, or returns the reason why it is none.
fn read_request(frame: &Frame) -> Result<(ControlRequest, Known), String> {
    let unreadable = |error: serde_json::Error| format!("the request cannot be read: {error}");
    match frame.kind {
        Kind::Control => {}
        Kind::Request | Kind::Reply | Kind::Hold => return Err("not a control request".to_owned()),
    }
    let envelope: Envelope<serde_json::Value> = serde_json::from_slice(&frame.body).map_err(unreadable)?;
    if !is_readable(envelope.version) {
        let (theirs, ours) = (envelope.version, CONTROL_VERSION);
        return Err(format!(
            "castellan speaks control version {theirs}, the daemon {ours}: install both from one version"
        ));
    }
    Ok((serde_json::from_value(envelope.body).map_err(unreadable)?, envelope.known))
}

#[cfg(test)]
mod tests;
