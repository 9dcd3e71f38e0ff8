//! [`ControlClient`]: sends requests to the daemon over the control socket. If the daemon needs a secret, the client
//! asks the person for it. The client must not know the use of a response.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use castellan_wire::{CONTROL_BYTES_MAX, Home, Kind, WireError, connect, read_frame, write_frame};
use serde_json::Value as Json;

use super::{
    CONTROL_VERSION, ContainedEnd, ContainedOutcome, ContainedRun, ControlRequest, ControlResponse,
    DecidedWorkspace, Envelope, GrantScope, GrantedCall, HaltOf, HaltReport, KeepReport, Known,
    ListedCheckpoint, ListedPlan, MarkedFiles, OwnFile, PendingCall, PlanFor, RunInForce, RunNote,
    SandboxInForce, Secret, ShownCall, ShownCheckpoint, ShownPlan, StatusReport, TrustDecision, UndoReport,
    is_readable, listener,
};
use crate::config::KeyEdit;
use crate::limits::{CONTROL_ANSWER_TIME, ENGINE_VALIDATION_TIME};

/// The reason why a control request failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No process listens.
    #[error("the daemon is not running: start it with `castellan start`")]
    NotRunning,
    /// A process listens, but no answer came within this time.
    #[error(
        "the daemon has not answered within {} s and may still carry out the request: see `castellan status` and \
             `castellan log`",
        .0.as_secs_f32()
    )]
    NoAnswer(Duration),
    /// The listening process may not be castellan's daemon, with the reason.
    #[error(
        "{0}, so you are not asked for your PIN or password: end that process, or use its own `castellan`"
    )]
    Listener(String),
    /// The connection broke.
    #[error("the connection to the daemon failed (`castellan doctor` checks the daemon)")]
    Wire(#[from] WireError),
    /// The answer cannot be parsed.
    #[error(
        "the daemon's answer cannot be read, perhaps because it is of another version: run `castellan restart`"
    )]
    Answer(#[from] serde_json::Error),
    /// The daemon is of another version.
    #[error(
        "the daemon speaks control version {0}, this castellan {CONTROL_VERSION}: end the daemon (SIGTERM) and run \
             `castellan start`"
    )]
    Version(u32),
    /// The daemon rejected the request.
    #[error("{0}")]
    Refused(String),
    /// The request was permitted, but failed.
    #[error("{0}")]
    Failed(String),
}

/// Asks the person at the terminal for a secret.
pub type AskSecret = fn(Secret) -> std::io::Result<String>;

/// A client for the daemon of a home.
#[derive(Debug, Clone)]
pub struct ControlClient {
    home: Home,
    ask_secret: Option<AskSecret>,
}

impl ControlClient {
    /// Returns a client for the daemon of `home`.
    pub fn new(home: Home) -> ControlClient {
        ControlClient { home, ask_secret: None }
    }

    /// Returns a client that can ask the person for a secret if the daemon needs it.
    pub fn with_person(home: Home, ask_secret: AskSecret) -> ControlClient {
        ControlClient { home, ask_secret: Some(ask_secret) }
    }

    /// Reports whether a daemon listens.
    pub fn is_running(&self) -> bool {
        connect(&self.home.control_socket()).is_ok()
    }

    /// Asks for the status.
    pub fn status(&self) -> Result<StatusReport, ControlError> {
        let response = self.ask(&ControlRequest::Status)?;
        let ControlResponse::Status(report) = response else { return Err(no("status")) };
        Ok(*report)
    }

