//! The control protocol: what `castellan` asks the daemon over the control socket, and the client for it.
//!
//! One frame of JSON each way. Requests that loosen anything pass the presence check in `control_server`.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use castellan_wire::{CONTROL_BYTES_MAX, Home, Kind, WireError, connect, read_frame, write_frame};
use serde::{Deserialize, Serialize};

/// Version of the control protocol.
pub(crate) const CONTROL_VERSION: u32 = 1;

/// The time that `castellan` waits for an answer; a stop waits for calls in flight.
const ANSWER_TIME: Duration = Duration::from_secs(15);

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlRequest {
    /// How the daemon is.
    Status {
        /// Version of the protocol.
        version: u32,
    },
    /// Change the mode. Loosens, unless it tightens.
    Mode {
        /// Version of the protocol.
        version: u32,
        /// `enforce`, `monitor` or `passthrough`.
        mode: String,
    },
    /// Stop, and stay stopped until `castellan start`. Loosens.
    Stop {
        /// Version of the protocol.
        version: u32,
    },
    /// End, so that the next hook starts the daemon of the installed version. Loosens.
    Restart {
        /// Version of the protocol.
        version: u32,
    },
    /// May the requesting process loosen something that the daemon does not do itself, such as an uninstall? Recorded.
    Loosen {
        /// Version of the protocol.
        version: u32,
        /// What it will do, for the record.
        action: String,
    },
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlResponse {
    /// Version of the protocol.
    pub version: u32,
    /// Whether it was done.
    pub done: bool,
    /// Why not, else empty.
    pub error: String,
    /// For [`ControlRequest::Status`].
    pub status: Option<StatusReport>,
}

/// How the daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusReport {
    /// Process id.
    pub pid: u32,
    /// castellan's version.
    pub version: String,
    /// `enforce`, `monitor` or `passthrough`.
    pub mode: String,
    /// Hash of the policy in force.
    pub policy: String,
    /// `current`, `last_good` or `missing`.
    pub policy_origin: String,
    /// Why it is not the current one; problems of configuration and rule files, one line each.
    pub problems: Vec<String>,
    /// Rules in force.
    pub rules: usize,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Calls judged since the start, by verdict.
    pub verdicts: VerdictCounts,
    /// Failures of castellan's own since the start.
    pub failures: u64,
    /// The last of them; empty when there was none.
    pub last_failure: String,
    /// The log's directory.
    pub log: String,
    /// Sequence number of the last record.
    pub log_last_seq: u64,
    /// The notable stream has reached its size limit before its days were over.
    pub log_limit_reached: bool,
}

/// Calls by verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// Denied.
    pub deny: u64,
    /// Asked.
    pub ask: u64,
    /// Allowed.
    pub allow: u64,
    /// Left to the agent.
    pub defer: u64,
}

/// Why a control request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nobody listens.
    #[error("the daemon is not running: start it with `castellan start`")]
    NotRunning,
    /// The connection broke.
    #[error("the daemon could not be asked")]
    Wire(#[from] WireError),
    /// The answer is none.
    #[error(
        "the daemon's answer cannot be read: is it of another version? restart it with `castellan restart`"
    )]
    Answer(#[from] serde_json::Error),
    /// Refused or failed.
    #[error("{0}")]
    Refused(String),
}

/// Talks to the daemon of one home.
#[derive(Debug, Clone)]
pub struct ControlClient {
    home: Home,
}

impl ControlClient {
    /// Returns a client for the daemon of `home`.
    pub fn new(home: Home) -> ControlClient {
        ControlClient { home }
    }

    /// Reports whether a daemon listens.
    pub fn is_running(&self) -> bool {
        connect(&self.home.control_socket()).is_ok()
    }

    /// Asks for the status.
    pub fn status(&self) -> Result<StatusReport, ControlError> {
        let response = self.ask(&ControlRequest::Status { version: CONTROL_VERSION })?;
        response.status.ok_or_else(|| ControlError::Refused("the daemon sent no status".to_owned()))
    }

    /// Changes the mode.
    pub fn set_mode(&self, mode: &str) -> Result<(), ControlError> {
        self.ask(&ControlRequest::Mode { version: CONTROL_VERSION, mode: mode.to_owned() }).map(drop)
    }

    /// Stops the daemon for good.
    pub fn stop(&self) -> Result<(), ControlError> {
        self.ask(&ControlRequest::Stop { version: CONTROL_VERSION }).map(drop)
    }

    /// Ends the daemon; the next hook starts it again.
    pub fn restart(&self) -> Result<(), ControlError> {
        self.ask(&ControlRequest::Restart { version: CONTROL_VERSION }).map(drop)
    }

    /// Asks whether this process may loosen something.
    pub fn loosen(&self, action: &str) -> Result<(), ControlError> {
        self.ask(&ControlRequest::Loosen { version: CONTROL_VERSION, action: action.to_owned() }).map(drop)
    }

    fn ask(&self, request: &ControlRequest) -> Result<ControlResponse, ControlError> {
        let mut stream = connect(&self.home.control_socket()).map_err(|_| ControlError::NotRunning)?;
        let io = |error: io::Error| ControlError::Wire(WireError::Io(error));
        stream.set_read_timeout(Some(ANSWER_TIME)).map_err(io)?;
        write_frame(&mut stream, Kind::Control, &serde_json::to_vec(request)?)?;
        let response = read_response(&mut stream)?;
        if response.done { Ok(response) } else { Err(ControlError::Refused(response.error)) }
    }
}

fn read_response(stream: &mut UnixStream) -> Result<ControlResponse, ControlError> {
    let frame = read_frame(stream, CONTROL_BYTES_MAX)?;
    match frame.kind {
        Kind::Control => Ok(serde_json::from_slice(&frame.body)?),
        Kind::Request | Kind::Reply | Kind::Hold => Err(ControlError::Wire(WireError::Body)),
    }
}
