//! [`Weighed`]: a call with its decision and everything that the decision rests on.

use castellan_event::{Answers, Call};
use castellan_policy::{Decision, StateChange};

use super::containment::Rewrite;
use super::grounds::Grounds;
use super::{Asked, Whose};
use crate::requests::{GrantKey, Taken};
use crate::session_key::SessionKey;

/// A judged call, before any consequence.
pub(super) struct Weighed<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) call: &'a Call,
    pub(super) whose: &'a Whose,
    pub(super) consent: Consent,
    pub(super) grounds: Grounds,
    pub(super) answers: Answers,
    pub(super) decision: Decision,
    pub(super) change: StateChange,
    /// The command that runs in the place of the call's own.
    pub(super) rewrite: Option<Rewrite>,
}

/// The consent for a call before it is judged.
#[derive(Debug)]
pub(super) struct Consent {
    pub(super) key: GrantKey,
    pub(super) session: SessionKey,
    pub(super) taken: Option<Taken>,
}
