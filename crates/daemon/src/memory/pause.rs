//! [`Pause`]: a person's pause of castellan. It survives the daemon, but not the machine, and ends by itself. It must not
//! know calls.

use std::io;

use super::Memory;
use super::entry::Entry;

/// A pause, on the clock of marks and sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) at_ms: u64,
    pub(crate) until_ms: u64,
}

impl Pause {
    /// The entry that restores it.
    pub(super) fn entry(self) -> Entry {
        Entry::Pause { at_ms: self.at_ms, until_ms: self.until_ms }
    }
}

impl Memory {
    /// The pause in force at a time of [`Memory::now_ms`].
    pub(crate) fn pause_at(&self, now_ms: u64) -> Option<Pause> {
        self.lasting.pause.filter(|pause| now_ms < pause.until_ms)
    }

    /// Reports whether a pause is stored whose time is over.
    pub(crate) fn is_pause_over(&self) -> bool {
        self.lasting.pause.is_some() && self.pause_at(self.now_ms()).is_none()
    }

    /// Pauses for a number of seconds, which replace those of an earlier pause. Returns an error if that cannot be
    /// stored; then there is no pause.
    pub(crate) fn pause(&mut self, seconds: u64) -> io::Result<()> {
        let at_ms = self.now_ms();
        let until_ms = at_ms.saturating_add(seconds.saturating_mul(1000));
        self.put(Entry::Pause { at_ms, until_ms });
        self.outdate();
        self.save().inspect_err(|_| self.put(Entry::PauseOver {}))
    }

    /// Ends a pause at once, also if that cannot be stored, which is the error.
    pub(crate) fn end_pause(&mut self) -> io::Result<()> {
        self.put(Entry::PauseOver {});
        self.outdate();
        self.save()
    }
}

#[cfg(test)]
impl Memory {
    /// Lets the time of a pause be over, as a clock does: without an entry.
    pub(crate) fn cut_pause(&mut self, until_ms: u64) {
        self.lasting.pause = self.lasting.pause.map(|pause| Pause { until_ms, ..pause });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(dir: &tempfile::TempDir, is_first: bool) -> Memory {
        Memory::open(dir.path().join("journal"), is_first, 1).unwrap().0
    }

    #[test]
    fn a_pause_survives_the_daemon_and_ends_at_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        assert!(memory.pause_at(memory.now_ms()).is_none() && !memory.is_pause_over());
        memory.pause(600).unwrap();
        let memory = opened(&dir, false);
        let Pause { at_ms, until_ms } = memory.pause_at(memory.now_ms()).unwrap();
        assert_eq!(until_ms - at_ms, 600_000);
        assert!(memory.pause_at(until_ms - 1).is_some() && memory.pause_at(until_ms).is_none());
        assert!(!memory.is_pause_over());
    }

    #[test]
    fn a_pause_that_is_over_or_ended_does_not_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        memory.pause(0).unwrap();
        assert!(memory.is_pause_over() && memory.pause_at(memory.now_ms()).is_none());
        memory.pause(600).unwrap();
        memory.end_pause().unwrap();
        assert!(!memory.is_pause_over() && memory.pause_at(memory.now_ms()).is_none());
        let memory = opened(&dir, false);
        assert!(memory.pause_at(memory.now_ms()).is_none());
    }

    /// A machine that was off counts no seconds by a clock that nobody can set back.
    #[test]
    fn a_pause_ends_with_the_boot() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        memory.pause(600).unwrap();
        drop(memory);
        let journal = dir.path().join("journal");
        let text = std::fs::read_to_string(&journal).unwrap();
        let boot = crate::clock::Moment::read().boot;
        assert!(text.contains("\"pause\"") && text.contains(&boot));
        std::fs::write(&journal, text.replace(&boot, "another")).unwrap();
        let memory = opened(&dir, false);
        assert!(memory.pause_at(memory.now_ms()).is_none());
    }

    #[test]
    fn without_a_place_for_it_there_is_no_pause() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = opened(&dir, true);
        let journal = dir.path().join("journal");
        std::fs::remove_file(&journal).unwrap();
        std::fs::create_dir(&journal).unwrap();
        std::fs::write(journal.join("x"), "").unwrap();
        assert!(memory.pause(600).is_err());
        assert!(memory.pause_at(memory.now_ms()).is_none());
    }
}
