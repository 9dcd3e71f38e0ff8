//! What becomes of a hook's question. It must not know how a call is judged.

use std::time::Duration;

use castellan_policy::RequestId;
use castellan_wire::Reply;

/// What is done about a hook.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is answered.
    Decided(Reply),
    /// It waits for a person.
    Held {
        /// The id under which its call waits.
        id: RequestId,
        /// The longest wait.
        time: Duration,
    },
}

/// What comes of one attempt to judge a hook's event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The outcome is final.
    Settled(Outcome),
    /// What the event was judged by has changed meanwhile.
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
