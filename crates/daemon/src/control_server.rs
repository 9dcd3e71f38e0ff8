//! The control socket: everything that changes anything goes over it, and what loosens anything passes the one presence
//! check.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

use castellan_event::{Mode, Verdict};
use castellan_wire::{CONTROL_BYTES_MAX, Kind, read_frame, write_frame};

use crate::config;
use crate::control::{CONTROL_VERSION, ControlRequest, ControlResponse, StatusReport, VerdictCounts};
use crate::judge::Judge;
use crate::layout::Layout;
use crate::limits::{CONTROL_CONNECTIONS_MAX, FRAME_TIME};
use crate::policy_state::PolicyState;
use crate::presence;
use crate::record;
use crate::run::Signal;

/// Serves the control socket.
#[derive(Debug)]
pub(crate) struct ControlServer {
    pub(crate) layout: Layout,
    pub(crate) judge: Arc<Judge>,
    pub(crate) policy: Arc<PolicyState>,
    pub(crate) signals: Sender<Signal>,
    pub(crate) started: Instant,
    pub(crate) connections: AtomicUsize,
}

/// What came of a request.
enum Done {
    Nothing,
    Status(Box<StatusReport>),
    /// The daemon ends after it has answered.
    End,
}

#[derive(Debug, Clone, Copy)]
struct Peer {
    pid: u32,
    uid: u32,
}

impl ControlServer {
    /// Accepts connections until the process ends.
    pub(crate) fn serve(self: &Arc<ControlServer>, listener: &UnixListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            if self.connections.fetch_add(1, Ordering::SeqCst) >= CONTROL_CONNECTIONS_MAX {
                self.connections.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let server = Arc::clone(self);
            let spawned = std::thread::Builder::new().name("control".into()).spawn(move || {
                server.answer(&stream);
                server.connections.fetch_sub(1, Ordering::SeqCst);
            });
            if spawned.is_err() {
                self.connections.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    fn answer(&self, stream: &UnixStream) {
        let Ok(credentials) = rustix::net::sockopt::socket_peercred(stream) else { return };
        let peer = Peer {
            pid: credentials.pid.as_raw_nonzero().get().unsigned_abs(),
            uid: credentials.uid.as_raw(),
        };
        if credentials.uid != rustix::process::geteuid() || stream.set_read_timeout(Some(FRAME_TIME)).is_err()
        {
            return;
        }
        let Ok(frame) = read_frame(&mut &*stream, CONTROL_BYTES_MAX) else { return };
        let outcome = match (frame.kind, serde_json::from_slice::<ControlRequest>(&frame.body)) {
            (Kind::Control, Ok(request)) => self.carry_out(&request, peer),
            (_, Err(error)) => Err(format!("the request cannot be read: {error}")),
            (Kind::Request | Kind::Reply | Kind::Hold, Ok(_)) => Err("not a control request".to_owned()),
        };
        let ends = matches!(outcome, Ok(Done::End));
        let response = match outcome {
            Ok(Done::Status(status)) => response(true, String::new(), Some(*status)),
            Ok(Done::Nothing | Done::End) => response(true, String::new(), None),
            Err(error) => response(false, error, None),
        };
        let _ = stream.set_write_timeout(Some(FRAME_TIME));
        let _ = write_frame(&mut &*stream, Kind::Control, &serde_json::to_vec(&response).unwrap_or_default());
        // Only now: who asked for the end is to read the answer.
        if ends {
            let _ = self.signals.send(Signal::End);
        }
    }

    fn carry_out(&self, request: &ControlRequest, peer: Peer) -> Result<Done, String> {
        match request {
            ControlRequest::Status { .. } => Ok(Done::Status(Box::new(self.status()))),
            ControlRequest::Mode { mode, .. } => {
                let mode: Mode = mode.parse()?;
                self.recorded(
                    "mode",
                    mode.as_str(),
                    peer,
                    mode_strictness(mode) < mode_strictness(self.judge.mode()),
                )?;
                config::write_mode(&self.layout.config_file(), mode).map_err(|error| error.to_string())?;
                self.judge.set_mode(mode);
                Ok(Done::Nothing)
            }
            ControlRequest::Stop { .. } => {
                self.recorded("stop", "", peer, true)?;
                let marker = self.layout.home().stopped_marker();
                std::fs::write(&marker, b"").map_err(|error| format!("`{}`: {error}", marker.display()))?;
                Ok(Done::End)
            }
            ControlRequest::Restart { .. } => {
                self.recorded("restart", "", peer, true)?;
                Ok(Done::End)
            }
            ControlRequest::Loosen { action, .. } => {
                self.recorded("loosen", action, peer, true)?;
                Ok(Done::Nothing)
            }
        }
    }

    /// Checks presence where it is needed, and records the request before it is carried out.
    fn recorded(&self, action: &str, argument: &str, peer: Peer, loosens: bool) -> Result<(), String> {
        let guarded = |pid, started| self.judge.peers().is_guarded(pid, started);
        let checked = if loosens { presence::check(peer.pid, guarded) } else { Ok(()) };
        let refused = checked.err().map(|refusal| refusal.to_string());
        let record = record::control(action, argument, refused.as_deref(), (peer.pid, peer.uid));
        self.judge.append(&record).map_err(|error| format!("the request could not be recorded: {error}"))?;
        refused.map_or(Ok(()), Err)
    }

    fn status(&self) -> StatusReport {
        let judge = &self.judge;
        let policy = judge.policy();
        let log = judge.log().status();
        let (policy_origin, problems) = self.policy.report();
        StatusReport {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: judge.mode().as_str().to_owned(),
            policy: policy.hash().to_owned(),
            policy_origin,
            problems,
            rules: policy.rules().rules().iter().filter(|rule| rule.enabled).count(),
            uptime_s: self.started.elapsed().as_secs(),
            verdicts: VerdictCounts {
                deny: judge.judged(Verdict::Deny),
                ask: judge.judged(Verdict::Ask),
                allow: judge.judged(Verdict::Allow),
                defer: judge.judged(Verdict::Defer),
            },
            failures: judge.failures(),
            last_failure: judge.last_failure(),
            log: self.layout.log().display().to_string(),
            log_last_seq: log.last_seq,
            log_limit_reached: log.limit_reached,
        }
    }
}

fn response(done: bool, error: String, status: Option<StatusReport>) -> ControlResponse {
    ControlResponse { version: CONTROL_VERSION, done, error, status }
}

fn mode_strictness(mode: Mode) -> usize {
    Mode::ALL.iter().position(|m| *m == mode).unwrap_or(0)
}
