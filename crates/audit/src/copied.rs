//! [`Copied`]: the part of a line that goes outside of the home, to the system's log. A program that deletes or
//! rewrites the log cannot change what is there. It holds hashes and names, no input, no path, no prompt and no secret.
//!
//! This file knows the format of the copy and not where it goes.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::about::About;
use crate::line::{Hash, Link, format_time};
use crate::record::Stream;

/// Version of the format, the first key of every copy.
const VERSION: u32 = 1;

/// `type` of a copy about the first line of a segment.
const SEGMENT: &str = "segment";

/// `type` of a copy about the last lines of a log that was just opened.
const OPEN: &str = "open";

/// What a copy outside of the home says about the log at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    castellan: u32,
    /// The name of the log ([`log_name`]).
    log: String,
    /// The kind of the record, or `segment` or `open`.
    #[serde(rename = "type")]
    kind: String,
    /// Time of the record in UTC.
    time: String,
    #[serde(flatten)]
    about: About,
    pub(crate) routine: Link,
    pub(crate) notable: Link,
}

impl Copied {
    pub(crate) fn record(log: &str, kind: &str, now: SystemTime, about: &About, links: [Link; 2]) -> Copied {
        let [routine, notable] = links;
        let (log, kind, time) = (log.to_owned(), kind.to_owned(), format_time(now));
        Copied { castellan: VERSION, log, kind, time, about: about.clone(), routine, notable }
    }

    pub(crate) fn segment(log: &str, now: SystemTime, links: [Link; 2]) -> Copied {
        Copied::record(log, SEGMENT, now, &About::default(), links)
    }

    pub(crate) fn open(log: &str, now: SystemTime, links: [Link; 2]) -> Copied {
        Copied::record(log, OPEN, now, &About::default(), links)
    }

    /// Parses a copy. Returns `None` for other text, and for copies of a format that this castellan does not know.
    pub fn parse(text: &str) -> Option<Copied> {
        let copied: Copied = serde_json::from_str(text).ok()?;
        (copied.castellan == VERSION).then_some(copied)
    }

    /// Returns the copy as one line of JSON in ASCII, without control characters.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reports whether the copy is about the log of this name.
    pub fn is_of(&self, log: &str) -> bool {
        self.log == log
    }

    /// Returns the verdict; empty if the copy is not about a call.
    pub fn verdict(&self) -> &str {
        self.about.verdict()
    }

    /// Returns the time, if it is one.
    pub fn time(&self) -> Option<SystemTime> {
        humantime::parse_rfc3339(&self.time).ok()
    }

    /// Returns the number of the last record at that moment.
    pub fn last_seq(&self) -> u64 {
        self.routine.seq.max(self.notable.seq)
    }

    /// Returns the last line of a stream at that moment; `None` if it had none.
    pub(crate) fn link(&self, stream: Stream) -> Option<Link> {
        let link = match stream {
            Stream::Routine => self.routine,
            Stream::Notable => self.notable,
        };
        (link.hash != Hash::default()).then_some(link)
    }

    pub(crate) fn time_text(&self) -> &str {
        &self.time
    }
}

/// Returns the name of the log in `dir`: a hash of the path, because a path can name people and projects.
pub fn log_name(dir: &Path) -> String {
    let hash = Sha256::digest(dir.as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The receiver of copies. It is called while the log is locked, so it must not wait.
pub struct Copier(Box<dyn Fn(&Copied) + Send + Sync>);

impl Copier {
    /// Makes a receiver of a function.
    pub fn new(receive: impl Fn(&Copied) + Send + Sync + 'static) -> Copier {
        Copier(Box::new(receive))
    }

    /// Drops each copy.
    pub fn none() -> Copier {
        Copier::new(|_| {})
    }

    pub(crate) fn copy(&self, copied: &Copied) {
        (self.0)(copied);
    }
}

impl fmt::Debug for Copier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Copier")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FindingRecord;
    use crate::record::{CallRecord, Record};
    use serde_json::Value;

    #[test]
    fn a_copy_holds_names_and_no_input() {
        let finding = |verdict: &str, rule: &str, lifted: &str| FindingRecord {
            verdict: verdict.to_owned(),
            rule: rule.to_owned(),
            lifted: lifted.to_owned(),
            message: "the message".to_owned(),
            ..FindingRecord::default()
        };
        let record = Record::Call(CallRecord {
            verdict: "deny".into(),
            request: "K7".into(),
            session_id: "token=abcdefgh and é\n".into(),
            cwd: "/home/somebody".into(),
            input: serde_json::json!({ "command": "the command" }).into(),
            reason: "the reason".into(),
            findings: vec![
                finding("ask", "milder", ""),
                finding("deny", "lifted", "grant"),
                finding("deny", "the rule", ""),
                finding("deny", "the rule", ""),
            ],
            ..CallRecord::default()
        });
        let link = Link { seq: 4, hash: Hash::of(b"line") };
        let links = [Link::default(), link];
        let copied = Copied::record("name", "call", SystemTime::UNIX_EPOCH, &About::of(&record), links);
        let line = copied.to_line();
        assert_eq!(Copied::parse(&line), Some(copied.clone()));
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["verdict"], "deny");
        assert_eq!(read["request"], "K7");
        assert_eq!(read["rules"], serde_json::json!(["the rule"]));
        assert_eq!(read["session"], "token=[redacted token] and ??");
        assert_eq!(read["time"], "1970-01-01T00:00:00.000000Z");
        for absent in ["somebody", "command", "reason", "message", "milder", "lifted", "abcdefgh"] {
            assert!(!line.contains(absent), "{absent}: {line}");
        }
        assert_eq!(copied.link(Stream::Routine), None);
        assert_eq!(copied.link(Stream::Notable), Some(link));
    }

    #[test]
    fn a_copy_is_short_whatever_the_call_holds() {
        let long = |n: usize| format!("\"{n}").repeat(5000);
        let finding =
            |n: usize| FindingRecord { verdict: long(0), rule: long(n), ..FindingRecord::default() };
        let record = Record::Call(CallRecord {
            verdict: long(0).into(),
            session_id: long(1).into(),
            request: long(2).into(),
            findings: (0..50).map(finding).collect(),
            ..CallRecord::default()
        });
        let links = [Link { seq: u64::MAX, hash: Hash::of(b"line") }; 2];
        let copied = Copied::record("name", "call", SystemTime::UNIX_EPOCH, &About::of(&record), links);
        assert!(copied.to_line().len() <= 1400, "{}", copied.to_line().len());
    }

    #[test]
    fn other_text_is_no_copy() {
        for text in ["", "{}", "null", "Started session 3 of user me."] {
            assert_eq!(Copied::parse(text), None, "{text}");
        }
        let copied = Copied::open("name", SystemTime::UNIX_EPOCH, [Link::default(); 2]);
        let later = copied.to_line().replace("\"castellan\":1", "\"castellan\":2");
        assert_eq!(Copied::parse(&later), None);
    }
}
