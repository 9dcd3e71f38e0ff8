//! [`Tickets`]: permissions to run one contained command once. They are in memory only: after a restart of the daemon no
//! earlier one is valid. It must not know how a command is contained.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Before, ContainedPolicy};
use crate::ancestors::Ancestors;
use crate::limits::{CONTAINED_RUNNING_MAX, TICKET_S, TICKETS_MAX, TICKETS_PER_AGENT_MAX};
use crate::peers::AgentProcess;

/// A random id that nobody can guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TicketId([u8; 16]);

impl TicketId {
    /// An error if the system has no random numbers.
    fn random() -> Result<TicketId, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random number: {error}"))?;
        Ok(TicketId(bytes))
    }

    #[cfg(test)]
    pub(crate) fn of(number: u128) -> TicketId {
        TicketId(number.to_be_bytes())
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base16ct::lower::encode_string(&self.0))
    }
}

impl FromStr for TicketId {
    type Err = ();

    fn from_str(text: &str) -> Result<TicketId, ()> {
        let mut bytes = [0; 16];
        let read = base16ct::lower::decode(text, &mut bytes).map_err(|_| ())?.len();
        (read == bytes.len()).then_some(TicketId(bytes)).ok_or(())
    }
}

/// A command that may run contained, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The text of the agent.
    pub(crate) command: String,
    /// The workspace: absolute, symlinks resolved.
    pub(crate) workspace: String,
    pub(crate) policy: ContainedPolicy,
    /// The number of the call's record.
    pub(crate) call: u64,
    /// Everything that redeems the ticket is below this process.
    pub(crate) agent: AgentProcess,
    /// The workspace at the decision.
    pub(crate) before: Arc<Before>,
}

/// A contained command that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) id: TicketId,
    pub(crate) ticket: Ticket,
    /// The process that redeemed the ticket.
    pub(crate) process: AgentProcess,
    /// It was seen to have ended without a word.
    pub(crate) is_gone: bool,
}

/// The reason why a ticket is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No such ticket: it is forged, was used, or is of an earlier daemon.
    Unknown,
    /// Its time is over.
    Expired,
    /// The process is not below the agent of the ticket.
    Foreign,
    /// Too many contained commands run.
    Full,
    /// Another call began meanwhile that runs code of the workspace.
    Beside,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Unknown => "no call waits for this ticket: each ticket is valid once",
            Refused::Expired => "the time of this ticket is over: make the call again",
            Refused::Foreign => "this ticket is of another agent",
            Refused::Beside => {
                "another call runs code of this workspace, which could load what this command writes: make the call again \
                 when it has ended"
            }
            Refused::Full => "too many contained commands run: wait until some have ended",
        })
    }
}

/// The tickets and the commands that run with them.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    /// With the time since boot at which each ends; the oldest first.
    waiting: Vec<(TicketId, Ticket, u64)>,
    running: Vec<Running>,
}

impl Tickets {
    /// Makes a ticket. A call that is judged again gets a new one, and its earlier one ends.
    pub(crate) fn make(&mut self, ticket: Ticket, now_ms: u64) -> Result<TicketId, String> {
        self.waiting.retain(|(_, other, until)| *until > now_ms && other.call != ticket.call);
        let of_agent = self.waiting.iter().filter(|(_, other, _)| other.agent == ticket.agent).count();
        if self.waiting.len() >= TICKETS_MAX || of_agent >= TICKETS_PER_AGENT_MAX {
            return Err("too many contained commands wait for their start".to_owned());
        }
        let id = TicketId::random()?;
        self.waiting.push((id, ticket, now_ms.saturating_add(TICKET_S * 1000)));
        Ok(id)
    }

