//! Failures of our own: each is a decision too, and is recorded. It must not know how a call is judged.

use castellan_agents::{self as agents, Malformed};
use castellan_audit::AuditError;
use castellan_event::Mode;
use castellan_wire::Reply;

use super::{Asked, Judge, reply};
use crate::record;

/// A failure of our own.
pub(super) struct Failure {
    /// One stable word for the record.
    pub(super) code: &'static str,
    /// What the agent reads.
    pub(super) what: &'static str,
    /// Why, for the user.
    pub(super) why: String,
}

impl Failure {
    pub(super) fn panicked() -> Failure {
        Failure { code: "panic", what: "an internal error", why: "a panic while it was judged".to_owned() }
    }

    /// What is granted of the call changes faster than it can be judged.
    pub(super) fn unsettled() -> Failure {
        let why = "what persons say changes all the time".to_owned();
        Failure { code: "consent", what: "the call could not be judged", why }
    }

    /// A mark that was lost would be one that no later rule sees.
    pub(super) fn unmarked(why: String) -> Failure {
        Failure { code: "marks", what: "the call could not be noted for later ones", why }
    }

    /// A session of which nothing could be kept may not go on.
    pub(super) fn crowded(why: String) -> Failure {
        Failure { code: "state", what: "there is no room for another session", why }
    }

    /// Nothing may be answered that the next daemon would not know of.
    pub(super) fn unkept(why: String) -> Failure {
        Failure { code: "state", what: "the call could not be noted for later ones", why }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Failure {
        Failure { code: "log", what: "the call could not be recorded", why: error.to_string() }
    }
}

impl Judge {
    pub(super) fn malformed(&self, asked: &Asked<'_>, malformed: &Malformed) -> Result<Reply, Failure> {
        let mode = self.mode_of_failure(asked);
        self.append(&record::malformed(malformed, &asked.request.event, mode))?;
        Ok(match mode {
            Mode::Enforce => reply(agents::encode_refusal(asked.agent, &asked.request.event, malformed)),
            Mode::Monitor | Mode::Passthrough => Reply::default(),
        })
    }

    /// A failure of our own: recorded as far as possible, denied in enforce, left to the agent else. The agent reads what
    /// failed; why, and what to do about it, is for the user.
    pub(super) fn failed(&self, asked: &Asked<'_>, Failure { code, what, why }: &Failure) -> Reply {
        let message = format!("{what}: {why}");
        self.tally.failed(&message);
        let (agent, event) = (asked.agent.name(), &asked.request.event);
        let mode = self.mode_of_failure(asked);
        let record = record::failed_answer(code, &message, agent, event, asked.agent_pid(), mode);
        // That the record fails as well shows in the status.
        let _ = self.append(&record);
        failure_reply(asked, mode, what)
    }
}

fn failure_reply(asked: &Asked<'_>, mode: Mode, message: &str) -> Reply {
    match mode {
        Mode::Enforce => reply(agents::encode_failure(asked.agent, &asked.request.event, message)),
        Mode::Monitor | Mode::Passthrough => Reply::default(),
    }
}
