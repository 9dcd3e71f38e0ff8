//! [`Halts`]: which sessions a person has halted. A halt survives the daemon and ends only by a person's request. It must
//! not know calls.

use std::io;

use super::entry::Entry;
use super::halt::{Halt, HaltPlace};
use super::{Memory, SessionKey};
use crate::limits::HALTS_MAX;
use crate::peers::AgentProcess;

/// The halts in force.
#[derive(Debug, Default)]
pub(super) struct Halts(Vec<Halt>);

impl Halts {
    pub(super) fn put(&mut self, halt: Halt) {
        self.end(&halt.place);
        self.0.push(halt);
    }

    pub(super) fn end(&mut self, place: &HaltPlace) {
        self.0.retain(|halt| halt.place != *place);
    }

    /// Reports whether a halt names one of these sessions.
    pub(super) fn has_session(&self, root: &SessionKey) -> bool {
        self.0.iter().any(|halt| halt.place == HaltPlace::Session(*root))
    }

    /// Moves the halt of a session that is merged into another one.
    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        for halt in &mut self.0 {
            if halt.place == HaltPlace::Session(*from) {
                halt.place = HaltPlace::Session(into);
            }
        }
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let entry = |Halt { place, of, at_ms }: Halt| Entry::Halt { place, of, at_ms };
        self.0.iter().cloned().map(entry)
    }
}

impl Memory {
    /// The halts in force, the oldest first.
    pub(crate) fn halts(&self) -> &[Halt] {
        &self.lasting.halts.0
    }

    /// Reports whether a session of an agent is halted.
    pub(crate) fn is_halted(&self, agent: &str, session: &SessionKey) -> bool {
        self.halts().iter().any(|halt| match &halt.place {
            HaltPlace::All => true,
            HaltPlace::Agent(word) => word == agent,
            HaltPlace::Session(halted) => {
                self.lasting.sessions.root(session).unwrap_or(*session)
                    == self.lasting.sessions.root(halted).unwrap_or(*halted)
            }
        })
    }

    /// Reports whether an event of a process may be of a halted session. `agent` is `None` if it is unknown. A process
    /// without known sessions may be of any session.
    pub(crate) fn may_be_halted(&self, agent: Option<&str>, process: &AgentProcess) -> bool {
        if self.halts().is_empty() {
            return false;
        }
        let sessions = self.sessions_in(process);
        let of_session = |session: &SessionKey| self.is_halted(agent.unwrap_or_default(), session);
        self.halts().iter().any(|halt| match &halt.place {
            HaltPlace::All => true,
            HaltPlace::Agent(word) => agent.is_none_or(|agent| agent == word),
            HaltPlace::Session(_) => sessions.is_empty() || sessions.iter().any(of_session),
        })
    }

    /// Halts sessions. An error says that the halt ends with this daemon, because it cannot be stored, or that there is
    /// no room for it.
    pub(crate) fn halt(&mut self, place: HaltPlace, of: String) -> Result<(), String> {
        let is_new = !self.halts().iter().any(|halt| halt.place == place);
        if is_new && self.halts().len() >= HALTS_MAX {
            return Err("there are too many halts: halt all agents".to_owned());
        }
        let at_ms = self.now_ms();
        self.put(Entry::Halt { place, of, at_ms });
        self.outdate();
        self.save().map_err(|error| format!("the halt is in force, but ends with the daemon: {error}"))
    }

    /// Ends halts. Returns an error if that cannot be stored; then they stay.
    pub(crate) fn resume(&mut self, is_meant: impl Fn(&HaltPlace) -> bool) -> io::Result<()> {
        let ended: Vec<Halt> = self.halts().iter().filter(|halt| is_meant(&halt.place)).cloned().collect();
        for halt in &ended {
            self.put(Entry::HaltOver { place: halt.place.clone() });
        }
        self.outdate();
        self.save().inspect_err(|_| {
            for Halt { place, of, at_ms } in ended {
                self.put(Entry::Halt { place, of, at_ms });
            }
        })
    }

    /// The agents' processes of a session and of those that are merged with it.
    pub(crate) fn processes_of(&self, session: &SessionKey) -> Vec<AgentProcess> {
        self.lasting.sessions.processes_of(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(dir: &tempfile::TempDir, is_first: bool) -> Memory {
        Memory::open(dir.path().join("journal"), is_first, 1).unwrap().0
    }

    fn session(number: u8) -> SessionKey {
        SessionKey([number; 32])
    }

    fn process(pid: u32) -> AgentProcess {
        AgentProcess { pid, started: 1 }
    }

    fn halt(memory: &mut Memory, place: HaltPlace) {
        memory.halt(place, String::new()).unwrap();
    }

    #[test]
    fn a_halt_is_of_its_sessions_and_survives_the_daemon() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        memory.enter(session(1), process(1)).unwrap();
        memory.enter(session(2), process(2)).unwrap();
        assert!(!memory.is_halted("claude", &session(1)) && !memory.may_be_halted(None, &process(9)));
        halt(&mut memory, HaltPlace::Session(session(1)));
        // Another session of the same process is a part of its tree.
        memory.enter(session(3), process(1)).unwrap();
        let mut memory = opened(&dir, false);
        memory.enter(session(3), process(1)).unwrap();
        let halted = [1, 2, 3].map(|number| memory.is_halted("claude", &session(number)));
        assert_eq!(halted, [true, false, true]);
        assert_eq!([1, 2, 9].map(|pid| memory.may_be_halted(None, &process(pid))), [true, false, true]);
        memory.resume(|place| *place == HaltPlace::Session(session(1))).unwrap();
        assert_eq!(opened(&dir, false).halts(), []);
    }

    #[test]
    fn a_halt_follows_a_session_that_is_merged() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        memory.enter(session(1), process(1)).unwrap();
        memory.enter(session(2), process(2)).unwrap();
        halt(&mut memory, HaltPlace::Session(session(1)));
        memory.enter(session(1), process(2)).unwrap();
        assert!(memory.is_halted("claude", &session(1)) && memory.is_halted("claude", &session(2)));
    }

    #[test]
    fn a_halt_of_an_agent_is_of_all_its_sessions_and_of_no_other_agent() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        halt(&mut memory, HaltPlace::Agent("codex".to_owned()));
        for (agent, expected) in [("codex", true), ("claude", false)] {
            assert_eq!(memory.is_halted(agent, &session(1)), expected, "{agent}");
            assert_eq!(memory.may_be_halted(Some(agent), &process(1)), expected, "{agent}");
        }
        assert!(memory.may_be_halted(None, &process(1)), "an unknown agent may be the halted one");
        halt(&mut memory, HaltPlace::All);
        assert!(memory.is_halted("claude", &session(1)) && memory.may_be_halted(Some("claude"), &process(1)));
        memory.resume(|_| true).unwrap();
        assert_eq!(memory.halts(), []);
    }

    #[test]
    fn the_number_of_halts_has_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        for number in 0..HALTS_MAX {
            halt(&mut memory, HaltPlace::Agent(number.to_string()));
        }
        assert!(memory.halt(HaltPlace::Agent("more".to_owned()), String::new()).is_err());
        assert!(memory.halt(HaltPlace::Agent("0".to_owned()), String::new()).is_ok());
    }
}
