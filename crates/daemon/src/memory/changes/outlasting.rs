//! Calls whose commands may run on after the agent's report, or after the end of the agent. It must not know processes.

use std::collections::VecDeque;

use super::{Changes, Ended, Open};
use crate::jobs::Start;
use crate::session_key::SessionKey;

impl Changes {
    /// Ends calls. One whose commands may outlast the agent's report stays open.
    pub(super) fn close(&mut self, root: &SessionKey, is_over: impl Fn(&Open) -> bool) -> Vec<Ended> {
        let Some(session) = self.sessions.get_mut(root) else { return Vec::new() };
        let (mut ended, mut left) = (Vec::new(), VecDeque::new());
        for mut open in std::mem::take(&mut session.open) {
            if open.is_reported || !is_over(&open) {
                left.push_back(open);
                continue;
            }
            ended.push(open.end());
            if open.is_looked_for() {
                open.is_reported = true;
                left.push_back(open);
            }
        }
        session.open = left;
        ended
    }

    /// Reports whether the commands of a call may run although the agent has reported it, or has ended. `has_agent` reports
    /// whether an agent of a session runs.
    pub(in crate::memory) fn may_outlast(&self, has_agent: impl Fn(&SessionKey) -> bool) -> bool {
        let mut sessions = self.sessions.iter().filter(|(_, session)| !session.open.is_empty());
        sessions.any(|(root, session)| {
            session.open.iter().any(|open| open.is_reported)
                || session.open.iter().any(Open::is_looked_for) && !has_agent(root)
        })
    }

    /// Ends the calls of which no command runs any more. `runs` reports whether one may run.
    pub(in crate::memory) fn end_outlasting(
        &mut self,
        has_agent: impl Fn(&SessionKey) -> bool,
        runs: impl Fn(&SessionKey, &Start) -> bool,
    ) {
        for (root, session) in self.sessions.iter_mut().filter(|(_, session)| !session.open.is_empty()) {
            let has_agent = has_agent(root);
            session.open.retain(|open| match open.start.as_ref().filter(|_| open.is_looked_for()) {
                Some(start) => !open.is_reported && has_agent || runs(root, start),
                // It runs as long as the agent.
                None => true,
            });
        }
    }
}

impl Open {
    /// Reports whether castellan looks for the commands of the call: they may outlast the agent, and their begin is known.
    pub(super) fn is_looked_for(&self) -> bool {
        self.outlasts && self.start.is_some()
    }

    /// Adds the time in which a call may run that is stored as one with this.
    pub(super) fn lasts_as(&mut self, other: &Open) {
        self.start = match (self.start.take(), other.start.clone()) {
            (Some(one), Some(other)) => Some(one.of_both(other)),
            // Unknown: as long as the agent.
            (_, _) => None,
        };
        self.outlasts |= other.outlasts;
        self.is_reported &= other.is_reported;
    }
}
