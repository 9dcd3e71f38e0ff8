//! Results for a hook's question. It must not know how a call is judged.

use std::time::Duration;

use castellan_policy::RequestId;
use castellan_wire::Reply;

use crate::session_key::SessionKey;

/// The result for a hook.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The hook gets its reply.
    Decided(Reply),
    /// The hook waits for a person.
    Held {
        /// The id of its pending call.
        id: RequestId,
        /// The longest wait.
        time: Duration,
        /// Its session.
        session: SessionKey,
    },
}

/// The result of an attempt to judge a hook's event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The outcome is final.
    Settled(Outcome),
    /// The basis of the decision has changed meanwhile: the event must be judged again.
    JudgeAgain,
}

impl From<Outcome> for Attempt {
    fn from(outcome: Outcome) -> Attempt {
        Attempt::Settled(outcome)
    }
}

impl From<Reply> for Attempt {
    fn from(reply: Reply) -> Attempt {
        Attempt::Settled(Outcome::Decided(reply))
    }
}
