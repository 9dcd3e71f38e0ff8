//! A line of a segment: version, number, time and chain around a [`Record`]. Also the anchor that begins a segment.
//!
//! A line's hash is the SHA-256 of its exact bytes without the newline. Only this file knows the keys around a record.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::about::About;
use crate::error::AuditError;
use crate::limits::BODY_BYTES;
use crate::record::{
    CallRecord, ControlRecord, Cut, FailureRecord, GapRecord, Record, RecoveryRecord, RetentionRecord,
    SessionRecord, Stream, UngovernedRecord,
};

/// Version of the format, the first key of every line.
pub(crate) const VERSION: u32 = 2;

/// The previous version. A segment may hold lines of both versions, so both are read.
const VERSION_BEFORE: u32 = 1;

/// `type` of the line that begins a segment.
pub(crate) const ANCHOR: &str = "anchor";

/// SHA-256 of a line; zeros mean that there is no previous line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Hash([u8; 32]);

/// Reference to a line from the next line: number of the last record so far, and hash of the line itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

/// The part of every line around its record: all that the chain needs.
#[derive(Debug, Deserialize)]
pub(crate) struct Frame {
    v: u32,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) seq: u64,
    #[serde(deserialize_with = "time")]
    pub(crate) time: SystemTime,
    pub(crate) prev: Hash,
    /// Only in anchors.
    pub(crate) stream: Option<Stream>,
    /// Only in anchors: number of the stream's last record before the segment.
    pub(crate) prev_seq: Option<u64>,
    pub(crate) retention: Option<RetentionRecord>,
    pub(crate) recovery: Option<RecoveryRecord>,
}

impl Frame {
    /// Parses a line without parsing calls and notices.
    pub(crate) fn parse(line: &[u8]) -> Result<Frame, String> {
        let frame: Frame = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        version(frame.v)?;
        Ok(frame)
    }

    /// Reports whether the line begins a segment.
    pub(crate) fn is_anchor(&self) -> bool {
        self.kind == ANCHOR
    }
}

/// A whole line, with the one record that its `type` names.
#[derive(Debug, Deserialize)]
struct Line {
    v: u32,
    #[serde(rename = "type")]
    kind: String,
    seq: u64,
    #[serde(deserialize_with = "time")]
    time: SystemTime,
    call: Option<CallRecord>,
    session: Option<SessionRecord>,
    control: Option<ControlRecord>,
    failure: Option<FailureRecord>,
    ungoverned: Option<UngovernedRecord>,
    gap: Option<GapRecord>,
    retention: Option<RetentionRecord>,
    recovery: Option<RecoveryRecord>,
}

/// Parses a whole line. Returns `None` for an anchor.
pub(crate) fn parse(line: &[u8]) -> Result<Option<(u64, SystemTime, Record)>, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    version(line.v)?;
    if line.kind == ANCHOR {
        return Ok(None);
    }
    let records = [
        line.call.map(Record::Call),
        line.session.map(Record::Session),
        line.control.map(Record::Control),
        line.failure.map(Record::Failure),
        line.ungoverned.map(Record::Ungoverned),
        line.gap.map(Record::Gap),
        line.retention.map(Record::Retention),
        line.recovery.map(Record::Recovery),
    ];
    let record = records.into_iter().flatten().find(|record| record.kind() == line.kind);
    let record = record.ok_or_else(|| format!("no record of type `{}`", line.kind))?;
    Ok(Some((line.seq, line.time, record)))
}

