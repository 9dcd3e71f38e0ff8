//! [`ControlClient`]: asks the daemon over the control socket, and the person for what only they know where the daemon wants it. It
//! must not know what becomes of an answer.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;

use castellan_wire::{CONTROL_BYTES_MAX, Home, Kind, WireError, connect, read_frame, write_frame};
use serde_json::Value as Json;

use super::{
    CONTROL_VERSION, ControlRequest, ControlResponse, DecidedWorkspace, Envelope, GrantScope, GrantedCall,
    Known, PendingCall, Secret, ShownCall, StatusReport, WorkspaceStanding, listener,
};
use crate::limits::CONTROL_ANSWER_TIME;

/// Why a control request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nobody listens.
    #[error("the daemon is not running: start it with `castellan start`")]
    NotRunning,
    /// It has taken the request, and no answer came in these seconds.
    #[error(
        "the daemon has not answered within {0} s, and may still do what was asked: look at `castellan status` and \
             `castellan log`"
    )]
    NoAnswer(u64),
    /// What listens need not be castellan's daemon: why.
    #[error(
        "{0}: you are not asked for your PIN or password. End that process, or use the `castellan` that it is of"
    )]
    Listener(String),
    /// The connection broke.
    #[error("the daemon could not be asked")]
    Wire(#[from] WireError),
    /// The answer is none.
    #[error(
        "the daemon's answer cannot be read: is it of another version? restart it with `castellan restart`"
    )]
    Answer(#[from] serde_json::Error),
    /// The daemon is of another version.
    #[error(
        "the daemon speaks control version {0}, this castellan {CONTROL_VERSION}: end the daemon (SIGTERM) and run \
             `castellan start`"
    )]
    Version(u32),
    /// Not allowed.
    #[error("{0}")]
    Refused(String),
    /// Allowed, and it did not work.
    #[error("{0}")]
    Failed(String),
}

/// Asks the person at the terminal for what only they know.
pub type AskSecret = fn(Secret) -> std::io::Result<String>;

