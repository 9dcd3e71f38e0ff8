//! [`Entry`]: one thing that happened and that must outlive the daemon, as a line of the journal. It must not know what follows
//! from it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::sessions::{SessionKey, Workspace};
use super::trust::WorkspaceDecision;

/// Version of the journal's format.
pub(super) const VERSION: u32 = 1;

/// The first line: the version before all else, and the time on three clocks when the file was written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) castellan_journal: u32,
    /// Which boot of the machine it was; empty when that is not known.
    pub(super) boot: String,
    /// Milliseconds on the clock of marks and sessions.
    pub(super) clock_ms: u64,
    /// Milliseconds since the machine was booted.
    pub(super) boot_ms: u64,
    /// Milliseconds of the clock that people set.
    pub(super) wall_ms: u64,
}

/// Any other line. Times are of the clock of marks and sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Entry {
    /// A session's id is known, and which sessions it is one with.
    Session { id: SessionKey, root: SessionKey, seen_ms: u64, workspace: Option<Workspace> },
    /// An agent's process makes calls of these sessions. Means nothing after the machine was booted again.
    Process { pid: u32, started: u64, root: SessionKey },
    /// Two sessions turn out to be one.
    Merged { from: SessionKey, into: SessionKey },
    /// Sessions that were not called for long were forgotten.
    Forgotten { ids: Vec<SessionKey> },
    /// A call has set marks.
    Marked { root: SessionKey, labels: Vec<String>, at_ms: u64 },
    /// How often a mark was set so far, and when last.
    Mark { root: SessionKey, label: String, count: u64, at_ms: u64 },
    /// A call may run that writes something.
    Begun {
        root: SessionKey,
        call: u64,
        use_id: String,
        paths: Vec<String>,
        downloaded: Vec<String>,
        in_background: bool,
    },
    /// Calls are over.
    Ended { root: SessionKey, calls: Vec<u64> },
    /// What was written so far.
    Written { root: SessionKey, paths: Vec<String>, downloaded: Vec<String>, is_full: bool },
    /// What a session has done is not known: it counts as having done all that it could.
    Suspect { root: SessionKey },
    /// The state was lost. Agents that ran already, by the clock ticks since boot, are not known. Means nothing after the
    /// machine was booted again.
    Lost { ticks: u64 },
    /// A person has decided about a workspace; `None`: it is unknown again.
    Trust { workspace: String, decided: Option<WorkspaceDecision> },
    /// The next request ids up to this one are taken.
    Requests { next: u64 },
}

/// Hashes are written in hex.
macro_rules! in_hex {
    ($key:ident) => {
        impl Serialize for $key {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&Hex(&self.0))
            }
        }

        impl<'de> Deserialize<'de> for $key {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$key, D::Error> {
                let text = String::deserialize(deserializer)?;
                from_hex(&text).map($key).ok_or_else(|| serde::de::Error::custom("not 64 hex digits"))
            }
        }
    };
}

in_hex!(SessionKey);

struct Hex<'b>(&'b [u8; 32]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let pairs: &[[u8; 2]; 32] = pairs.try_into().ok().filter(|_| rest.is_empty())?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let digits = std::str::from_utf8(pair).ok().filter(|_| pair.iter().all(u8::is_ascii_hexdigit))?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_64_hex_digits() {
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(from_hex(&text).map(|bytes| Hex(&bytes).to_string()), Some(text.clone()));
        for wrong in [
            "",
            "00",
            text.trim_start_matches('0'),
            &format!("{text}0"),
            &text.replace('0', "+"),
            &text.replace('0', "é"),
        ] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_line_that_is_not_exactly_one_entry_is_none() {
        let key = "00".repeat(32);
        let check = |text: &str, is_entry: bool| {
            let text = text.replace("KEY", &key);
            assert_eq!(serde_json::from_str::<Entry>(&text).is_ok(), is_entry, "{text}");
        };
        check(r#"{"suspect":{"root":"KEY"}}"#, true);
        check(r#"{"suspect":{"root":"KEY","root":"KEY"}}"#, false);
        check(r#"{"suspect":{"root":"KEY","more":1}}"#, false);
        check(r#"{"suspect":{"root":"KEY"},"lost":{"ticks":1}}"#, false);
        check(r#"{"suspect":{"root":"KEY"},"suspect":{"root":"KEY"}}"#, false);
        check(r#"{"suspect":{"root":7}}"#, false);
        check(r#"{"suspect":{}}"#, false);
        check(r#"{"other":{}}"#, false);
        check(r#"{"lost":{"ticks":-1}}"#, false);
        check("", false);
        check("null", false);
    }
}