/// Reports whether a line written by this crate is of a type, without parsing it.
pub(crate) fn is_of_type(line: &[u8], kind: &str) -> bool {
    let begins = |version: u32| line.starts_with(format!(r#"{{"v":{version},"type":"{kind}","#).as_bytes());
    begins(VERSION) || begins(VERSION_BEFORE)
}

/// Returns the format version of a line of any version. It is the first key of each line.
pub(crate) fn version_of(line: &[u8]) -> Option<u32> {
    let rest = line.strip_prefix(br#"{"v":"#)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

fn version(v: u32) -> Result<(), String> {
    match v {
        VERSION | VERSION_BEFORE => Ok(()),
        _ => Err(format!("this castellan does not know format version {v}")),
    }
}

/// A record, redacted, cut and encoded: the part of a line that does not depend on its place in the chain. Except for
/// the hash, all cost that grows with the record is spent here.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) stream: Stream,
    pub(crate) kind: &'static str,
    /// The words that a copy of the record outside of the home has.
    pub(crate) about: About,
    /// An object with the record under its kind.
    pub(crate) json: Vec<u8>,
}

impl Body {
    pub(crate) fn of(record: &Record) -> Result<Body, AuditError> {
        let mut json = Vec::with_capacity(BODY_BYTES);
        serde_json::to_writer(&mut json, record).map_err(AuditError::Encode)?;
        Ok(Body { stream: record.stream(), kind: record.kind(), about: About::of(record), json })
    }
}

/// Writes a record as one line with its newline; replaces the contents of the buffer.
pub(crate) fn encode(buffer: &mut Vec<u8>, seq: u64, now: SystemTime, prev: Hash, body: &Body) {
    let (kind, time) = (body.kind, format_time(now));
    let frame = format!(r#"{{"v":{VERSION},"type":"{kind}","seq":{seq},"time":"{time}","prev":"{prev}","#);
    buffer.clear();
    buffer.extend_from_slice(frame.as_bytes());
    buffer.extend_from_slice(body.json.strip_prefix(b"{").unwrap_or_default());
    buffer.push(b'\n');
}

/// Writes the line that begins a segment with its newline; replaces the contents of the buffer.
pub(crate) fn encode_anchor(
    buffer: &mut Vec<u8>,
    stream: Stream,
    seq: u64,
    now: SystemTime,
    before: Link,
) -> Result<(), AuditError> {
    let time = format_time(now);
    let (kind, prev, prev_seq) = (ANCHOR, before.hash, before.seq);
    let line = AnchorLine { v: VERSION, kind, stream, seq, time, prev, prev_seq };
    buffer.clear();
    serde_json::to_writer(&mut *buffer, &line).map_err(AuditError::Encode)?;
    buffer.push(b'\n');
    Ok(())
}

/// Formats a time in UTC with microseconds. A time outside of the years 1970 to 9999 becomes the nearest time within.
pub(crate) fn format_time(now: SystemTime) -> String {
    const LAST_SECOND: Duration = Duration::from_secs(253_402_300_799);
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST_SECOND);
    humantime::format_rfc3339_micros(UNIX_EPOCH + since).to_string()
}

#[derive(Serialize)]
struct AnchorLine {
    v: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    stream: Stream,
    seq: u64,
    time: String,
    prev: Hash,
    prev_seq: u64,
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_rfc3339(&text).map_err(|_| D::Error::custom(format!("`{text}` is not a time")))
}

impl Hash {
    /// Hashes a line, given without its newline.
    pub(crate) fn of(line: &[u8]) -> Hash {
        Hash(Sha256::digest(line).into())
    }

    fn parse(hex: &str) -> Option<Hash> {
        let mut hash = [0; 32];
        let read = base16ct::mixed::decode(hex, &mut hash).ok()?.len();
        (read == hash.len()).then_some(Hash(hash))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(base16ct::lower::encode_str(&self.0, &mut [0; 64])?)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let hex = String::deserialize(deserializer)?;
        Hash::parse(&hex).ok_or_else(|| D::Error::custom(format!("`{hex}` is not a SHA-256")))
    }
}

impl Link {
    /// Returns the link in the form of the public records.
    pub(crate) fn to_cut(self) -> Cut {
        Cut { seq: self.seq, hash: self.hash.to_string().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(now: SystemTime, expected: &str) {
        assert_eq!(format_time(now), expected);
    }

    #[test]
    fn times_outside_of_the_format_are_moved_into_it() {
        check(UNIX_EPOCH + Duration::from_micros(1_500_000), "1970-01-01T00:00:01.500000Z");
        check(UNIX_EPOCH - Duration::from_secs(1), "1970-01-01T00:00:00.000000Z");
        check(UNIX_EPOCH + Duration::from_secs(400_000_000_000), "9999-12-31T23:59:59.000000Z");
    }

    #[test]
    fn hash_is_sha256_and_round_trips_through_hex() {
        // FIPS 180-2, appendix B.1.
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::of(b"abc").to_string(), hex);
        assert_eq!(Hash::parse(hex), Some(Hash::of(b"abc")));
        for bad in ["", "ba78", &hex.replace('b', "g"), &hex.replace("ba", "+a")] {
            assert_eq!(Hash::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn keys_stand_in_the_order_of_the_format() {
        let mut buffer = Vec::new();
        let record = Record::Gap(GapRecord { count: 2, ..GapRecord::default() });
        encode(&mut buffer, 7, UNIX_EPOCH, Hash::default(), &Body::of(&record).unwrap());
        let zeros = "0".repeat(64);
        let gap = r#"{"agent":"","event":"","count":2,"since":"","message":""}"#;
        let time = "1970-01-01T00:00:00.000000Z";
        let expected =
            format!(r#"{{"v":2,"type":"gap","seq":7,"time":"{time}","prev":"{zeros}","gap":{gap}}}"#) + "\n";
        assert_eq!(String::from_utf8(buffer).unwrap(), expected);
    }

    #[test]
    fn lines_of_other_versions_and_types_are_not_understood() {
        let line = |v: u32, kind: &str, key: &str| {
            let time = "1970-01-01T00:00:00Z";
            format!(r#"{{"v":{v},"type":"{kind}","seq":1,"time":"{time}","new":[],"{key}":{{"count":3}}}}"#)
        };
        let read = |line: String| parse(line.as_bytes());
        let expected = Record::Gap(GapRecord { count: 3, ..GapRecord::default() });
        for version in [1, 2] {
            let read = read(line(version, "gap", "gap"));
            assert_eq!(read, Ok(Some((1, UNIX_EPOCH, expected.clone()))), "{version}");
        }
        assert_eq!(read(line(3, "gap", "gap")), Err("this castellan does not know format version 3".into()));
        assert_eq!(read(line(1, "gap", "call")), Err("no record of type `gap`".into()));
        assert_eq!(read(line(1, "song", "song")), Err("no record of type `song`".into()));
    }
}