    /// Asks for the status, and returns [`ControlError::NoAnswer`] after `time`. A daemon that hangs may accept no connection,
    /// or send its answer byte by byte, so another thread asks. That thread ends with this process.
    pub fn status_within(&self, time: Duration) -> Result<StatusReport, ControlError> {
        let (sender, receiver) = channel();
        let client = self.clone();
        let asking = std::thread::Builder::new().name("status".into()).spawn(move || {
            let _ = sender.send(client.status());
        });
        asking.map_err(|error| ControlError::Wire(WireError::Io(error)))?;
        match receiver.recv_timeout(time) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(ControlError::NoAnswer(time))
            }
        }
    }

    /// Changes the mode.
    pub fn set_mode(&self, mode: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Mode(mode.to_owned()))
    }

    /// Changes a word of the configuration in force.
    pub fn switch(&self, key: &str, word: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Switch { key: key.to_owned(), word: word.to_owned() })
    }

    /// Changes a key of the configuration in force, if that is the set with the hash `shown`.
    pub fn edit(&self, key: &str, edit: KeyEdit, shown: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Edit { key: key.to_owned(), edit, shown: shown.to_owned() })
    }

    /// Changes keys of the configuration in force together, if that is the set with the hash `shown`.
    pub fn edits(&self, edits: Vec<(String, KeyEdit)>, shown: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Edits { edits, shown: shown.to_owned() })
    }

    /// Enforces all rules that are only observed so far because an upgrade has added them.
    pub fn end_trial(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::EndTrial)
    }

    /// Puts the files with this hash in force.
    pub fn apply(&self, hash: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Apply { hash: hash.to_owned() })
    }

    /// Returns the pending calls.
    pub fn pending(&self) -> Result<Vec<PendingCall>, ControlError> {
        let response = self.ask(&ControlRequest::Pending)?;
        let ControlResponse::Pending(calls) = response else { return Err(no("calls")) };
        Ok(calls)
    }

    /// Returns the grants.
    pub fn granted(&self) -> Result<Vec<GrantedCall>, ControlError> {
        let response = self.ask(&ControlRequest::Granted)?;
        let ControlResponse::Granted(calls) = response else { return Err(no("calls")) };
        Ok(calls)
    }

    /// Returns the details of a pending call.
    pub fn show(&self, id: &str) -> Result<ShownCall, ControlError> {
        let response = self.ask(&ControlRequest::Show { id: id.to_owned() })?;
        let ControlResponse::Shown(call) = response else { return Err(no("call")) };
        Ok(*call)
    }

    /// Grants the call that was `shown`.
    pub fn approve(&self, id: &str, shown: &str, scope: GrantScope) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Approve { id: id.to_owned(), shown: shown.to_owned(), scope })
    }

    /// Refuses a call.
    pub fn refuse(&self, id: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Refuse { id: id.to_owned() })
    }

    /// Returns the decisions about workspaces.
    pub fn trusted(&self) -> Result<Vec<DecidedWorkspace>, ControlError> {
        let response = self.ask(&ControlRequest::Trusted)?;
        let ControlResponse::Trusted(workspaces) = response else { return Err(no("workspaces")) };
        Ok(workspaces)
    }

    /// Decides about the workspace at this real path. `project` is the hash of its own files as the person saw them.
    pub fn trust(
        &self,
        workspace: &str,
        decision: TrustDecision,
        project: Option<String>,
    ) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Trust { workspace: workspace.to_owned(), trust: decision, project })
    }

    /// Puts a copy of a plan in force.
    pub fn use_plan(
        &self,
        text: String,
        source: String,
        of: PlanFor,
        is_strict: bool,
    ) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::UsePlan { text, source, of, is_strict })
    }

    /// Ends a plan.
    pub fn end_plan(&self, of: PlanFor) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::EndPlan { of })
    }

    /// Compiles Markdown to a proposed plan.
    pub fn propose_plan(&self, markdown: String, of: PlanFor) -> Result<ShownPlan, ControlError> {
        self.plan(&ControlRequest::ProposePlan { markdown, of })
    }

    /// Returns a proposed plan.
    pub fn show_plan(&self, id: &str) -> Result<ShownPlan, ControlError> {
        self.plan(&ControlRequest::ShowPlan { id: id.to_owned() })
    }

    /// Puts the proposed plan with this hash in force.
    pub fn approve_plan(&self, id: &str, hash: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::ApprovePlan { id: id.to_owned(), hash: hash.to_owned() })
    }

    /// Returns the plans in force, then the proposed ones.
    pub fn plans(&self) -> Result<Vec<ListedPlan>, ControlError> {
        let response = self.ask(&ControlRequest::Plans)?;
        let ControlResponse::Plans(plans) = response else { return Err(no("plans")) };
        Ok(plans)
    }

    fn plan(&self, request: &ControlRequest) -> Result<ShownPlan, ControlError> {
        let ControlResponse::Plan(plan) = self.ask(request)? else { return Err(no("plan")) };
        Ok(*plan)
    }

    /// Denies every further call of these agents; with `kill` also ends their processes. The halt is in force when this
    /// returns, and also after an error that says so.
    pub fn halt(&self, of: HaltOf, kill: bool) -> Result<HaltReport, ControlError> {
        let response = self.ask(&ControlRequest::Halt { of, kill })?;
        let ControlResponse::Halted(report) = response else { return Err(no("report")) };
        Ok(report)
    }

    /// Ends a halt; that of all agents ends every halt.
    pub fn resume(&self, of: HaltOf) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Resume { of })
    }

    /// Records calls and leaves them to the agents, for a number of seconds. An error if no person permits it.
    pub fn pause(&self, seconds: u64) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Pause { seconds })
    }

    /// Ends a pause. An error if there is none.
    pub fn end_pause(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::EndPause)
    }

    /// Registers this process as a run: its profile holds for every agent below it until all of them have ended. `None`:
    /// the configured profile. Returns the profile that holds. An error if the daemon is not running, and for a milder
    /// profile if no person permits it: then nothing is registered.
    pub fn start_run(&self, profile: Option<&str>, is_sandboxed: bool) -> Result<RunInForce, ControlError> {
        let profile = profile.map(str::to_owned);
        let response = self.ask(&ControlRequest::Run { profile, is_sandboxed })?;
        let ControlResponse::Run(run) = response else { return Err(no("run")) };
        Ok(run)
    }

    /// Returns the settings of sandboxes that hold for this process.
    pub fn sandbox(&self) -> Result<SandboxInForce, ControlError> {
        let ControlResponse::Sandbox(settings) = self.ask(&ControlRequest::Sandbox)? else {
            return Err(no("settings of sandboxes"));
        };
        Ok(*settings)
    }

    /// Uses up a ticket. An error if it is not valid for this process: then nothing may run.
    pub fn redeem(&self, ticket: &str) -> Result<ContainedRun, ControlError> {
        let response = self.ask(&ControlRequest::Redeem { ticket: ticket.to_owned() })?;
        let ControlResponse::Contained(run) = response else { return Err(no("command")) };
        Ok(*run)
    }

    /// Reports the end of the command of a ticket that this process has redeemed.
    pub fn end_contained(&self, ticket: &str, end: ContainedEnd) -> Result<ContainedOutcome, ControlError> {
        let response = self.ask(&ControlRequest::ContainedEnd { ticket: ticket.to_owned(), end })?;
        let ControlResponse::ContainedOver(outcome) = response else { return Err(no("outcome")) };
        Ok(outcome)
    }

    /// Records what this process saw of the agent in its run. An error unless this process registered the run.
    pub fn note_run(&self, kind: RunNote, text: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Note { kind, text: text.to_owned() })
    }

    /// Returns the checkpoints, the oldest first.
    pub fn checkpoints(&self) -> Result<Vec<ListedCheckpoint>, ControlError> {
        let response = self.ask(&ControlRequest::Checkpoints)?;
        let ControlResponse::Checkpoints(checkpoints) = response else { return Err(no("checkpoints")) };
        Ok(checkpoints)
    }

    /// Returns the differences to a checkpoint.
    pub fn diff(&self, id: &str) -> Result<ShownCheckpoint, ControlError> {
        let response = self.ask(&ControlRequest::Diff { id: id.to_owned() })?;
        let ControlResponse::Diff(shown) = response else { return Err(no("differences")) };
        Ok(*shown)
    }

    /// Puts a checkpoint back, if its differences are those with the hash `shown`.
    pub fn undo(&self, id: &str, shown: &str, is_final: bool) -> Result<UndoReport, ControlError> {
        let request = ControlRequest::Undo { id: id.to_owned(), shown: shown.to_owned(), is_final };
        let ControlResponse::Undone(report) = self.ask(&request)? else { return Err(no("report")) };
        Ok(*report)
    }

    /// Keeps the changes of a call, and removes its checkpoint. `seen`: [`ShownDifference::seen`] of those that a person has
    /// seen.
    ///
    /// [`ShownDifference::seen`]: super::ShownDifference::seen
    pub fn keep(&self, id: &str, seen: Vec<String>) -> Result<KeepReport, ControlError> {
        let request = ControlRequest::Keep { id: id.to_owned(), seen };
        let ControlResponse::Kept(report) = self.ask(&request)? else { return Err(no("report")) };
        Ok(*report)
    }

    /// Returns the files of contained calls at or below paths: absolute, symlinks resolved.
    pub fn marked_files(&self, paths: Vec<String>) -> Result<MarkedFiles, ControlError> {
        let response = self.ask(&ControlRequest::MarkedFiles { paths })?;
        let ControlResponse::Marked(marked) = response else { return Err(no("files")) };
        Ok(*marked)
    }

    /// Settles these files, if their states are those with the hash `shown`.
    pub fn keep_files(&self, paths: Vec<String>, shown: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::KeepFiles { paths, shown: shown.to_owned() })
    }

    /// Copies the guarded user's log, configuration and rules: calls `copy` with each file and its bytes.
    pub fn copy_own_files(
        &self,
        mut copy: impl FnMut(&OwnFile, &mut dyn Read) -> std::io::Result<()>,
    ) -> Result<(), ControlError> {
        let (response, mut stream) = self.ask_on(&ControlRequest::OwnFiles)?;
        let ControlResponse::OwnFiles(files) = response else { return Err(no("files")) };
        for file in files {
            let mut bytes = (&mut stream).take(file.bytes);
            let copied = copy(&file, &mut bytes);
            copied.map_err(|error| ControlError::Wire(WireError::Io(error)))?;
            if bytes.limit() > 0 {
                return Err(ControlError::Wire(WireError::Closed));
            }
        }
        Ok(())
    }

    /// Checks that castellan's daemon listens, before a person is asked for a secret.
    pub fn check_listener(&self) -> Result<(), ControlError> {
        listener::check_for(&self.connect(CONTROL_ANSWER_TIME)?, &self.home).map_err(ControlError::Listener)
    }

    /// Sets the PIN.
    pub fn set_pin(&self, new: String) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::SetPin { new })
    }

    /// Stops the daemon until `castellan start`.
    pub fn stop(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Stop)
    }

    /// Ends the daemon; the next hook starts it again.
    pub fn restart(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Restart)
    }

    /// Lets the daemon that this process starts next take over. Returns the connection for it, and the process that listens is
    /// castellan's.
    pub fn hand_over(&self) -> Result<UnixStream, ControlError> {
        let (_, stream) = self.ask_on(&ControlRequest::HandOver)?;
        listener::check(&stream).map_err(ControlError::Listener)?;
        Ok(stream)
    }

    /// Asks for permission to loosen something outside of the daemon.
    pub fn loosen(&self, action: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Loosen(action.to_owned()))
    }

    fn carry_out(&self, request: &ControlRequest) -> Result<(), ControlError> {
        self.ask(request).map(drop)
    }

    /// Returns the response; a rejection or failure becomes an error.
    fn ask(&self, request: &ControlRequest) -> Result<ControlResponse, ControlError> {
        self.ask_on(request).map(|(response, _)| response)
    }

    /// Returns the response with its connection.
    fn ask_on(&self, request: &ControlRequest) -> Result<(ControlResponse, UnixStream), ControlError> {
        let mut known = Known::default();
        let (mut response, mut stream) = self.exchange(request, &known)?;
        // The client asks for each secret once.
        for _ in [Secret::Pin, Secret::Password] {
            let (secret, given) = if response == ControlResponse::PinNeeded {
                (Secret::Pin, &mut known.pin)
            } else if response == ControlResponse::PasswordNeeded {
                (Secret::Password, &mut known.password)
            } else {
                break;
            };
            let Some(ask) = self.ask_secret.filter(|_| request.may_loosen()) else { break };
            self.check_listener()?;
            *given = Some(ask(secret).map_err(|error| ControlError::Wire(WireError::Io(error)))?);
            (response, stream) = self.exchange(request, &known)?;
        }
        match response {
            ControlResponse::Refused(why) => Err(ControlError::Refused(why)),
            ControlResponse::PinNeeded => Err(ControlError::Refused("this needs your PIN".to_owned())),
            ControlResponse::PasswordNeeded => {
                Err(ControlError::Refused("this needs your password".to_owned()))
            }
            ControlResponse::Failed(why) => Err(ControlError::Failed(why)),
            done @ (ControlResponse::Done
            | ControlResponse::Status(_)
            | ControlResponse::Pending(_)
            | ControlResponse::Granted(_)
            | ControlResponse::Shown(_)
            | ControlResponse::Plan(_)
            | ControlResponse::Plans(_)
            | ControlResponse::Run(_)
            | ControlResponse::Sandbox(_)
            | ControlResponse::Contained(_)
            | ControlResponse::ContainedOver(_)
            | ControlResponse::Halted(_)
            | ControlResponse::Checkpoints(_)
            | ControlResponse::Diff(_)
            | ControlResponse::Undone(_)
            | ControlResponse::Kept(_)
            | ControlResponse::Marked(_)
            | ControlResponse::OwnFiles(_)
            | ControlResponse::Trusted(_)) => Ok((done, stream)),
        }
    }

    /// Connects to the daemon, whose answer may take `time`.
    fn connect(&self, time: Duration) -> Result<UnixStream, ControlError> {
        let stream = connect(&self.home.control_socket()).map_err(|_| ControlError::NotRunning)?;
        let timed = stream.set_read_timeout(Some(time));
        let timed = timed.and_then(|()| stream.set_write_timeout(Some(CONTROL_ANSWER_TIME)));
        timed.map_err(|error| ControlError::Wire(WireError::Io(error)))?;
        Ok(stream)
    }

    fn exchange(
        &self,
        request: &ControlRequest,
        known: &Known,
    ) -> Result<(ControlResponse, UnixStream), ControlError> {
        let time = answer_time(request);
        let mut stream = self.connect(time)?;
        // Another process may listen by now.
        if known.is_some() || matches!(request, ControlRequest::SetPin { .. }) {
            listener::check_for(&stream, &self.home).map_err(ControlError::Listener)?;
        }
        let body = serde_json::to_vec(&Envelope {
            version: request.version(),
            body: request,
            known: known.clone(),
        })?;
        write_frame(&mut stream, Kind::Control, &body)?;
        let frame = read_frame(&mut stream, CONTROL_BYTES_MAX).map_err(|error| unanswered(error, time))?;
        let envelope: Envelope<Json> = match frame.kind {
            Kind::Control => serde_json::from_slice(&frame.body)?,
            Kind::Request | Kind::Reply | Kind::Hold => return Err(ControlError::Wire(WireError::Body)),
        };
        if !is_readable(envelope.version) {
            return Err(ControlError::Version(envelope.version));
        }
        Ok((serde_json::from_value(envelope.body)?, stream))
    }
}

/// Returns the time that the answer to a request may take. Falco may have to load new rules before they come into force.
fn answer_time(request: &ControlRequest) -> Duration {
    let puts_rules_in_force = matches!(
        request,
        ControlRequest::Apply { .. }
            | ControlRequest::Switch { .. }
            | ControlRequest::Edit { .. }
            | ControlRequest::Edits { .. }
            | ControlRequest::EndTrial
    );
    if puts_rules_in_force { CONTROL_ANSWER_TIME + ENGINE_VALIDATION_TIME } else { CONTROL_ANSWER_TIME }
}

/// Maps a timeout to [`ControlError::NoAnswer`]: the daemon may still carry out the request.
fn unanswered(error: WireError, time: Duration) -> ControlError {
    let is_late = |error: &WireError| matches!(error, WireError::Io(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    if is_late(&error) {
        return ControlError::NoAnswer(time);
    }
    ControlError::Wire(error)
}

/// Returns the error for a response of another kind.
fn no(wanted: &str) -> ControlError {
    ControlError::Failed(format!("the daemon sent no {wanted}"))
}
