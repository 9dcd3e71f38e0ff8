//! A person's requests about calls over the control socket: list pending calls and grants, approve, refuse.

use std::time::SystemTime;

use castellan_policy::CallClass;

use super::{ControlServer, Peer, alphanumeric_start};
use crate::control::{ControlResponse, GrantScope, GrantedCall, PendingCall, ShownCall};
use crate::held::End;
use crate::record;
use crate::requests::{Granted, Request, Subject, Ungrantable};

impl ControlServer {
    /// Returns the pending calls, the oldest first.
    pub(super) fn pending(&self) -> Vec<PendingCall> {
        self.judge.waiting().iter().map(|request| self.pending_call(request)).collect()
    }

    fn pending_call(&self, request: &Request) -> PendingCall {
        let Subject { agent, cwd, tool, preview } = request.subject.clone();
        PendingCall {
            id: request.id.to_string(),
            agent,
            session: request.session_id.clone(),
            cwd,
            tool,
            input: preview,
            reasons: request.reasons.clone(),
            age_s: age_s(request.asked),
            times: request.times,
            waiting: self.judge.held().holds(request.id),
            at_prompt: request.is_at_prompt(),
            class: request.class.as_ref().filter(|_| request.is_offered).map(CallClass::to_string),
        }
    }

    /// Returns the grants, the oldest first.
    pub(super) fn granted(&self) -> Vec<GrantedCall> {
        let call = |Granted { id, subject, scope, given, class, .. }: Granted| GrantedCall {
            id: id.to_string(),
            agent: subject.agent,
            cwd: subject.cwd,
            tool: subject.tool,
            input: subject.preview,
            scope,
            age_s: age_s(given.wall),
            class: class.as_ref().map(CallClass::to_string),
        };
        // As many as a frame can hold.
        self.judge.granted().into_iter().map(call).take(GRANTED_LISTED_MAX).collect()
    }

    /// Returns the details of a pending call.
    pub(super) fn show(&self, id: &str) -> Result<ControlResponse, ControlResponse> {
        let request = self.judge.waiting_as(id);
        let request = request.ok_or_else(|| ControlResponse::Failed(nothing_called(id)))?;
        Ok(ControlResponse::Shown(Box::new(ShownCall {
            call: self.pending_call(&request),
            record: request.record,
            whole_input: request.input,
            input_sha256: request.input_sha256,
            explanation: request.explanation,
            shown: request.shown,
        })))
    }

    /// Grants a call. The record is written first: a grant that cannot be recorded is not made.
    pub(super) fn approve(
        &self,
        id: &str,
        shown: &str,
        scope: GrantScope,
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        let words = match scope {
            GrantScope::Once => "once",
            GrantScope::Session => "for the session",
            GrantScope::For(seconds) => &format!("for {seconds} s"),
            GrantScope::Always => "always",
        };
        let argument = format!("{} {words}", alphanumeric_start(id));
        self.check_presence("approve", &argument, peer)?;
        let waiting = self.judge.waiting_as(id);
        let outcome = match &waiting {
            None => Err(nothing_called(id)),
            Some(request) if request.shown != shown => Err(not_shown(id)),
            Some(_) => Ok(()),
        };
        let call = waiting.map(|request| (request.record, request.input_sha256));
        self.conclude_consent("approve", &argument, call.clone(), peer, outcome)?;
        let granted = self.judge.approve(id, shown, scope).map_err(|why| match why {
            Ungrantable::NotWaiting => nothing_called(id),
            Ungrantable::NotShown => not_shown(id),
            Ungrantable::NotKept => {
                "the grant could not be stored: see that the disk has free space, then approve again"
                    .to_owned()
            }
            Ungrantable::NoRoom => "there is no room for another grant: refuse some".to_owned(),
        });
        // The previous record says that the call was granted.
        granted
            .map(|granted| self.judge.held().answer(granted.id, End::Judge))
            .or_else(|why| self.conclude_consent("approve", &argument, call, peer, Err(why)))
    }

    /// Refuses a call. Needs no user presence check, because it tightens.
    pub(super) fn refuse(&self, id: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let call = self.judge.waiting_as(id).map(|request| (request.record, request.input_sha256));
        let refused = self.judge.refuse(id);
        if let Some(refused) = refused {
            self.judge.held().answer(refused, End::Refused);
        }
        let outcome = refused.map(drop).ok_or_else(|| nothing_called(id));
        self.conclude_consent("refuse", &alphanumeric_start(id), call, peer, outcome)
    }

    /// Records the result of a request about a call. A request that cannot be recorded has failed.
    fn conclude_consent(
        &self,
        action: &str,
        argument: &str,
        call: Option<(u64, String)>,
        peer: Peer<'_>,
        outcome: Result<(), String>,
    ) -> Result<(), ControlResponse> {
        let why = outcome.as_ref().err().map(String::as_str);
        self.concluded(&record::consent(action, argument, why, call, (peer.pid, peer.uid)), outcome)
    }
}

/// Grants in a list: each has about a KiB, and nobody reads a thousand.
const GRANTED_LISTED_MAX: usize = 1000;

fn age_s(since: SystemTime) -> u64 {
    since.elapsed().map_or(0, |age| age.as_secs())
}

fn nothing_called(id: &str) -> String {
    format!(
        "no call that waits is called {}, or it has run or its turn is over: see `castellan pending`",
        alphanumeric_start(id)
    )
}

fn not_shown(id: &str) -> String {
    format!("{} is another call by now: look at it again", alphanumeric_start(id))
}
