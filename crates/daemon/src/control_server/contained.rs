//! Contained commands: a process redeems a ticket, and reports the end of the command. It must not know how a command is
//! contained.

use super::{ControlServer, Peer};
use crate::control::{ContainedEnd, ContainedOutcome, ContainedRun, ControlResponse};
use crate::judge::counted;
use crate::limits::NOTE_CHARS_MAX;
use crate::lost::{CONTAINED, contained_argument};
use crate::peers::AgentProcess;

impl ControlServer {
    /// Uses up a ticket. The process comes from the connection. A ticket that is not valid is recorded.
    pub(super) fn redeem(&self, ticket: &str, peer: Peer<'_>) -> Result<ContainedRun, ControlResponse> {
        let refused = |why: &str| {
            let why = format!("the command does not run: {why}");
            self.refused(CONTAINED, "", peer, why)
        };
        let Ok(id) = ticket.parse() else { return Err(refused("this is no ticket")) };
        let process = AgentProcess { pid: peer.pid, started: peer.started };
        if process.started == 0 {
            return Err(refused("its process has ended"));
        }
        match self.judge.redeem(id, process) {
            Ok(Ok((checkpoint, run))) => {
                let begun = contained_argument(&checkpoint, &run.workspace);
                self.conclude(CONTAINED, &begun, peer, Ok(()))?;
                Ok(run)
            }
            Ok(Err(why)) => Err(refused(&why.to_string())),
            Err(why) => {
                let outcome = self.conclude(CONTAINED, "", peer, Err(why.clone()));
                Err(outcome.err().unwrap_or(ControlResponse::Failed(why)))
            }
        }
    }

    /// Stores the end of a command.
    pub(super) fn end_contained(
        &self,
        ticket: &str,
        end: &ContainedEnd,
        peer: Peer<'_>,
    ) -> Result<ContainedOutcome, ControlResponse> {
        let process = AgentProcess { pid: peer.pid, started: peer.started };
        let ended = ticket.parse().ok().and_then(|id| self.judge.end_contained(id, process, end));
        let Some(outcome) = ended else {
            let why = "this process runs no contained command with this ticket".to_owned();
            return Err(self.refused("contained_end", "", peer, why));
        };
        let what = match end.code {
            Some(code) => {
                format!("exit code {code}, {}{}", counted(outcome.written), blocked(end.unreachable))
            }
            None => "nothing ran".to_owned(),
        };
        let failure: String = end.failure.chars().take(NOTE_CHARS_MAX).collect();
        let result = if failure.is_empty() { Ok(()) } else { Err(failure) };
        match self.conclude("contained_end", &what, peer, result) {
            // The failure of the sandbox is recorded. The process knows it.
            Err(ControlResponse::Failed(_)) if !end.failure.is_empty() => Ok(outcome),
            concluded => concluded.map(|()| outcome),
        }
    }
}

/// The blocked part of a command's network, for the record.
fn blocked(packets: u64) -> String {
    if packets == 0 { String::new() } else { format!(", packets to hosts blocked: {packets}") }
}