    /// Uses a ticket up. A ticket that a foreign process names stays valid for its agent.
    pub(crate) fn redeem(
        &mut self,
        id: TicketId,
        ancestors: &Ancestors,
        now_ms: u64,
    ) -> Result<Ticket, Refused> {
        let at = self.waiting.iter().position(|(other, ..)| *other == id).ok_or(Refused::Unknown)?;
        let (_, ticket, until) = self.waiting.get(at).ok_or(Refused::Unknown)?;
        if *until <= now_ms {
            self.waiting.remove(at);
            return Err(Refused::Expired);
        }
        let Some(process) = ancestors.chain.first().filter(|_| ancestors.chain.contains(&ticket.agent))
        else {
            return Err(Refused::Foreign);
        };
        if self.running.len() >= CONTAINED_RUNNING_MAX {
            return Err(Refused::Full);
        }
        let (_, ticket, _) = self.waiting.remove(at);
        self.running.push(Running { id, ticket: ticket.clone(), process: *process, is_gone: false });
        Ok(ticket)
    }

    /// Ends the command of a ticket. Only the process that redeemed the ticket can.
    pub(crate) fn end(&mut self, id: TicketId, process: AgentProcess) -> Option<Running> {
        let at = self.running.iter().position(|one| one.id == id && one.process == process)?;
        Some(self.running.remove(at))
    }

    /// Returns the commands whose processes ended without a word, at the second look at the earliest: the kernel then has
    /// ended everything in their sandboxes.
    pub(crate) fn gone(&mut self, lives: impl Fn(&AgentProcess) -> bool) -> Vec<Running> {
        let (gone, rest): (Vec<Running>, Vec<Running>) =
            std::mem::take(&mut self.running).into_iter().partition(|one| one.is_gone);
        self.running = rest;
        for one in &mut self.running {
            one.is_gone = !lives(&one.process);
        }
        gone
    }

    /// Ends the ticket of a call that no process has redeemed. Returns true if the command of the call runs.
    pub(crate) fn end_waiting(&mut self, call: u64) -> bool {
        self.waiting.retain(|(_, ticket, _)| ticket.call != call);
        self.running.iter().any(|one| one.ticket.call == call)
    }

    /// Ends every ticket that no process has redeemed yet.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: AgentProcess = AgentProcess { pid: 5, started: 50 };

    fn ticket(call: u64) -> Ticket {
        let policy = ContainedPolicy {
            hosts: Vec::new(),
            environment: Vec::new(),
            homes: Vec::new(),
            tools: Vec::new(),
        };
        Ticket {
            command: "make".to_owned(),
            workspace: "/w".to_owned(),
            policy,
            call,
            agent: AGENT,
            before: Arc::default(),
        }
    }

    fn below(agent: AgentProcess) -> Ancestors {
        let own = AgentProcess { pid: 9, started: 90 };
        Ancestors { chain: vec![own, agent, AgentProcess { pid: 1, started: 1 }], is_whole: true }
    }

    #[test]
    fn a_ticket_is_valid_once_in_time_and_below_its_agent() {
        let mut tickets = Tickets::default();
        let id = tickets.make(ticket(1), 0).unwrap();
        assert_eq!(tickets.redeem(TicketId::of(1), &below(AGENT), 0), Err(Refused::Unknown));
        // The process id was used again.
        let foreign = below(AgentProcess { started: 51, ..AGENT });
        assert_eq!(tickets.redeem(id, &foreign, 0), Err(Refused::Foreign));
        // The agent may still use it.
        assert_eq!(tickets.redeem(id, &below(AGENT), TICKET_S * 1000 - 1), Ok(ticket(1)));
        assert_eq!(tickets.redeem(id, &below(AGENT), 0), Err(Refused::Unknown));
        let late = tickets.make(ticket(2), 0).unwrap();
        assert_eq!(tickets.redeem(late, &below(AGENT), TICKET_S * 1000), Err(Refused::Expired));
        assert_eq!(tickets.redeem(late, &below(AGENT), 0), Err(Refused::Unknown));
        // A call that is judged again has one ticket.
        let first = tickets.make(ticket(3), 0).unwrap();
        let second = tickets.make(ticket(3), 0).unwrap();
        assert_eq!(tickets.redeem(first, &below(AGENT), 0), Err(Refused::Unknown));
        assert!(tickets.redeem(second, &below(AGENT), 0).is_ok());
        let cleared = tickets.make(ticket(4), 0).unwrap();
        tickets.clear();
        assert_eq!(tickets.redeem(cleared, &below(AGENT), 0), Err(Refused::Unknown));
    }

