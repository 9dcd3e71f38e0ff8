//! castellan's own failures: each is a decision too, and is recorded. It must not know how a call is judged.

use std::io;

use castellan_agents::{self as agents, Malformed};
use castellan_audit::AuditError;
use castellan_event::Mode;
use castellan_files::explained;
use castellan_wire::Reply;

use super::{Asked, Judge, reply};
use crate::record;

const TELL: &str = "Tell the user";
const LOG_DISK_FULL: &str = "Tell the user that the disk with castellan's log is full";
const STATE_DISK_FULL: &str = "Tell the user that the disk with castellan's state is full";

/// A failure of castellan itself.
pub(super) struct Failure {
    /// A stable word for the record.
    pub(super) code: &'static str,
    /// The reason for the agent.
    pub(super) what: &'static str,
    /// The request to the user, which the agent passes on.
    pub(super) request: &'static str,
    /// The reason, for the user.
    pub(super) why: String,
}

impl Failure {
    pub(super) fn panicked() -> Failure {
        let why = "a panic while it was judged".to_owned();
        Failure { code: "panic", what: "an internal error", request: TELL, why }
    }

    /// The grants of the call change faster than it can be judged.
    pub(super) fn unsettled() -> Failure {
        let why = "what persons say changes all the time".to_owned();
        Failure { code: "consent", what: "the call could not be judged", request: TELL, why }
    }

    /// A lost mark would be invisible to later rules.
    pub(super) fn unmarked(why: String) -> Failure {
        Failure { code: "marks", what: "the call could not be noted for later ones", request: TELL, why }
    }

    /// The daemon would judge other files than those of the agent.
    pub(super) fn elsewhere() -> Failure {
        let why = "its process has another pid namespace, another root directory or other mounts than the daemon, as in a \
                   container: install castellan inside it (see docs/where-agents-run.md)";
        let what = "the agent runs in a container, and castellan outside of it";
        Failure { code: "namespace", what, request: TELL, why: why.to_owned() }
    }

    /// A session whose state cannot be stored may not continue.
    pub(super) fn crowded(why: String) -> Failure {
        Failure { code: "state", what: "there is no room for another session", request: TELL, why }
    }

    /// The run above the agent does not watch it, or has no room for it.
    pub(super) fn unwatched(why: String) -> Failure {
        Failure { code: "run", what: "the run of this agent does not watch it", request: TELL, why }
    }

    /// The reader of the user's files is gone. castellan judges nothing that it cannot look at.
    pub(super) fn blind(why: String) -> Failure {
        Failure { code: "reader", what: "the user's files cannot be read", request: TELL, why }
    }

    /// No answer may be sent that the next daemon would not know.
    pub(super) fn unkept(error: &io::Error) -> Failure {
        let why = format!("the state cannot be written: {}", explained(error));
        let request = if error.kind() == io::ErrorKind::StorageFull { STATE_DISK_FULL } else { TELL };
        Failure { code: "state", what: "the call could not be noted for later ones", request, why }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Failure {
        let request = if error.is_disk_full() { LOG_DISK_FULL } else { TELL };
        Failure { code: "log", what: "the call could not be recorded", request, why: error.to_string() }
    }
}

impl Judge {
    pub(super) fn malformed(&self, asked: &Asked<'_>, malformed: &Malformed) -> Result<Reply, Failure> {
        let mode = self.mode_of_failure(asked);
        self.append(&record::malformed(malformed, &asked.request.event, mode, self.log.keeps_prompts()))?;
        Ok(match mode {
            Mode::Enforce => reply(agents::encode_refusal(asked.agent, &asked.request.event, malformed)),
            Mode::Monitor | Mode::Passthrough => Reply::default(),
        })
    }

    /// Records a failure if possible, and denies in `enforce`, else leaves the call to the agent. The agent gets the
    /// kind of the failure; the reason and the remedy are for the user.
    pub(super) fn failed(&self, asked: &Asked<'_>, failure: &Failure) -> Reply {
        let Failure { code, what, request, why } = failure;
        let message = format!("{what}: {why}");
        self.tally.failed(&message);
        let (agent, event) = (asked.agent.name(), &asked.request.event);
        let mode = self.mode_of_failure(asked);
        let record = record::failed_answer(code, &message, agent, event, asked.agent_pid(), mode);
        // If the record fails too, the status shows it.
        let _ = self.append(&record);
        failure_reply(asked, mode, &format!("castellan failed: {what}. {request}"))
    }
}

fn failure_reply(asked: &Asked<'_>, mode: Mode, message: &str) -> Reply {
    match mode {
        Mode::Enforce => reply(agents::encode_failure(asked.agent, &asked.request.event, message)),
        Mode::Monitor | Mode::Passthrough => Reply::default(),
    }
}
