//! [`Gap`]: the line that a hook leaves for the next daemon after it had to answer alone.

use std::fmt;

/// Version of the line's format.
const VERSION: &str = "1";

/// Bytes of one word of a line. Agents, events and failures are words of the hook's own arguments and table.
const WORD_BYTES_MAX: usize = 64;

/// A call or event that a hook answered without a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Time in milliseconds since 1970.
    pub unix_ms: u64,
    /// `--agent` of the hook.
    pub agent: String,
    /// `--event` of the hook.
    pub event: String,
    /// Process id of the hook's parent.
    pub parent_pid: u32,
    /// The failure, one word.
    pub failure: String,
}

/// Prints the line with its end. A word loses characters other than printable ASCII; an empty word becomes `-`.
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |text: &str| {
            let kept: String = text.chars().filter(char::is_ascii_graphic).take(WORD_BYTES_MAX).collect();
            if kept.is_empty() { "-".to_owned() } else { kept }
        };
        let (agent, event, failure) = (word(&self.agent), word(&self.event), word(&self.failure));
        writeln!(f, "{VERSION} {} {agent} {event} {} {failure}", self.unix_ms, self.parent_pid)
    }
}

impl Gap {
    /// Parses a line without its end; `None` for any other text.
    pub fn parse(line: &str) -> Option<Gap> {
        let fields: Vec<&str> = line.split(' ').collect();
        let [version, unix_ms, agent, event, parent_pid, failure] = fields.try_into().ok()?;
        if version != VERSION {
            return None;
        }
        Some(Gap {
            unix_ms: unix_ms.parse().ok()?,
            agent: agent.to_owned(),
            event: event.to_owned(),
            parent_pid: parent_pid.parse().ok()?,
            failure: failure.to_owned(),
        })
    }
}
