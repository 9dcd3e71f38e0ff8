//! [`newer_format`]: the version of a log that a newer castellan wrote. Such a log must not be repaired: this castellan
//! would take its lines for damage.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::limits::TAIL_BYTES;
use crate::line::{VERSION, version_of};
use crate::record::Stream;
use crate::segment;

/// Returns the file and the newest format version in the first and last lines of a log, if this castellan is older.
/// `None` for a log that cannot be read: opening it returns the error.
pub fn newer_format(dir: &Path) -> Option<(PathBuf, u32)> {
    Stream::ALL.into_iter().find_map(|stream| {
        let path = segment::live_path(dir, stream);
        let file = segment::open(&path).ok()?;
        let newest = ends(&file).iter().flat_map(|block| lines(block)).filter_map(version_of).max()?;
        (newest > VERSION).then_some((path, newest))
    })
}

/// Returns the first and the last bytes of a file.
fn ends(file: &File) -> [Vec<u8>; 2] {
    let bytes = file.metadata().map_or(0, |meta| meta.len());
    let read = |start: u64| {
        let length = bytes.saturating_sub(start).min(TAIL_BYTES);
        let mut block = vec![0; usize::try_from(length).unwrap_or(0)];
        file.read_exact_at(&mut block, start).map(|()| block).unwrap_or_default()
    };
    [read(0), read(bytes.saturating_sub(TAIL_BYTES))]
}

/// Returns the lines of a block; the first and the last can be parts of lines.
fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.split(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::time::SystemTime;

    use super::*;
    use crate::log::{Config, Log};
    use crate::record::{CallRecord, Record};

    /// Appends a text to a stream of a log with `calls` records, and returns the version that is found.
    fn check(calls: usize, text: &str, expected: Option<u32>) {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(dir.path(), Config::default(), SystemTime::UNIX_EPOCH).unwrap();
        for _ in 0..calls {
            log.append(&Record::Call(CallRecord::default()), SystemTime::UNIX_EPOCH).unwrap();
        }
        let file = dir.path().join("routine.jsonl");
        OpenOptions::new().append(true).open(&file).unwrap().write_all(text.as_bytes()).unwrap();
        let found = newer_format(dir.path());
        assert_eq!(found, expected.map(|version| (file, version)), "{calls} {text:?}");
    }

    #[test]
    fn a_line_of_a_newer_castellan_is_found_at_the_end() {
        for calls in [0, 1, 1000] {
            check(calls, "", None);
            check(calls, "{\"v\":1,\"type\":\"gap\"}\n", None);
            check(calls, "garbage\n{\"v\":x}\n{\"v\":}\n{\"v\":99999999999}\n", None);
            check(calls, "{\"v\":3,\"type\":\"gap\"}\n", Some(3));
            check(calls, "{\"v\":3,\"type\":\"gap\"}\n{\"v\":2,\"type\":\"gap\"}\n", Some(3));
        }
    }

    #[test]
    fn a_new_segment_of_a_newer_castellan_is_found_at_its_start() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(newer_format(dir.path()), None);
        let file = dir.path().join("notable.jsonl");
        fs::write(&file, format!("{{\"v\":4,\"type\":\"anchor\"}}\n{}", "x".repeat(200_000))).unwrap();
        assert_eq!(newer_format(dir.path()), Some((file, 4)));
    }
}