    #[test]
    fn a_settled_call_does_not_start() {
        let mut tickets = Tickets::default();
        let (settled, other) = (tickets.make(ticket(1), 0).unwrap(), tickets.make(ticket(2), 0).unwrap());
        assert!(!tickets.end_waiting(1));
        assert_eq!(tickets.redeem(settled, &below(AGENT), 0), Err(Refused::Unknown));
        assert!(tickets.redeem(other, &below(AGENT), 0).is_ok());
        assert!(tickets.end_waiting(2));
    }

    #[test]
    fn only_its_process_ends_a_command() {
        let mut tickets = Tickets::default();
        let id = tickets.make(ticket(1), 0).unwrap();
        tickets.redeem(id, &below(AGENT), 0).unwrap();
        assert_eq!(tickets.end(id, AGENT), None);
        assert_eq!(tickets.end(TicketId::of(3), AgentProcess { pid: 9, started: 90 }), None);
        assert!(tickets.end(id, AgentProcess { pid: 9, started: 90 }).is_some());
        assert_eq!(tickets.end(id, AgentProcess { pid: 9, started: 90 }), None);
    }

    #[test]
    fn a_command_is_gone_at_the_second_look() {
        let mut tickets = Tickets::default();
        let id = tickets.make(ticket(1), 0).unwrap();
        tickets.redeem(id, &below(AGENT), 0).unwrap();
        assert!(tickets.gone(|_| true).is_empty() && tickets.gone(|_| false).is_empty());
        assert_eq!(tickets.gone(|_| false).len(), 1);
        assert!(tickets.gone(|_| false).is_empty());
    }

    #[test]
    fn tickets_and_running_commands_are_limited() {
        let mut tickets = Tickets::default();
        let many = TICKETS_PER_AGENT_MAX as u64;
        assert!((0..many).all(|call| tickets.make(ticket(call), 0).is_ok()));
        assert!(tickets.make(ticket(many), 0).is_err());
        // Another agent has room, until all have too many.
        let of = |pid| Ticket {
            agent: AgentProcess { pid, started: 1 },
            call: 1000 + u64::from(pid),
            ..ticket(0)
        };
        let made = (0..TICKETS_MAX as u32).filter(|pid| tickets.make(of(*pid), 0).is_ok()).count();
        assert_eq!(made, TICKETS_MAX - TICKETS_PER_AGENT_MAX);
        // Their time makes room.
        assert!(tickets.make(ticket(many), TICKET_S * 1000).is_ok());
        let mut tickets = Tickets::default();
        for call in 0..CONTAINED_RUNNING_MAX as u64 {
            let id = tickets.make(ticket(call), 0).unwrap();
            tickets.redeem(id, &below(AGENT), 0).unwrap();
        }
        let id = tickets.make(ticket(9999), 0).unwrap();
        assert_eq!(tickets.redeem(id, &below(AGENT), 0), Err(Refused::Full));
    }

    #[test]
    fn an_id_is_32_digits() {
        let id = TicketId::of(0x0123_4567_89ab_cdef);
        assert_eq!(id.to_string(), "00000000000000000123456789abcdef");
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in
            ["", "0", "0123", "0000000000000000012345678 abcdef", "00000000000000000123456789ABCDEF0"]
        {
            assert!(wrong.parse::<TicketId>().is_err(), "{wrong}");
        }
        assert_ne!(TicketId::random(), TicketId::random());
    }
}
