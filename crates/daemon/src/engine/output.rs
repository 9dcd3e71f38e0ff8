//! Falco's output: a log file of limited size, and its last line for reasons. It must not know the meaning of a line.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use castellan_files::{Links, open_with};

use crate::limits::{ENGINE_LINE_BYTES_MAX, ENGINE_LOG_BYTES_MAX};

/// The last line that Falco printed.
#[derive(Debug, Clone, Default)]
pub(super) struct LastLine(Arc<Mutex<String>>);

impl LastLine {
    /// Returns the line, or nothing.
    pub(super) fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, line: &[u8]) {
        let line = line.get(..ENGINE_LINE_BYTES_MAX).unwrap_or(line);
        let line = String::from_utf8_lossy(line).replace(char::is_control, " ");
        if !line.trim().is_empty() {
            line.trim().clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// A log file. A full one becomes the one before, which replaces the older one.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    written: u64,
}

impl LogFile {
    /// Makes a missing file, and appends to one of before.
    pub(super) fn begin(path: PathBuf) -> LogFile {
        let written = std::fs::symlink_metadata(&path).map_or(0, |found| found.len());
        let mut log = LogFile { path, written };
        // A log that cannot be written loses lines.
        let _ = log.append(b"");
        log
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let count = bytes.len() as u64;
        if self.written + count > ENGINE_LOG_BYTES_MAX {
            std::fs::rename(&self.path, before(&self.path))?;
            self.written = 0;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        open_with(&mut options, &self.path, Links::Refused)?.write_all(bytes)?;
        self.written += count;
        Ok(())
    }
}

/// Returns the path of the log file before.
pub(super) fn before(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// Copies the output until its end. A log that cannot be written loses lines, and Falco does not wait.
pub(super) fn copy(output: PipeReader, mut log: LogFile, last: &LastLine) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end comes in parts.
        let part = output.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
        if !part.is_ok_and(|count| count > 0) {
            return;
        }
        last.set(&line);
        let _ = log.append(&line);
    }
}

/// Bytes of a line that are read at once.
const LINE_BYTES: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_a_limit_and_the_newest_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("falco.log");
        let (reader, mut writer) = io::pipe().unwrap();
        let last = LastLine::default();
        let copied = last.clone();
        let log = LogFile::begin(path.clone());
        let copying = std::thread::spawn(move || copy(reader, log, &copied));
        let line = "x".repeat(999);
        for number in 0..5000 {
            writeln!(writer, "{number:04}{line}").unwrap();
        }
        writer.write_all(b"\n\x1b[1mthe end").unwrap();
        drop(writer);
        copying.join().unwrap();
        assert_eq!(last.get(), "[1mthe end");
        let sizes = [path.clone(), before(&path)].map(|file| std::fs::metadata(file).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= ENGINE_LOG_BYTES_MAX), "{sizes:?}");
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("the end"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