/// Talks to the daemon of one home.
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

    /// The same, for a person who can be asked for what only they know, where the daemon wants it.
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

    /// Changes the mode.
    pub fn set_mode(&self, mode: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Mode(mode.to_owned()))
    }

    /// Changes one word of the configuration in force.
    pub fn switch(&self, key: &str, word: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Switch { key: key.to_owned(), word: word.to_owned() })
    }

    /// Puts all rules in force that are only observed yet because an upgrade has brought them.
    pub fn end_trial(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::EndTrial)
    }

    /// Puts the files with this hash in force.
    pub fn apply(&self, hash: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Apply { hash: hash.to_owned() })
    }

    /// Asks which calls wait for a person.
    pub fn pending(&self) -> Result<Vec<PendingCall>, ControlError> {
        let response = self.ask(&ControlRequest::Pending)?;
        let ControlResponse::Pending(calls) = response else { return Err(no("calls")) };
        Ok(calls)
    }

    /// Asks what is granted.
    pub fn granted(&self) -> Result<Vec<GrantedCall>, ControlError> {
        let response = self.ask(&ControlRequest::Granted)?;
        let ControlResponse::Granted(calls) = response else { return Err(no("calls")) };
        Ok(calls)
    }

    /// Asks for all of a call that waits.
    pub fn show(&self, id: &str) -> Result<ShownCall, ControlError> {
        let response = self.ask(&ControlRequest::Show { id: id.to_owned() })?;
        let ControlResponse::Shown(call) = response else { return Err(no("call")) };
        Ok(*call)
    }

    /// Lets the call happen that was `shown`.
    pub fn approve(&self, id: &str, shown: &str, scope: GrantScope) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Approve { id: id.to_owned(), shown: shown.to_owned(), scope })
    }

    /// Does not let a call happen.
    pub fn refuse(&self, id: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Refuse { id: id.to_owned() })
    }

    /// Asks what was decided about workspaces.
    pub fn trusted(&self) -> Result<Vec<DecidedWorkspace>, ControlError> {
        let response = self.ask(&ControlRequest::Trusted)?;
        let ControlResponse::Trusted(workspaces) = response else { return Err(no("workspaces")) };
        Ok(workspaces)
    }

    /// Decides about the workspace at this real path. `project`: hash of its own files as the person saw them.
    pub fn trust(
        &self,
        workspace: &str,
        standing: WorkspaceStanding,
        project: Option<String>,
    ) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Trust { workspace: workspace.to_owned(), standing, project })
    }

    /// Checks that castellan's daemon listens, before a person is asked for what only they are to know.
    pub fn check_listener(&self) -> Result<(), ControlError> {
        listener::check(&self.connect()?).map_err(ControlError::Listener)
    }

    /// Sets the PIN.
    pub fn set_pin(&self, new: String) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::SetPin { new })
    }

    /// Stops the daemon for good.
    pub fn stop(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Stop)
    }

    /// Ends the daemon; the next hook starts it again.
    pub fn restart(&self) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Restart)
    }

    /// Asks whether this process may loosen something.
    pub fn loosen(&self, action: &str) -> Result<(), ControlError> {
        self.carry_out(&ControlRequest::Loosen(action.to_owned()))
    }

    fn carry_out(&self, request: &ControlRequest) -> Result<(), ControlError> {
        self.ask(request).map(drop)
    }

    /// What is answered; what is refused or fails is an error.
    fn ask(&self, request: &ControlRequest) -> Result<ControlResponse, ControlError> {
        let mut known = Known::default();
        let mut response = self.exchange(request, &known)?;
        // Each is asked for once.
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
            response = self.exchange(request, &known)?;
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
            | ControlResponse::Trusted(_)) => Ok(done),
        }
    }

    fn connect(&self) -> Result<UnixStream, ControlError> {
        let stream = connect(&self.home.control_socket()).map_err(|_| ControlError::NotRunning)?;
        let timed = stream.set_read_timeout(Some(CONTROL_ANSWER_TIME));
        let timed = timed.and_then(|()| stream.set_write_timeout(Some(CONTROL_ANSWER_TIME)));
        timed.map_err(|error| ControlError::Wire(WireError::Io(error)))?;
        Ok(stream)
    }

    fn exchange(&self, request: &ControlRequest, known: &Known) -> Result<ControlResponse, ControlError> {
        let mut stream = self.connect()?;
        // It may be somebody else by now.
        if known.is_some() || matches!(request, ControlRequest::SetPin { .. }) {
            listener::check(&stream).map_err(ControlError::Listener)?;
        }
        let body =
            serde_json::to_vec(&Envelope { version: CONTROL_VERSION, body: request, known: known.clone() })?;
        write_frame(&mut stream, Kind::Control, &body)?;
        let frame = read_frame(&mut stream, CONTROL_BYTES_MAX).map_err(unanswered)?;
        let envelope: Envelope<Json> = match frame.kind {
            Kind::Control => serde_json::from_slice(&frame.body)?,
            Kind::Request | Kind::Reply | Kind::Hold => return Err(ControlError::Wire(WireError::Body)),
        };
        if envelope.version != CONTROL_VERSION {
            return Err(ControlError::Version(envelope.version));
        }
        Ok(serde_json::from_value(envelope.body)?)
    }
}

/// A request that is not answered in time may still be carried out.
fn unanswered(error: WireError) -> ControlError {
    let is_late = |error: &WireError| matches!(error, WireError::Io(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    if is_late(&error) {
        return ControlError::NoAnswer(CONTROL_ANSWER_TIME.as_secs());
    }
    ControlError::Wire(error)
}

/// The daemon has answered something else.
fn no(wanted: &str) -> ControlError {
    ControlError::Failed(format!("the daemon sent no {wanted}"))
}
